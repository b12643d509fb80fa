#include "counters.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

namespace {

using Count = std::int64_t;

// A matrix product of any kind: its multiply-accumulates, and the elements that cross DRAM.
Cost product(Count macs, Count elements, Count width) {
  Cost cost;
  cost.macs = macs;
  cost.flops = macs + macs;
  cost.bytes = elements * width;
  return cost;
}

// How many places a kernel has along one side of the input.
Count places(Count side, Count kernel, const Conv2d& conv) {
  const Count reach = (kernel - 1) * conv.dilation + 1;
  const Count room = side + 2 * conv.padding - reach;
  return room / conv.stride + 1;
}

}  // namespace

Cost gemm_cost(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t bytes_per_element) {
  const Count inputs = m * k + k * n;
  const Count output = m * n;
  return product(m * n * k, inputs + output, bytes_per_element);
}

Cost gemv_cost(std::int64_t m, std::int64_t k, std::int64_t bytes_per_element) {
  return product(m * k, m * k + k + m, bytes_per_element);
}

Cost linear_cost(std::int64_t tokens, std::int64_t in_features, std::int64_t out_features,
                 bool bias, std::int64_t bytes_per_element) {
  Cost cost = gemm_cost(tokens, out_features, in_features, bytes_per_element);
  if (bias) {
    cost.flops += tokens * out_features;
    cost.bytes += out_features * bytes_per_element;
  }
  return cost;
}

Cost conv2d_cost(const Conv2d& conv) {
  const Count high = places(conv.height, conv.kernel_height, conv);
  const Count wide = places(conv.width, conv.kernel_width, conv);
  const Count seen = conv.in_channels / conv.groups;
  const Count window = conv.kernel_height * conv.kernel_width * seen;
  const Count outputs = conv.batch * conv.out_channels * high * wide;
  const Count inputs = conv.batch * conv.in_channels * conv.height * conv.width;
  const Count weights = conv.out_channels * window;
  return product(outputs * window, inputs + weights + outputs, conv.bytes_per_element);
}

Cost pointwise_cost(std::int64_t elements, std::int64_t inputs, std::int64_t flops_per_element,
                    std::int64_t bytes_per_element) {
  const Count arrays = inputs + 1;
  Cost cost;
  cost.flops = elements * flops_per_element;
  cost.bytes = arrays * elements * bytes_per_element;
  return cost;
}

double arithmetic_intensity(const Cost& cost) {
  const double operations = static_cast<double>(cost.flops);
  return operations / static_cast<double>(cost.bytes);
}

Bound bound_on(const Cost& cost, const Gpu& gpu) {
  const double to_compute = static_cast<double>(cost.flops) / gpu.flops_per_second;
  const double to_move = static_cast<double>(cost.bytes) / gpu.bytes_per_second;
  return to_compute < to_move ? Bound::memory : Bound::compute;
}
