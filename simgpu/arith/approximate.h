#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "simgpu/arith/elementary.h"
#include "simgpu/arith/float32.h"
#include "simgpu/arith/half.h"

/// The .approx instructions. Hardware looks them up in tables that nobody has published, right to a
/// few units in the last place. Here results are a unit off as often as on an H200
/// (simgpu/fidelity/measured) where code could take them for rounded ones (rcp, sqrt, rsqrt,
/// division), and tanh is as coarse as there; of all others a function of double precision
/// (elementary.h) is rounded once. What a simple rule says of the hardware is as there: special
/// cases, subnormals, the arguments of sin and cos, log2 of powers of two, and that f16 results are
/// cut off.
namespace simgpu::arith {

/// rcp.approx{.ftz}.f32.
template <bool kFtz = false>
inline float rcp_approx_f32(float a) {
  a = input_f32<kFtz>(a);
  return result_f32<kFtz, false>(from_table(1.0 / static_cast<double>(a), a, -0.2, 0.2));
}

/// sqrt.approx{.ftz}.f32.
template <bool kFtz = false>
inline float sqrt_approx_f32(float a) {
  a = input_f32<kFtz>(a);
  return result_f32<kFtz, false>(
      from_table(__builtin_sqrt(static_cast<double>(a)), a, -0.25, 0.07));
}

/// rsqrt.approx{.ftz}.f32: +-0 gives +-inf.
template <bool kFtz = false>
inline float rsqrt_approx_f32(float a) {
  a = input_f32<kFtz>(a);
  return result_f32<kFtz, false>(
      from_table(1.0 / __builtin_sqrt(static_cast<double>(a)), a, -0.65, 0.2));
}

/// ex2.approx{.ftz}.f32: 2^a.
template <bool kFtz = false>
inline float ex2_approx_f32(float a) {
  const double x = input_f32<kFtz>(a);
  return result_f32<kFtz, false>(static_cast<float>(exp2_f64(x)));
}

/// Rounds towards zero.
inline float cut_off_f32(double x) { return directed_f32<Round::zero>(x, 0); }

/// log2 of a normal number. One below zero is the complement of a fixed-point number, 2^-23 nearer
/// to zero, and cut off: -1 becomes -1 + 2^-23.
inline float normal_log2(double x) {
  constexpr double kLastPlace = 0x1p-23;
  const double exact = log2_f64(x);
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
      quarter_sin_f64(static_cast<double>(static_cast<std::int32_t>(place)) * kStep));
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

/// A parabola through a function at three places between `begin` and `end`: near the one whose
/// largest error is least, since the places are Chebyshev's.
struct Parabola {
  double middle = 0, value = 0, slope = 0, bend = 0;

  Parabola(double (*function)(double), double begin, double end) : middle((begin + end) / 2) {
    constexpr double kOuter = 0.86602540378443865;  // of half the width
    const double step = kOuter * (end - begin) / 2;
    const double below = function(middle - step), above = function(middle + step);
    value = function(middle);
    slope = (above - below) / (2 * step);
    bend = (above - 2 * value + below) / (2 * step * step);
  }
  double at(double x) const {
    const double from = x - middle;
    return value + from * (slope + from * bend);
  }
};

/// tanh as a table of parabolas gives it, for arguments from 2^-8 to 8: below, four to each power
/// of two up to 0.5, then pieces of 1/8 up to 4, of 1/2 beyond. With these widths the error is
/// that of an H200, up to 9e-6 of the result.
class TanhTable {
 public:
  static constexpr double kBegin = 0x1p-8, kEnd = 8;

  static const TanhTable& instance() {
    static const TanhTable table;
    return table;
  }
  double at(double x) const { return pieces_[piece_of(x)].at(x); }

 private:
  static constexpr double kEven = 0.5, kWide = 4;
  static constexpr std::size_t kSmall = 28, kMiddle = 28;

  TanhTable() {
    for (double begin = kBegin; begin < kEnd;) {
      const double end = begin + width_at(begin);
      pieces_.emplace_back(positive_tanh_f64, begin, end);
      begin = end;
    }
  }
  static double width_at(double x) {
    if (x >= kWide) return 0.5;
    return x >= kEven ? 0.125 : std::ldexp(1.0, std::ilogb(x) - 2);
  }
  static std::size_t piece_of(double x) {
    if (x >= kWide) return kSmall + kMiddle + static_cast<std::size_t>((x - kWide) * 2);
    if (x >= kEven) return kSmall + static_cast<std::size_t>((x - kEven) * 8);
    const int exponent = std::ilogb(x);
    const double above = std::ldexp(x, -exponent) - 1;
    return 4 * static_cast<std::size_t>(exponent + 8) + static_cast<std::size_t>(above * 4);
  }

  std::vector<Parabola> pieces_;
};

/// tanh.approx.f32: subnormals are supported, there is no .ftz.
inline float tanh_approx_f32(float a) {
  const double size = std::fabs(static_cast<double>(a));
  const bool is_in_table = size >= TanhTable::kBegin && size < TanhTable::kEnd;
  const double result = is_in_table ? TanhTable::instance().at(size) : positive_tanh_f64(size);
  return result_f32<false, false>(static_cast<float>(std::copysign(result, a)));
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
  return result_half<H, kFtz, Clamp::none>(approximate_half<H>(exp2_f64(x)));
}

/// tanh.approx.{f16,bf16}.
template <class H>
inline std::uint16_t tanh_approx_half(std::uint16_t a) {
  const double x = H::widen(a);
  const double size = positive_tanh_f64(std::fabs(x));
  return result_half<H, false, Clamp::none>(approximate_half<H>(std::copysign(size, x)));
}

}  // namespace simgpu::arith
