#include "labs/part2-roofline/oracle/inputs.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "labs/oracle_support/large_vector.h"

namespace rooflab {
namespace {

constexpr int kPlaceBits = 16;  // of a place among those that are drawn
constexpr std::int64_t kDrawn = std::int64_t{1} << kPlaceBits;
constexpr int kLowBits = 12;  // of a mantissa: less than a thousandth of a number

/// The number with other last bits; zeros stay what they are.
float with_low_bits(float value, std::uint32_t bits) {
  if (value == 0) return value;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^
                              (bits & ((1U << kLowBits) - 1)));
}

}  // namespace

double uniform(Random& random, double low, double high) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  return static_cast<float>(low + (high - low) * unit);
}

Tensor drawn_input(const std::string& name, std::int64_t n, Random& random,
                   const std::function<double()>& draw) {
  if (n <= kDrawn) return drawn(name, ElementType::float32, Role::input, {n}, draw);
  const Tensor drawn_ones = drawn(name, ElementType::float32, Role::input, {kDrawn}, draw);
  const std::span<const float> values = floats(drawn_ones);
  Tensor tensor{name, ElementType::float32, Role::input, {n}, {}};
  tensor.data = large_vector<std::byte>(tensor.bytes());
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    bits = i % 2 == 0 ? random() : bits >> 32;
    const float value =
        with_low_bits(values[bits % kDrawn], static_cast<std::uint32_t>(bits >> kPlaceBits));
    std::memcpy(&tensor.data[i * sizeof(float)], &value, sizeof(value));
  }
  return tensor;
}

Tensor repeated_input(const std::string& name, std::int64_t n, std::span<const float> values) {
  Tensor tensor{name, ElementType::float32, Role::input, {n}, {}};
  const std::span<const std::byte> block = std::as_bytes(values);
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  tensor.data.resize(bytes);
  for (std::size_t at = 0; at < bytes; at += block.size()) {
    std::memcpy(&tensor.data[at], block.data(), std::min(block.size(), bytes - at));
  }
  return tensor;
}

Tensor vector_output(const std::string& name, std::int64_t n) {
  return output(name, ElementType::float32, {n});
}

}  // namespace rooflab
