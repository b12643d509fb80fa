#include "counters.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

namespace {

// A product needs only its MACs: each is a multiplication and an addition.
Cost product(std::int64_t macs, std::int64_t elements, std::int64_t bytes_per_element) {
  Cost cost;
  cost.macs = macs;
  cost.flops = 2 * macs;
  cost.bytes = elements * bytes_per_element;
  return cost;
}

std::int64_t positions(std::int64_t size, std::int64_t kernel, const Conv2d& conv) {
  const std::int64_t reach = conv.dilation * (kernel - 1) + 1;
  const std::int64_t padded = size + 2 * conv.padding;
  return (padded - reach) / conv.stride + 1;
}

}  // namespace

Cost gemm_cost(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t bytes_per_element) {
  const std::int64_t inputs = m * k + k * n;
  return product(m * n * k, inputs + m * n, bytes_per_element);
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
  const std::int64_t high = positions(conv.height, conv.kernel_height, conv);
  const std::int64_t wide = positions(conv.width, conv.kernel_width, conv);
  const std::int64_t seen_channels = conv.in_channels / conv.groups;
  const std::int64_t taps = seen_channels * conv.kernel_height * conv.kernel_width;
  const std::int64_t results = conv.batch * conv.out_channels * high * wide;
  const std::int64_t image = conv.batch * conv.in_channels * conv.height * conv.width;
  const std::int64_t weights = conv.out_channels * taps;
  return product(results * taps, image + weights + results, conv.bytes_per_element);
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
  const double arithmetic = static_cast<double>(cost.flops) / gpu.flops_per_second;
  const double traffic = static_cast<double>(cost.bytes) / gpu.bytes_per_second;
  return arithmetic >= traffic ? Bound::compute : Bound::memory;
}
