#pragma once

#include <cmath>

#include "simgpu/arith/rounding.h"

/// .f32 arithmetic: IEEE operations in each rounding mode, with .ftz and .sat; min, max and bit
/// operations. Nearest-even forms are plain C expressions that vectorise; so do directed sums and
/// products, by way of f64. Directed quotients and roots go through exact integers.
namespace simgpu::arith {

// Directed results, special operands included, without flushing or saturation.

float directed_div(float a, float b, Round mode);
float directed_sqrt(float a, Round mode);

/// Rounds nearest + rest, where `nearest` is that value rounded to the nearest double. Its nearest
/// float is one of the two floats around it; the mode may ask for the other.
template <Round kRound>
inline float directed_f32(double nearest, double rest) {
  static_assert(kRound == Round::zero || kRound == Round::down || kRound == Round::up);
  const auto rounded = static_cast<float>(nearest);
  const auto wide = static_cast<double>(rounded);
  const bool above = wide > nearest || (wide == nearest && rest < 0);
  const bool below = wide < nearest || (wide == nearest && rest > 0);
  const std::uint32_t bits = bits_of(rounded);
  const bool negative = (bits >> 31) != 0;
  // Floats of one sign are ordered as their bits; beside a zero lies the least subnormal.
  const std::uint32_t smaller = bits - 1;
  const bool is_zero = (bits << 1) == 0;
  if constexpr (kRound == Round::zero) {
    return float_of((negative ? below : above) ? smaller : bits);
  } else if constexpr (kRound == Round::down) {
    const std::uint32_t lower = is_zero ? 0x80000001u : negative ? bits + 1 : smaller;
    return float_of(above ? lower : bits);
  } else {
    const std::uint32_t higher = is_zero ? 0x00000001u : negative ? smaller : bits + 1;
    return float_of(below ? higher : bits);
  }
}

/// a + b, where neither is more than a product of two floats.
template <Round kRound>
inline float directed_sum_f32(double a, double b) {
  // TwoSum: sum + rest is a + b exactly (Knuth, The Art of Computer Programming 2, 4.2.2).
  const double sum = a + b;
  const double from_b = sum - a;
  const double rest = (a - (sum - from_b)) + (b - from_b);
  // What cancels is +0, but rounded down -0.
  const bool cancels = sum == 0 && std::signbit(a) != std::signbit(b);
  return directed_f32<kRound>(kRound == Round::down && cancels ? -0.0 : sum, rest);
}

template <bool kFtz>
inline float input_f32(float x) {
  if constexpr (kFtz) return flush_subnormal(x);
  return x;
}

/// Canonical NaN, then flush, then clamp.
template <bool kFtz, bool kSat>
inline float result_f32(float x) {
  if constexpr (kSat) {
    x = saturate_unit(x);
  } else {
    x = canonical(x);
  }
  if constexpr (kFtz) x = flush_subnormal(x);
  return x;
}

template <Round kRound = Round::nearest_even, bool kFtz = false, bool kSat = false>
inline float add_f32(float a, float b) {
  a = input_f32<kFtz>(a);
  b = input_f32<kFtz>(b);
  if constexpr (kRound == Round::nearest_even) {
    return result_f32<kFtz, kSat>(a + b);
  } else {
    return result_f32<kFtz, kSat>(directed_sum_f32<kRound>(a, b));
  }
}

template <Round kRound = Round::nearest_even, bool kFtz = false, bool kSat = false>
inline float sub_f32(float a, float b) {
  return add_f32<kRound, kFtz, kSat>(a, -b);
}

template <Round kRound = Round::nearest_even, bool kFtz = false, bool kSat = false>
inline float mul_f32(float a, float b) {
  a = input_f32<kFtz>(a);
  b = input_f32<kFtz>(b);
  if constexpr (kRound == Round::nearest_even) {
    return result_f32<kFtz, kSat>(a * b);
  } else {
    const double product = static_cast<double>(a) * static_cast<double>(b);  // exact
    return result_f32<kFtz, kSat>(directed_f32<kRound>(product, 0));
  }
}

template <Round kRound = Round::nearest_even, bool kFtz = false, bool kSat = false>
inline float fma_f32(float a, float b, float c) {
  a = input_f32<kFtz>(a);
  b = input_f32<kFtz>(b);
  c = input_f32<kFtz>(c);
  if constexpr (kRound == Round::nearest_even) {
    return result_f32<kFtz, kSat>(__builtin_fmaf(a, b, c));
  } else {
    const double product = static_cast<double>(a) * static_cast<double>(b);  // exact
    return result_f32<kFtz, kSat>(directed_sum_f32<kRound>(product, c));
  }
}

/// div.rn and friends; also div.full, which hardware gets right to 2 ulp and we round correctly.
template <Round kRound = Round::nearest_even, bool kFtz = false>
inline float div_f32(float a, float b) {
  a = input_f32<kFtz>(a);
  b = input_f32<kFtz>(b);
  if constexpr (kRound == Round::nearest_even) return result_f32<kFtz, false>(a / b);
  return result_f32<kFtz, false>(directed_div(a, b, kRound));
}

/// A result as a table gives it, which is a unit in the last place off now and then: which one, the
/// hardware alone knows; how often, depends on the bounds. Before it is rounded it is between
/// `least` and `most` units off, less than one. What is exact stays so.
/// @param operand gives the place between the two, whatever its sign
inline float from_table(double exact, float operand, double least, double most) {
  const auto rounded = static_cast<float>(exact);
  const std::uint32_t exponent = bits_of(rounded) & 0x7f800000u;
  constexpr std::uint32_t kInfinite = 0x7f800000u, kLastBits = 23u << 23;
  const bool is_exact = static_cast<double>(rounded) == exact;
  if (is_exact || exponent <= kLastBits || exponent == kInfinite) return rounded;
  const std::uint32_t place = (bits_of(operand) & 0x7fffffffu) * 0x9e3779b1u >> 8;
  const double units = least + (most - least) * (static_cast<double>(place) * 0x1p-24);
  const double unit = std::copysign(static_cast<double>(float_of(exponent - kLastBits)), exact);
  return static_cast<float>(exact + units * unit);
}

/// div.approx: a * (1/b). For |b| above 2^126 the reciprocal counts as zero, as PTX documents.
template <bool kFtz = false>
inline float div_approx_f32(float a, float b) {
  a = input_f32<kFtz>(a);
  b = input_f32<kFtz>(b);
  const bool vanishes = std::fabs(b) > 0x1p126f;
  const float quotient = vanishes ? a * (std::isnan(b) ? b : std::copysign(0.0f, b))
                                  : from_table(static_cast<double>(a) / static_cast<double>(b),
                                               float_of(bits_of(a) ^ bits_of(b) << 7), -0.45, 0.35);
  return result_f32<kFtz, false>(quotient);
}

template <Round kRound = Round::nearest_even, bool kFtz = false>
inline float rcp_f32(float a) {
  return div_f32<kRound, kFtz>(1.0f, a);
}

template <Round kRound = Round::nearest_even, bool kFtz = false>
inline float sqrt_f32(float a) {
  a = input_f32<kFtz>(a);
  if constexpr (kRound == Round::nearest_even) {
    return result_f32<kFtz, false>(__builtin_sqrtf(a));
  }
  return result_f32<kFtz, false>(directed_sqrt(a, kRound));
}

inline float abs_bits_f32(float x) { return float_of(bits_of(x) & 0x7fffffffu); }

template <bool kFtz = false>
inline float abs_f32(float a) {
  return canonical(abs_bits_f32(input_f32<kFtz>(a)));
}

template <bool kFtz = false>
inline float neg_f32(float a) {
  return canonical(float_of(bits_of(input_f32<kFtz>(a)) ^ 0x80000000u));
}

/// copysign.f32 d, a, b: the sign of a on the magnitude of b.
inline float copysign_f32(float a, float b) {
  return float_of((bits_of(a) & 0x80000000u) | (bits_of(b) & 0x7fffffffu));
}

/// min.f32: the operand that is not NaN, unless .NaN asks for NaN; -0 lies below +0.
/// .xorsign.abs: of the magnitudes, with the sign the product would have.
template <bool kFtz = false, bool kNan = false, bool kXorsignAbs = false>
inline float min_f32(float a, float b) {
  a = input_f32<kFtz>(a);
  b = input_f32<kFtz>(b);
  const std::uint32_t sign = (bits_of(a) ^ bits_of(b)) & 0x80000000u;
  if constexpr (kXorsignAbs) {
    a = abs_bits_f32(a);
    b = abs_bits_f32(b);
  }
  // Equal values differ at most in the sign of zero: either operand's sign makes -0.
  float r = a < b ? a : b;
  r = a == b ? float_of(bits_of(a) | bits_of(b)) : r;
  if constexpr (kNan) {
    r = a != a ? a : r;  // a NaN in b is already chosen
  } else {
    r = b != b ? a : r;
  }
  if constexpr (kXorsignAbs) r = float_of(bits_of(r) ^ sign);
  return canonical(r);
}

template <bool kFtz = false, bool kNan = false, bool kXorsignAbs = false>
inline float max_f32(float a, float b) {
  a = input_f32<kFtz>(a);
  b = input_f32<kFtz>(b);
  const std::uint32_t sign = (bits_of(a) ^ bits_of(b)) & 0x80000000u;
  if constexpr (kXorsignAbs) {
    a = abs_bits_f32(a);
    b = abs_bits_f32(b);
  }
  float r = a > b ? a : b;
  r = a == b ? float_of(bits_of(a) & bits_of(b)) : r;
  if constexpr (kNan) {
    r = a != a ? a : r;
  } else {
    r = b != b ? a : r;
  }
  if constexpr (kXorsignAbs) r = float_of(bits_of(r) ^ sign);
  return canonical(r);
}

/// testp.{finite,infinite,number,notanumber,normal,subnormal}.
enum class FloatTest : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

template <class Float>
inline bool testp(FloatTest test, Float x) {
  switch (test) {
    case FloatTest::finite:
      return std::isfinite(x);
    case FloatTest::infinite:
      return std::isinf(x);
    case FloatTest::number:
      return !std::isnan(x);
    case FloatTest::notanumber:
      return std::isnan(x);
    case FloatTest::normal:  // PTX does not say that zeros are; GPUs do.
      return std::isnormal(x) || x == 0;
    case FloatTest::subnormal:
      return std::fpclassify(x) == FP_SUBNORMAL;
  }
  return false;
}

}  // namespace simgpu::arith
