#pragma once

#include <cmath>
#include <type_traits>

#include "simgpu/arith/float32.h"
#include "simgpu/arith/half.h"

/// The .approx instructions. Hardware looks them up in tables that nobody has published, right to a
/// few units in the last place; here the double-precision library function is rounded once. What a
/// simple rule says of the hardware (found on an H200, simgpu/fidelity/measured) is as there:
/// special cases, subnormals, the arguments of sin and cos, log2 of powers of two, and that f16
/// results are cut off.
namespace simgpu::arith {

/// rcp.approx{.ftz}.f32.
template <bool kFtz = false>
inline float rcp_approx_f32(float a) {
  return rcp_f32<Round::nearest_even, kFtz>(a);
}

/// sqrt.approx{.ftz}.f32.
template <bool kFtz = false>
inline float sqrt_approx_f32(float a) {
  return sqrt_f32<Round::nearest_even, kFtz>(a);
}

/// rsqrt.approx{.ftz}.f32: +-0 gives +-inf.
template <bool kFtz = false>
inline float rsqrt_approx_f32(float a) {
  const double x = input_f32<kFtz>(a);
  return result_f32<kFtz, false>(static_cast<float>(1.0 / __builtin_sqrt(x)));
}

/// ex2.approx{.ftz}.f32: 2^a.
template <bool kFtz = false>
inline float ex2_approx_f32(float a) {
  const double x = input_f32<kFtz>(a);
  return result_f32<kFtz, false>(static_cast<float>(std::exp2(x)));
}

/// Rounds towards zero.
inline float cut_off_f32(double x) { return directed_f32<Round::zero>(x, 0); }

/// log2 of a normal number. One below zero is the complement of a fixed-point number, 2^-23 nearer
/// to zero, and cut off: -1 becomes -1 + 2^-23.
inline float normal_log2(double x) {
  constexpr double kLastPlace = 0x1p-23;
  const double exact = std::log2(x);
  const bool complements = exact < -kLastPlace && exact >= -1074;
  return complements ? cut_off_f32(exact + kLastPlace) : static_cast<float>(exact);
}

/// lg2.approx{.ftz}.f32: log2(a); +-0 gives -inf. A subnormal is made normal before.
template <bool kFtz = false>
inline float lg2_approx_f32(float a) {
  const double x = input_f32<kFtz>(a);
  const bool is_small = !kFtz && std::fabs(x) < 0x1p-126;
  const float r = normal_log2(is_small ? x * 0x1p24 : x);
  return result_f32<kFtz, false>(is_small ? r - 24.0f : r);
}

/// The argument of sin and cos on its way to a table: turns, in fixed point.
struct Turns {
  std::uint32_t quadrant = 0;  ///< of |a|, 0 to 3
  std::uint32_t place = 0;     ///< in it, from 0 to 2^23 - 1
};

/// |a| * (1 / (2 pi)) is a product of floats, cut off; of it count 25 bits below one turn. What is
/// smaller is zero, and large arguments lose their fraction.
inline Turns turns_of(float a) {
  constexpr float kTurn = 0x1.45f306p-3f;
  const float turns = cut_off_f32(static_cast<double>(std::fabs(a)) * static_cast<double>(kTurn));
  const double fraction = turns - std::floor(static_cast<double>(turns));
  const auto fixed = static_cast<std::uint32_t>(static_cast<std::int32_t>(fraction * 0x1p25));
  return {fixed >> 23, fixed & 0x7fffffu};
}

/// The sine of a quarter of a turn, from 0 on; in every other quarter it runs backwards, for which
/// the place is complemented.
inline float quarter_sine(Turns turns) {
  constexpr double kStep = 0x1.921fb54442d18p0 / (1 << 23);
  const std::uint32_t place = (turns.quadrant & 1) != 0 ? turns.place ^ 0x7fffffu : turns.place;
  return static_cast<float>(
      std::sin(static_cast<double>(static_cast<std::int32_t>(place)) * kStep));
}

/// sin.approx{.ftz}.f32: infinities give NaN.
template <bool kFtz = false>
inline float sin_approx_f32(float a) {
  if (!std::isfinite(a)) return float_of(kNanF32Bits);
  const Turns turns = turns_of(a);
  const float size = quarter_sine(turns);
  return (turns.quadrant >= 2) != std::signbit(a) ? -size : size;
}

/// cos.approx{.ftz}.f32: a quarter of a turn ahead.
template <bool kFtz = false>
inline float cos_approx_f32(float a) {
  if (!std::isfinite(a)) return float_of(kNanF32Bits);
  Turns turns = turns_of(a);
  turns.quadrant = (turns.quadrant + 1) & 3;
  const float size = quarter_sine(turns);
  return turns.quadrant >= 2 ? -size : size;
}

/// tanh.approx.f32: subnormals are supported, there is no .ftz.
inline float tanh_approx_f32(float a) {
  return result_f32<false, false>(static_cast<float>(std::tanh(static_cast<double>(a))));
}

/// Results of 16 bits are f32's, cut off, but for those that are too large.
template <class H>
inline std::uint16_t approximate_half(double x) {
  const auto wide = static_cast<float>(x);
  if constexpr (std::is_same_v<H, F16>) {
    return to_f16(std::fabs(wide) < 0x1p16f ? wide : wide * HUGE_VALF, Round::zero);
  } else {
    return to_bf16(wide, Round::zero);
  }
}

/// ex2.approx.{f16,ftz.bf16}.
template <class H, bool kFtz = false>
inline std::uint16_t ex2_approx_half(std::uint16_t a) {
  const double x = H::widen(input_half<H, kFtz>(a));
  return result_half<H, kFtz, Clamp::none>(approximate_half<H>(std::exp2(x)));
}

/// tanh.approx.{f16,bf16}.
template <class H>
inline std::uint16_t tanh_approx_half(std::uint16_t a) {
  const double x = H::widen(a);
  return result_half<H, false, Clamp::none>(approximate_half<H>(std::tanh(x)));
}

}  // namespace simgpu::arith
