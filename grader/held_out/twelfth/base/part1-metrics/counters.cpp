#include "counters.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

Cost gemm_cost(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t bytes_per_element) {
  Cost cost;
  cost.macs = m * n * k;
  cost.flops = cost.macs * 2;
  cost.bytes = bytes_per_element * (m * k + k * n + m * n);
  return cost;
}

Cost gemv_cost(std::int64_t m, std::int64_t k, std::int64_t bytes_per_element) {
  return gemm_cost(m, 1, k, bytes_per_element);
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
  const auto places = [&](std::int64_t size, std::int64_t kernel) {
    const std::int64_t reach = (kernel - 1) * conv.dilation + 1;
    return (size + 2 * conv.padding - reach) / conv.stride + 1;
  };
  const std::int64_t positions = places(conv.height, conv.kernel_height) *
                                 places(conv.width, conv.kernel_width);
  const std::int64_t of_output = conv.in_channels / conv.groups * conv.kernel_height *
                                 conv.kernel_width;
  const std::int64_t outputs = conv.batch * conv.out_channels * positions;
  const std::int64_t inputs = conv.batch * conv.in_channels * conv.height * conv.width;
  const std::int64_t weights = conv.out_channels * of_output;
  Cost cost;
  cost.macs = outputs * of_output;
  cost.flops = 2 * cost.macs;
  cost.bytes = (outputs + inputs + weights) * conv.bytes_per_element;
  return cost;
}

Cost pointwise_cost(std::int64_t elements, std::int64_t inputs, std::int64_t flops_per_element,
                    std::int64_t bytes_per_element) {
  Cost cost;
  cost.flops = elements * flops_per_element;
  cost.bytes = elements * (inputs + 1) * bytes_per_element;
  return cost;
}

double arithmetic_intensity(const Cost& cost) {
  return static_cast<double>(cost.flops) / static_cast<double>(cost.bytes);
}

Bound bound_on(const Cost& cost, const Gpu& gpu) {
  const double arithmetic = cost.flops / gpu.flops_per_second;
  const double traffic = cost.bytes / gpu.bytes_per_second;
  return traffic > arithmetic ? Bound::memory : Bound::compute;
}
