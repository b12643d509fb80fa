#include "counters.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

/* Cost of an operation whose FLOPs all come from multiply-accumulates. */
static Cost cost_of_macs(std::int64_t macs, std::int64_t elements, std::int64_t bytes_per_element) {
  Cost cost;
  cost.macs = macs;
  cost.flops = 2 * macs;
  cost.bytes = elements * bytes_per_element;
  return cost;
}

Cost gemm_cost(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t bytes_per_element) {
  std::int64_t a_elements = m * k;
  std::int64_t b_elements = k * n;
  std::int64_t c_elements = m * n;
  return cost_of_macs(c_elements * k, a_elements + b_elements + c_elements, bytes_per_element);
}

Cost gemv_cost(std::int64_t m, std::int64_t k, std::int64_t bytes_per_element) {
  std::int64_t matrix = m * k;
  std::int64_t vectors = k + m;
  return cost_of_macs(matrix, matrix + vectors, bytes_per_element);
}

Cost linear_cost(std::int64_t tokens, std::int64_t in_features, std::int64_t out_features,
                 bool bias, std::int64_t bytes_per_element) {
  Cost cost = gemm_cost(tokens, out_features, in_features, bytes_per_element);
  if (!bias) return cost;
  cost.flops += tokens * out_features;
  cost.bytes += out_features * bytes_per_element;
  return cost;
}

/* Positions of the kernel along one side of the input. */
static std::int64_t positions(std::int64_t side, std::int64_t kernel, const Conv2d& conv) {
  std::int64_t reach = conv.dilation * (kernel - 1) + 1;
  std::int64_t padded = side + 2 * conv.padding;
  return (padded - reach) / conv.stride + 1;
}

Cost conv2d_cost(const Conv2d& conv) {
  std::int64_t out_h = positions(conv.height, conv.kernel_height, conv);
  std::int64_t out_w = positions(conv.width, conv.kernel_width, conv);
  std::int64_t group_channels = conv.in_channels / conv.groups;
  std::int64_t window = conv.kernel_height * conv.kernel_width * group_channels;

  std::int64_t input = conv.batch * conv.in_channels * conv.height * conv.width;
  std::int64_t output = conv.batch * conv.out_channels * out_h * out_w;
  std::int64_t weights = conv.out_channels * window;
  return cost_of_macs(output * window, input + output + weights, conv.bytes_per_element);
}

Cost pointwise_cost(std::int64_t elements, std::int64_t inputs, std::int64_t flops_per_element,
                    std::int64_t bytes_per_element) {
  std::int64_t arrays = inputs + 1;
  Cost cost;
  cost.macs = 0;
  cost.flops = elements * flops_per_element;
  cost.bytes = elements * arrays * bytes_per_element;
  return cost;
}

double arithmetic_intensity(const Cost& cost) {
  double flops = (double)cost.flops;
  double bytes = (double)cost.bytes;
  return flops / bytes;
}

Bound bound_on(const Cost& cost, const Gpu& gpu) {
  double arithmetic_time = cost.flops / gpu.flops_per_second;
  double memory_time = cost.bytes / gpu.bytes_per_second;
  if (memory_time > arithmetic_time) return Bound::memory;
  return Bound::compute;
}
