#include "counters.h"

#include <functional>
#include <initializer_list>
#include <numeric>

namespace {

/// The number of elements of a tensor.
std::int64_t elements(std::initializer_list<std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Gathers what an operation does, tensor by tensor.
class Tally {
 public:
  explicit Tally(std::int64_t bytes_per_element) : width_(bytes_per_element) {}

  Tally& touches(std::initializer_list<std::int64_t> shape) {
    cost_.bytes += width_ * elements(shape);
    return *this;
  }
  Tally& multiplies_and_adds(std::initializer_list<std::int64_t> loops) {
    const std::int64_t steps = elements(loops);
    cost_.macs += steps;
    cost_.flops += steps + steps;
    return *this;
  }
  Tally& computes(std::int64_t flops) {
    cost_.flops += flops;
    return *this;
  }
  operator rooflab::Cost() const { return cost_; }

 private:
  std::int64_t width_;
  rooflab::Cost cost_;
};

/// Places where a kernel can stand along one axis, found by walking.
std::int64_t places(std::int64_t size, std::int64_t taps, const Conv2d& conv) {
  const std::int64_t last = size + 2 * conv.padding - (conv.dilation * (taps - 1) + 1);
  std::int64_t count = 0;
  for (std::int64_t at = 0; at <= last; at += conv.stride) ++count;
  return count;
}

}  // namespace

rooflab::Cost gemm_cost(std::int64_t m, std::int64_t n, std::int64_t k,
                        std::int64_t bytes_per_element) {
  return Tally(bytes_per_element)
      .touches({m, k})
      .touches({k, n})
      .touches({m, n})
      .multiplies_and_adds({m, n, k});
}

rooflab::Cost gemv_cost(std::int64_t m, std::int64_t k, std::int64_t bytes_per_element) {
  return Tally(bytes_per_element)
      .touches({m, k})
      .touches({k})
      .touches({m})
      .multiplies_and_adds({m, k});
}

rooflab::Cost linear_cost(std::int64_t tokens, std::int64_t in_features, std::int64_t out_features,
                          bool bias, std::int64_t bytes_per_element) {
  Tally tally(bytes_per_element);
  tally.touches({tokens, in_features}).touches({out_features, in_features});
  tally.touches({tokens, out_features}).multiplies_and_adds({tokens, out_features, in_features});
  if (bias) tally.touches({out_features}).computes(tokens * out_features);
  return tally;
}

rooflab::Cost conv2d_cost(const Conv2d& conv) {
  const std::int64_t high = places(conv.height, conv.kernel_height, conv);
  const std::int64_t wide = places(conv.width, conv.kernel_width, conv);
  const std::int64_t channels_seen = conv.in_channels / conv.groups;
  return Tally(conv.bytes_per_element)
      .touches({conv.batch, conv.in_channels, conv.height, conv.width})
      .touches({conv.out_channels, channels_seen, conv.kernel_height, conv.kernel_width})
      .touches({conv.batch, conv.out_channels, high, wide})
      .multiplies_and_adds({conv.batch, conv.out_channels, high, wide, channels_seen,
                            conv.kernel_height, conv.kernel_width});
}

rooflab::Cost pointwise_cost(std::int64_t elements, std::int64_t inputs,
                             std::int64_t flops_per_element, std::int64_t bytes_per_element) {
  Tally tally(bytes_per_element);
  for (std::int64_t array = 0; array <= inputs; ++array) tally.touches({elements});
  return tally.computes(elements * flops_per_element);
}

double arithmetic_intensity(const rooflab::Cost& cost) {
  return static_cast<double>(cost.flops) / static_cast<double>(cost.bytes);
}

rooflab::Bound bound_on(const rooflab::Cost& cost, const rooflab::Gpu& gpu) {
  const double seconds_of_arithmetic = static_cast<double>(cost.flops) / gpu.flops_per_second;
  const double seconds_of_traffic = static_cast<double>(cost.bytes) / gpu.bytes_per_second;
  return seconds_of_arithmetic < seconds_of_traffic ? rooflab::Bound::memory
                                                    : rooflab::Bound::compute;
}
