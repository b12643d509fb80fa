#include "grader/contract/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace rooflab {
namespace {

template <typename T>
T load(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

float float_from_half_bits(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0x1F) {  // infinity and NaN keep their payload
    return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13));
  }
  if (exponent == 0) {  // zero and subnormals: fraction * 2^-24 is exact in binary32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

float float_from_bfloat16_bits(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

bool is_within_tolerance(double got, double expected, double tolerance) {
  if (std::isnan(got) && std::isnan(expected)) {
    return tolerance == 0 &&
           std::bit_cast<std::uint64_t>(got) == std::bit_cast<std::uint64_t>(expected);
  }
  // An infinity has no neighbours, however wide the tolerance.
  if (got != expected) return !std::isinf(expected) && std::abs(got - expected) <= tolerance;
  const bool is_other_zero = got == 0 && std::signbit(got) != std::signbit(expected);
  return tolerance > 0 || !is_other_zero;
}

double element_at(ElementType type, std::span<const std::byte> bytes, std::size_t index) {
  switch (type) {
    case ElementType::float32:
      return load<float>(bytes, index);
    case ElementType::float64:
      return load<double>(bytes, index);
    case ElementType::float16:
      return float_from_half_bits(load<std::uint16_t>(bytes, index));
    case ElementType::bfloat16:
      return float_from_bfloat16_bits(load<std::uint16_t>(bytes, index));
    case ElementType::int32:
      return load<std::int32_t>(bytes, index);
  }
  return 0;
}

bool is_poisoned(ElementType type, std::span<const std::byte> bytes, std::size_t index) {
  const std::size_t size = size_of(type);
  const auto element = bytes.subspan(index * size, size);
  return std::ranges::all_of(element, [](std::byte byte) { return byte == kPoisonByte; });
}

}  // namespace rooflab
