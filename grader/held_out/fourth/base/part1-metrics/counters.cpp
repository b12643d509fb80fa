#include "counters.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

namespace {

// Where a kernel may stand along one axis.
std::int64_t positions(std::int64_t in, std::int64_t taps, const Conv2d& c) {
  const std::int64_t reach = (taps - 1) * c.dilation + 1;
  const std::int64_t free = in + c.padding + c.padding - reach;
  return 1 + free / c.stride;
}

}  // namespace

Cost gemm_cost(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t bytes_per_element) {
  Cost cost;
  cost.macs = k * (m * n);
  cost.flops = cost.macs + cost.macs;
  cost.bytes = m * k * bytes_per_element;   // A
  cost.bytes += k * n * bytes_per_element;  // B
  cost.bytes += m * n * bytes_per_element;  // C
  return cost;
}

Cost gemv_cost(std::int64_t m, std::int64_t k, std::int64_t bytes_per_element) {
  return {m * k, 2 * m * k, (m * k + m + k) * bytes_per_element};
}

Cost linear_cost(std::int64_t tokens, std::int64_t in_features, std::int64_t out_features,
                 bool bias, std::int64_t bytes_per_element) {
  const std::int64_t results = tokens * out_features;
  Cost cost = gemm_cost(out_features, tokens, in_features, bytes_per_element);
  if (bias) {
    cost.flops += results;
    cost.bytes += out_features * bytes_per_element;
  }
  return cost;
}

Cost conv2d_cost(const Conv2d& c) {
  const std::int64_t places =
      positions(c.height, c.kernel_height, c) * positions(c.width, c.kernel_width, c);
  const std::int64_t taps = c.kernel_height * c.kernel_width;
  const std::int64_t seen = c.in_channels / c.groups;  // input channels of one output channel
  const std::int64_t inputs = c.batch * c.in_channels * c.height * c.width;
  const std::int64_t weights = c.out_channels * seen * taps;
  const std::int64_t outputs = c.batch * c.out_channels * places;

  Cost cost;
  cost.macs = outputs * seen * taps;
  cost.flops = 2 * cost.macs;
  cost.bytes = c.bytes_per_element * (inputs + weights + outputs);
  return cost;
}

Cost pointwise_cost(std::int64_t elements, std::int64_t inputs, std::int64_t flops_per_element,
                    std::int64_t bytes_per_element) {
  const std::int64_t arrays = inputs + 1;
  return {.flops = flops_per_element * elements, .bytes = arrays * elements * bytes_per_element};
}

double arithmetic_intensity(const Cost& cost) {
  const double moved = cost.bytes;
  return cost.flops / moved;
}

Bound bound_on(const Cost& cost, const Gpu& gpu) {
  const double computing = cost.flops / gpu.flops_per_second;
  const double moving = cost.bytes / gpu.bytes_per_second;
  if (moving > computing) return Bound::memory;
  return Bound::compute;
}
