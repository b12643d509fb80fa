#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "simgpu/arith/float32.h"
#include "simgpu/arith/float64.h"
#include "simgpu/arith/half.h"
#include "simgpu/arith/rounding.h"

/// cvt between integers, f16, bf16, tf32, f32 and f64. Widening a float is exact, so conversions
/// from f16 and bf16 are those of the widened value.
namespace simgpu::arith {

/// Rounds to an integral value: .rni, .rzi, .rmi, .rpi. Vectorises.
template <Round kRound, class Float>
inline Float round_integral(Float x) {
  if constexpr (kRound == Round::nearest_even) {
    return std::rint(x);  // the host's mode is never anything but nearest even
  } else if constexpr (kRound == Round::zero) {
    return std::trunc(x);
  } else if constexpr (kRound == Round::down) {
    return std::floor(x);
  } else {
    static_assert(kRound == Round::up);
    return std::ceil(x);
  }
}

/// cvt.{rni,rzi,rmi,rpi}.INT.FLOAT: what lies outside clamps to the nearest end of Int's range. NaN
/// gives 0, but where the source is f64 or Int has 64 bits, only Int's top bit is set ("cvt", PTX
/// ISA 9.0). A destination register wider than Int takes the value sign- or zero-extended.
/// @tparam Float float for f16, bf16 and f32 sources, double for f64 alone
template <class Int, Round kRound, bool kFtz = false, class Float>
inline Int float_to_integer(Float x) {
  if constexpr (kFtz && sizeof(Float) == 4) x = flush_subnormal(x);
  x = round_integral<kRound>(x);
  // 2^bits or 2^(bits-1), a power of two and so exact in either type; the lower end is exact as
  // well.
  constexpr int kBits = std::numeric_limits<Int>::digits;
  constexpr Float kAbove = static_cast<Float>(std::uint64_t{1} << (kBits - 1)) * 2;
  constexpr auto kLow = static_cast<Float>(std::numeric_limits<Int>::min());
  const bool inside = x >= kLow && x < kAbove;
  // A wider integer for the cast where the host has one, so that loops over lanes vectorise.
  using Cast = std::conditional_t<(sizeof(Int) < 4), std::int32_t, Int>;
  const Cast value = static_cast<Cast>(inside ? x : Float{0});
  constexpr bool kTopBit = sizeof(Float) == 8 || sizeof(Int) == 8;
  constexpr auto kNan = static_cast<Int>(kTopBit ? std::uint64_t{1} << (8 * sizeof(Int) - 1) : 0);
  const Cast outside = x >= kAbove ? static_cast<Cast>(std::numeric_limits<Int>::max())
                       : x < kLow  ? static_cast<Cast>(std::numeric_limits<Int>::min())
                                   : static_cast<Cast>(kNan);
  return static_cast<Int>(inside ? value : outside);
}

/// cvt.INT.INT without .sat: truncation or extension, as C++ converts. With .sat: clamps to Dst's
/// range.
template <class Dst, class Src>
inline Dst saturate_integer(Src x) {
  using Wide = Int128;
  // NOLINTBEGIN(bugprone-signed-char-misuse): bytes are numbers here
  constexpr auto kLow = static_cast<Wide>(std::numeric_limits<Dst>::min());
  constexpr auto kHigh = static_cast<Wide>(std::numeric_limits<Dst>::max());
  const auto wide = static_cast<Wide>(x);
  // NOLINTEND(bugprone-signed-char-misuse)
  return static_cast<Dst>(wide < kLow ? kLow : wide > kHigh ? kHigh : wide);
}

template <class Int>
inline Exact exact_of_integer(Int x) {
  const bool negative = x < 0;
  const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  if constexpr (std::is_unsigned_v<Int>) return exact_integer(false, x);
  return exact_integer(negative, negative ? 0 - bits : bits);
}

/// cvt.{rn,rz,rm,rp}.f32.INT and f64.INT.
template <class Float, Round kRound, class Int>
inline Float integer_to_float(Int x) {
  if constexpr (kRound == Round::nearest_even) {
    return static_cast<Float>(x);
  } else if constexpr (sizeof(Float) == 4) {
    return float_of(round_to<Binary32>(exact_of_integer(x), kRound));
  } else {
    return double_of(round_to<Binary64>(exact_of_integer(x), kRound));
  }
}

/// cvt.{rn,rz,rm,rp}.f16.INT.
template <Round kRound, class Int>
inline std::uint16_t integer_to_f16(Int x) {
  return round_to<Binary16>(exact_of_integer(x), kRound);
}

/// cvt.{rn,rz,rm,rp}.bf16.INT.
template <Round kRound, class Int>
inline std::uint16_t integer_to_bf16(Int x) {
  return round_to<BrainFloat16>(exact_of_integer(x), kRound);
}

/// The bits of an f64's NaN in a narrower format: sign and upper payload, and quiet.
/// @param fraction_bits of the narrower format
template <class Bits>
inline Bits narrowed_nan(double nan, int fraction_bits) {
  const std::uint64_t bits = bits_of(quiet(nan));
  const std::uint64_t magnitude = (bits & 0x7fffffffffffffffu) >> (52 - fraction_bits);
  // All ones above the narrower exponent fall off.
  constexpr auto kMagnitude = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
  return static_cast<Bits>((magnitude & kMagnitude) | (bits >> 63 << (8 * sizeof(Bits) - 1)));
}

/// cvt.{rn,rz,rm,rp}{.ftz}{.sat}.f32.f64. A NaN keeps its sign and upper payload.
template <Round kRound, bool kFtz = false, bool kSat = false>
inline float f64_to_f32(double x) {
  float r = 0;
  if constexpr (kRound == Round::nearest_even) {
    r = result_f32<kFtz, kSat>(static_cast<float>(x));
  } else {
    r = result_f32<kFtz, kSat>(directed_f32<kRound>(x, 0));
  }
  if constexpr (kSat) return r;
  return x != x ? float_of(narrowed_nan<std::uint32_t>(x, 23)) : r;
}

/// cvt{.ftz}{.sat}.f64.f32. A NaN keeps its sign and payload; with .ftz, which is an operation of
/// its own on the f32, it is that one's.
template <bool kFtz = false, bool kSat = false>
inline double f32_to_f64(float x) {
  if constexpr (kFtz) x = canonical(flush_subnormal(x));
  const auto wide = static_cast<double>(x);
  if constexpr (kSat) return saturate_unit(wide);
  return wide;
}

/// cvt{.integral}{.ftz}{.sat}.f32.f32; a plain copy has no integral rounding (see result_f32).
template <Round kRound, bool kFtz = false, bool kSat = false>
inline float integral_f32(float x) {
  return result_f32<kFtz, kSat>(round_integral<kRound>(input_f32<kFtz>(x)));
}

/// cvt{.ftz}{.sat}.f32.f32 and cvt{.sat}.f64.f64 without a rounding.
template <bool kFtz = false, bool kSat = false>
inline float copied_f32(float x) {
  return result_f32<kFtz, kSat>(input_f32<kFtz>(x));
}
template <bool kSat = false>
inline double copied_f64(double x) {
  return kSat ? saturate_unit(x) : x;
}

template <Round kRound, bool kSat = false>
inline double integral_f64(double x) {
  const double r = round_integral<kRound>(x);
  if constexpr (kSat) return saturate_unit(r);
  return r;
}

/// cvt.{rn,rz,rm,rp}{.ftz}{.sat|.relu}.f16.{f32,f64}. .ftz flushes a subnormal f32 operand; a
/// subnormal f16 result is kept ("cvt", PTX ISA: .ftz applies only where .f32 is involved).
template <class H, Round kRound, bool kFtz = false, Clamp kClamp = Clamp::none, class Float>
inline std::uint16_t narrow_to_half(Float x) {
  if constexpr (kFtz && sizeof(Float) == 4) x = flush_subnormal(x);
  std::uint16_t r = 0;
  if constexpr (kRound == Round::nearest_even) {
    if constexpr (sizeof(Float) == 4) {
      r = H::narrow(x);
    } else {
      r = H::narrow(to_odd_f32(x));
    }
  } else if constexpr (std::is_same_v<H, F16>) {
    r = to_f16(x, kRound);
  } else {
    r = to_bf16(x, kRound);
  }
  if constexpr (sizeof(Float) == 8 && kClamp == Clamp::none) {
    if (x != x) return narrowed_nan<std::uint16_t>(x, H::kFractionBits);
  }
  return result_half<H, false, kClamp>(r);
}

/// cvt.{rni,rzi,rmi,rpi}{.sat|.relu} of f16 to f16, or bf16 to bf16, of the widened value: what the
/// rounding leaves is exact in the narrow type.
template <class H, Round kRound, Clamp kClamp = Clamp::none>
inline std::uint16_t integral_half(float x) {
  return narrow_to_half<H, Round::nearest_even, false, kClamp>(round_integral<kRound>(x));
}

/// cvt.rn.{f16x2,bf16x2}.f32 d, a, b: a becomes the upper half, b the lower.
template <class H, Round kRound, Clamp kClamp = Clamp::none>
inline std::uint32_t narrow_to_packed(float a, float b) {
  return pack_halves(narrow_to_half<H, kRound, false, kClamp>(b),
                     narrow_to_half<H, kRound, false, kClamp>(a));
}

/// cvt{.ftz}{.sat}.f32.{f16,bf16}.
template <class H, bool kSat = false>
inline float widen_half(std::uint16_t h) {
  const float wide = H::widen(h);
  if constexpr (kSat) return saturate_unit(wide);
  return wide;
}

/// cvt.f32.bf16: a shift, even of a signalling NaN.
inline float shifted_bf16(std::uint16_t h) { return float_of(std::uint32_t{h} << 16); }
inline float same_f32(float x) { return x; }

/// cvt.f64.{f16,bf16}, first half: a NaN keeps sign and payload.
template <class H>
inline float widen_half_keeping_nan(std::uint16_t h) {
  const auto nan = (h & 0x8000u) << 16 | 0x7fc00000u | (h & 0x7fffu) << (23 - H::kFractionBits);
  return is_nan_half<H>(h) ? float_of(nan) : H::widen(h);
}

// Integers in registers, as conversions leave them.

/// The register type that holds an integer, sign- or zero-extended: 32 or 64 bits.
template <class Int>
using Extended32 = std::conditional_t<std::is_signed_v<Int>, std::int32_t, std::uint32_t>;
template <class Int>
using Extended64 = std::conditional_t<std::is_signed_v<Int>, std::int64_t, std::uint64_t>;

template <class To, class From>
inline Extended32<To> integer32(From x) {
  return static_cast<To>(x);
}
template <class To, class From>
inline Extended64<To> integer64(From x) {
  return static_cast<To>(x);
}
template <class To, class From>
inline Extended64<To> saturated(From x) {
  return saturate_integer<To>(x);
}
template <class To, class From>
inline Extended32<To> saturated32(From x) {
  return static_cast<Extended32<To>>(saturate_integer<To>(x));
}

template <class Int, Round kRound, bool kFtz, class Float>
inline Extended32<Int> from_float32(Float x) {
  return static_cast<Extended32<Int>>(float_to_integer<Int, kRound, kFtz>(x));
}
template <class Int, Round kRound, bool kFtz, class Float>
inline Extended64<Int> from_float64(Float x) {
  return static_cast<Extended64<Int>>(float_to_integer<Int, kRound, kFtz>(x));
}

}  // namespace simgpu::arith
