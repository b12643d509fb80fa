#pragma once

#include <bit>
#include <cstdint>

#include "simgpu/arith/half.h"

/// The 8-bit floats of PTX's cvt: e4m3 (no infinity, largest 448) and e5m2 (the upper half of an
/// f16).
namespace simgpu::arith {

struct E4m3 {
  static constexpr int kFractionBits = 3;
  static constexpr int kBias = 7;
  static constexpr std::uint8_t kLargest = 0x7e;  ///< 448
};
struct E5m2 {
  static constexpr int kFractionBits = 2;
  static constexpr int kBias = 15;
  static constexpr std::uint8_t kLargest = 0x7b;  ///< 57344
};
inline constexpr std::uint8_t kNan8 = 0x7f;

/// cvt.rn.satfinite[.relu] from f32: to nearest even; what is too large becomes the largest.
template <class Format, bool kRelu>
inline std::uint8_t f32_to_fp8(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return kNan8;
  const auto sign = static_cast<std::uint8_t>(bits >> 31 << 7);
  if (kRelu && sign != 0) return 0;
  // The exponent of the result's last place; subnormal results share that of the smallest normal.
  int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent < 1 - Format::kBias) exponent = 1 - Format::kBias;
  // In units of the last place a value has 24 bits and a shift of at least 20: what falls off is
  // rounded. Anything below a quarter of the smallest is zero.
  const std::uint32_t whole =
      magnitude >= 0x00800000U ? (magnitude & 0x7fffffU) | 0x800000U : magnitude;
  const int own = magnitude >= 0x00800000U ? static_cast<int>(magnitude >> 23) - 127 : -126;
  const int shift = 23 - Format::kFractionBits + (exponent - own);
  std::uint32_t places = 0;
  if (shift < 26) {
    places = whole >> shift;
    const std::uint32_t rest = whole & ((1U << shift) - 1);
    const std::uint32_t half = 1U << (shift - 1);
    if (rest > half || (rest == half && (places & 1U) != 0)) ++places;
  }
  // A carry out of the fraction goes on into the exponent, as it should.
  const auto code =
      (static_cast<std::uint32_t>(exponent + Format::kBias - 1) << Format::kFractionBits) + places;
  return static_cast<std::uint8_t>(sign | (code > Format::kLargest ? Format::kLargest : code));
}

/// cvt.rn[.relu] to f16, which holds every such value.
template <class Format, bool kRelu>
inline std::uint16_t fp8_to_f16(std::uint8_t x) {
  constexpr bool kIsE5m2 = Format::kFractionBits == E5m2::kFractionBits;
  const std::uint32_t magnitude = x & 0x7fU;
  const bool is_nan = kIsE5m2 ? magnitude > 0x7cU : magnitude == kNan8;
  if (is_nan) return 0x7fff;
  if (kRelu && (x & 0x80U) != 0) return 0;
  if constexpr (kIsE5m2) return static_cast<std::uint16_t>(x << 8);
  constexpr int kSmallest = 1 - Format::kBias - Format::kFractionBits;
  const std::uint32_t field = magnitude >> Format::kFractionBits;
  const std::uint32_t fraction = magnitude & ((1U << Format::kFractionBits) - 1);
  const std::uint32_t places = field == 0 ? fraction : fraction | 1U << Format::kFractionBits;
  const int exponent = kSmallest + (field == 0 ? 0 : static_cast<int>(field) - 1);
  const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
  const std::uint16_t value = f32_to_f16(static_cast<float>(places) * scale);
  return static_cast<std::uint16_t>(value | (x & 0x80U) << 8);
}

}  // namespace simgpu::arith
