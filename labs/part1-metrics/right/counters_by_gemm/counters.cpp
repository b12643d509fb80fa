#include "counters.h"

using rooflab::Cost;

// In elements: what an m x n x k product does, whatever it is the product of.
static Cost product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t macs = m * n * k;
  return Cost{macs, 2 * macs, m * k + k * n + m * n};
}

static Cost in_bytes(Cost cost, std::int64_t bytes_per_element) {
  cost.bytes *= bytes_per_element;
  return cost;
}

Cost gemm_cost(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t bytes_per_element) {
  return in_bytes(product(m, n, k), bytes_per_element);
}

Cost gemv_cost(std::int64_t m, std::int64_t k, std::int64_t bytes_per_element) {
  return gemm_cost(m, 1, k, bytes_per_element);
}

Cost linear_cost(std::int64_t tokens, std::int64_t in_features, std::int64_t out_features,
                 bool bias, std::int64_t bytes_per_element) {
  Cost cost = product(tokens, out_features, in_features);
  if (bias) {
    cost.flops += tokens * out_features;
    cost.bytes += out_features;
  }
  return in_bytes(cost, bytes_per_element);
}

Cost conv2d_cost(const Conv2d& c) {
  auto along = [&](std::int64_t size, std::int64_t taps) {
    const std::int64_t reach = c.dilation * (taps - 1);
    return (size + 2 * c.padding - reach + c.stride - 1) / c.stride;
  };
  const std::int64_t positions =
      c.batch * along(c.height, c.kernel_height) * along(c.width, c.kernel_width);
  const std::int64_t taps = c.in_channels / c.groups * c.kernel_height * c.kernel_width;
  // Each group is a product of its own; only the traffic is not that of im2col.
  Cost cost;
  for (std::int64_t group = 0; group < c.groups; ++group) {
    cost = cost + product(positions, c.out_channels / c.groups, taps);
  }
  cost.bytes = c.batch * c.in_channels * c.height * c.width + c.out_channels * taps +
               positions * c.out_channels;
  return in_bytes(cost, c.bytes_per_element);
}

Cost pointwise_cost(std::int64_t elements, std::int64_t inputs, std::int64_t flops_per_element,
                    std::int64_t bytes_per_element) {
  return {.macs = 0,
          .flops = elements * flops_per_element,
          .bytes = (inputs + 1) * elements * bytes_per_element};
}

double arithmetic_intensity(const Cost& cost) { return 1.0 * cost.flops / cost.bytes; }

rooflab::Bound bound_on(const Cost& cost, const rooflab::Gpu& gpu) {
  const double ridge = gpu.flops_per_second / gpu.bytes_per_second;
  if (arithmetic_intensity(cost) >= ridge) return rooflab::Bound::compute;
  return rooflab::Bound::memory;
}
