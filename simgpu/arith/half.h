#pragma once

#include <cmath>

#include "simgpu/arith/rounding.h"

/// .f16, .bf16 and .tf32: values as bit patterns, conversions from and to f32, and arithmetic, each
/// operation rounded once. Packed .f16x2 and .bf16x2 forms apply a lane operation to both halves.
namespace simgpu::arith {

inline float f16_to_f32(std::uint16_t h) {
  const std::uint32_t magnitude = (h & 0x7fffu) << 13;
  // The exponent field moves up by 112: exactly a multiplication, which also normalises subnormals.
  std::uint32_t bits = bits_of(float_of(magnitude) * 0x1p112f);
  bits = (h & 0x7c00u) == 0x7c00u ? magnitude | 0x7f800000u : bits;
  bits |= (h & 0x8000u) << 16;
  return float_of((h & 0x7fffu) > 0x7c00u ? kNanF32Bits : bits);
}

inline float bf16_to_f32(std::uint16_t h) {
  return float_of((h & 0x7fffu) > 0x7f80u ? kNanF32Bits : static_cast<std::uint32_t>(h) << 16);
}

/// cvt.rn.f16.f32.
inline std::uint16_t f32_to_f16(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  // Rebias by 112, round to nearest even at bit 13; a carry runs into the exponent, up to infinity.
  const std::uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
  // The last place of 0.5f is 2^-24, that of f16 subnormals: the addition rounds.
  const std::uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
  std::uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x47800000u ? 0x7c00u : result;
  result |= sign;
  return static_cast<std::uint16_t>(magnitude > 0x7f800000u ? kNanF16 : result);
}

/// cvt.rn.bf16.f32.
inline std::uint16_t f32_to_bf16(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? kNanBf16 : rounded);
}

/// The canonical NaN, cut off.
inline constexpr std::uint32_t kNanTf32 = kNanF32Bits & 0xffffe000u;

/// cvt.rna.tf32.f32: the low 13 bits become zero, those of a NaN as well. (Of one that has no
/// others, no GPU was asked.)
inline std::uint32_t f32_to_tf32_rna(float x) {
  const std::uint32_t bits = bits_of(x);
  const bool special = (bits & 0x7f800000u) == 0x7f800000u;
  const std::uint32_t kept = (bits + (special ? 0u : 0x1000u)) & 0xffffe000u;
  const bool loses_payload = special && (kept & 0x007fffffu) == 0 && (bits & 0x007fffffu) != 0;
  return loses_payload ? kNanTf32 : kept;
}

/// cvt.rn.tf32.f32.
inline std::uint32_t f32_to_tf32_rn(float x) {
  const std::uint32_t bits = bits_of(x);
  const bool special = (bits & 0x7f800000u) == 0x7f800000u;
  const std::uint32_t bias = special ? 0u : 0xfffu + (bits >> 13 & 1u);
  return (bits & 0x7fffffffu) > 0x7f800000u ? kNanTf32 : (bits + bias) & 0xffffe000u;
}

/// What the tensor cores read of a tf32 operand: the upper 19 bits.
inline float tf32_operand(std::uint32_t bits) { return float_of(bits & 0xffffe000u); }

/// Any finite or special value, in any rounding mode.
std::uint16_t to_f16(double x, Round mode);
std::uint16_t to_bf16(double x, Round mode);

/// A double rounded to float "to odd": if inexact, the last bit is set. A second rounding to f16 or
/// bf16 then gives what a single one would have.
inline float to_odd_f32(double x) {
  const float nearest = static_cast<float>(x);
  std::uint32_t bits = bits_of(nearest);
  const auto widened = static_cast<double>(nearest);
  bits -= std::fabs(widened) > std::fabs(x) ? 1u : 0u;
  bits |= widened != x && x == x ? 1u : 0u;
  return float_of(bits);
}

/// a * b + c rounded to odd in double; a * b must be exact in double, as for f16 and bf16.
inline double fma_to_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  const double c_part = sum - product;
  const double error = (product - (sum - c_part)) + (c - c_part);
  // An infinite or undefined sum leaves an error of NaN, which is neither above nor below zero.
  const std::uint64_t inexact = static_cast<std::uint64_t>((error < 0) | (error > 0));
  const std::uint64_t step = (error < 0) != (sum < 0) ? ~std::uint64_t{0} : 1;
  std::uint64_t bits = bits_of(sum);
  bits += inexact & ~bits & 1u ? step : 0;
  return double_of(bits);
}

/// The two 16-bit formats, for templates over them.
struct F16 {
  static constexpr std::uint16_t kNan = kNanF16;
  static constexpr std::uint16_t kExponent = 0x7c00;
  static constexpr std::uint16_t kOne = 0x3c00;
  static constexpr int kFractionBits = 10;
  static float widen(std::uint16_t h) { return f16_to_f32(h); }
  static std::uint16_t narrow(float x) { return f32_to_f16(x); }
};
struct Bf16 {
  static constexpr std::uint16_t kNan = kNanBf16;
  static constexpr std::uint16_t kExponent = 0x7f80;
  static constexpr std::uint16_t kOne = 0x3f80;
  static constexpr int kFractionBits = 7;
  static float widen(std::uint16_t h) { return bf16_to_f32(h); }
  static std::uint16_t narrow(float x) { return f32_to_bf16(x); }
};

template <class H>
inline bool is_nan_half(std::uint16_t h) {
  return (h & 0x7fffu) > H::kExponent;
}

inline std::uint16_t flush_half(std::uint16_t h, std::uint16_t exponent_mask) {
  return static_cast<std::uint16_t>((h & exponent_mask) == 0 ? h & 0x8000u : h);
}

template <class H>
inline std::uint16_t canonical_half(std::uint16_t h) {
  return is_nan_half<H>(h) ? H::kNan : h;
}

/// What follows the rounding of a 16-bit result: nothing, .sat to [0, 1], or .relu (negative to
/// +0).
enum class Clamp : std::uint8_t { none, sat, relu };

template <class H, bool kFtz>
inline std::uint16_t input_half(std::uint16_t h) {
  if constexpr (kFtz) return flush_half(h, H::kExponent);
  return h;
}

template <class H, bool kFtz, Clamp kClamp>
inline std::uint16_t result_half(std::uint16_t h) {
  if constexpr (kFtz) h = flush_half(h, H::kExponent);
  if constexpr (kClamp == Clamp::sat) {
    if ((h & 0x8000u) != 0 || is_nan_half<H>(h)) return 0;
    return h > H::kOne ? H::kOne : h;
  } else if constexpr (kClamp == Clamp::relu) {
    if (is_nan_half<H>(h)) return H::kNan;
    return (h & 0x8000u) != 0 ? std::uint16_t{0} : h;
  } else {
    return canonical_half<H>(h);
  }
}

/// a * b + c of one lane.
template <class H, bool kFtz = false, Clamp kClamp = Clamp::none>
inline std::uint16_t fma_half(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  const double x = H::widen(input_half<H, kFtz>(a));
  const double y = H::widen(input_half<H, kFtz>(b));
  const double z = H::widen(input_half<H, kFtz>(c));
  return result_half<H, kFtz, kClamp>(H::narrow(to_odd_f32(fma_to_odd(x, y, z))));
}

/// A sum of two 16-bit floats rounds once more without harm: f32 has more than twice the bits.
template <class H, bool kFtz = false, Clamp kClamp = Clamp::none>
inline std::uint16_t add_half(std::uint16_t a, std::uint16_t b) {
  const float sum = H::widen(input_half<H, kFtz>(a)) + H::widen(input_half<H, kFtz>(b));
  return result_half<H, kFtz, kClamp>(H::narrow(sum));
}

template <class H, bool kFtz = false, Clamp kClamp = Clamp::none>
inline std::uint16_t sub_half(std::uint16_t a, std::uint16_t b) {
  const float difference = H::widen(input_half<H, kFtz>(a)) - H::widen(input_half<H, kFtz>(b));
  return result_half<H, kFtz, kClamp>(H::narrow(difference));
}

/// The product is exact in double; in f32 a bf16 product could be subnormal and round twice.
template <class H, bool kFtz = false, Clamp kClamp = Clamp::none>
inline std::uint16_t mul_half(std::uint16_t a, std::uint16_t b) {
  const double product = static_cast<double>(H::widen(input_half<H, kFtz>(a))) *
                         static_cast<double>(H::widen(input_half<H, kFtz>(b)));
  return result_half<H, kFtz, kClamp>(H::narrow(to_odd_f32(product)));
}

template <class H, bool kFtz = false>
inline std::uint16_t abs_half(std::uint16_t a) {
  return canonical_half<H>(static_cast<std::uint16_t>(input_half<H, kFtz>(a) & 0x7fffu));
}

template <class H, bool kFtz = false>
inline std::uint16_t neg_half(std::uint16_t a) {
  return canonical_half<H>(static_cast<std::uint16_t>(input_half<H, kFtz>(a) ^ 0x8000u));
}

/// min and max: NaN loses unless .NaN; -0 lies below +0; .xorsign.abs as in f32.
template <class H, bool kMax, bool kFtz = false, bool kNan = false, bool kXorsignAbs = false>
inline std::uint16_t min_max_half(std::uint16_t a, std::uint16_t b) {
  a = input_half<H, kFtz>(a);
  b = input_half<H, kFtz>(b);
  const bool a_nan = is_nan_half<H>(a);
  const bool b_nan = is_nan_half<H>(b);
  const auto sign = static_cast<std::uint16_t>((a ^ b) & 0x8000u);
  if constexpr (kXorsignAbs) {
    a &= 0x7fffu;
    b &= 0x7fffu;
  }
  // Sign and magnitude to an order-preserving integer, -0 just below +0.
  const auto key = [](std::uint16_t h) {
    return (h & 0x8000u) != 0 ? -1 - static_cast<int>(h & 0x7fffu) : static_cast<int>(h);
  };
  std::uint16_t r = (key(a) < key(b)) != kMax ? a : b;
  if constexpr (kNan) {
    if (a_nan || b_nan) return H::kNan;
  } else {
    if (a_nan && b_nan) return H::kNan;
    if (a_nan) r = b;
    if (b_nan) r = a;
  }
  if constexpr (kXorsignAbs) r ^= sign;
  return r;
}

template <class H, bool kFtz = false, bool kNan = false, bool kXorsignAbs = false>
inline std::uint16_t min_half(std::uint16_t a, std::uint16_t b) {
  return min_max_half<H, false, kFtz, kNan, kXorsignAbs>(a, b);
}

template <class H, bool kFtz = false, bool kNan = false, bool kXorsignAbs = false>
inline std::uint16_t max_half(std::uint16_t a, std::uint16_t b) {
  return min_max_half<H, true, kFtz, kNan, kXorsignAbs>(a, b);
}

inline std::uint16_t low_half(std::uint32_t packed) { return static_cast<std::uint16_t>(packed); }
inline std::uint16_t high_half(std::uint32_t packed) {
  return static_cast<std::uint16_t>(packed >> 16);
}
inline std::uint32_t pack_halves(std::uint16_t low, std::uint16_t high) {
  return static_cast<std::uint32_t>(high) << 16 | low;
}

/// A packed operation from a lane operation: packed(add_half<F16>, a, b).
template <class LaneOperation, class... Packed>
inline std::uint32_t packed(LaneOperation operation, Packed... operands) {
  return pack_halves(operation(low_half(operands)...), operation(high_half(operands)...));
}

}  // namespace simgpu::arith
