#pragma once

#include <bit>
#include <cstdint>

/// What all of arith shares: rounding modes, canonical NaNs, flushing of subnormals, exact values
/// on their way to a rounded result.
namespace simgpu::arith {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// Rounding modifiers: .rn, .rz, .rm, .rp and .rna ("Rounding Modifiers", PTX ISA). The integer
/// rounding of cvt (.rni, .rzi, .rmi, .rpi) uses the first four.
enum class Round : std::uint8_t { nearest_even, zero, down, up, nearest_away };

/// The NaN that arithmetic produces, whatever NaN went in ("Floating Point Instructions", PTX ISA).
inline constexpr std::uint16_t kNanF16 = 0x7fff;
inline constexpr std::uint16_t kNanBf16 = 0x7fff;
inline constexpr std::uint32_t kNanF32Bits = 0x7fffffff;

inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline double double_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }

/// .ftz: a subnormal becomes a zero of its sign.
inline float flush_subnormal(float x) {
  const std::uint32_t bits = bits_of(x);
  return float_of((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}

/// Any NaN becomes the canonical one.
inline float canonical(float x) { return x == x ? x : float_of(kNanF32Bits); }

/// .sat: clamps to [0, 1]; NaN and -0 become +0 ("add", PTX ISA: "NaN results are flushed to
/// +0.0f").
inline float saturate_unit(float x) {
  const float low = x > 0.0f ? x : 0.0f;
  return low < 1.0f ? low : 1.0f;
}
inline double saturate_unit(double x) {
  const double low = x > 0.0 ? x : 0.0;
  return low < 1.0 ? low : 1.0;
}

/// A finite value before rounding: (-1)^negative * significand * 2^exponent. Where bits were lost
/// on the way, bit 0 of the significand is set ("sticky") and lies far enough below the rounding
/// place to be no more than "a little above".
struct Exact {
  bool negative = false;
  int exponent = 0;
  Uint128 significand = 0;
};

/// Binary interchange formats by precision (hidden bit included) and exponent width.
template <int kPrecisionBits, int kExponentBits, class BitsType>
struct Format {
  using Bits = BitsType;
  static constexpr int kPrecision = kPrecisionBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kMinExponent = 1 - kBias;
  static constexpr Bits kInfinity =
      static_cast<Bits>(((Bits{1} << kExponentBits) - 1) << (kPrecisionBits - 1));
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (kPrecisionBits - 1 + kExponentBits));
};
using Binary16 = Format<11, 5, std::uint16_t>;
using BrainFloat16 = Format<8, 8, std::uint16_t>;
/// tf32 in 19 bits; stored in a 32-bit register shifted left by 13.
using TensorFloat32 = Format<11, 8, std::uint32_t>;
using Binary32 = Format<24, 8, std::uint32_t>;
using Binary64 = Format<53, 11, std::uint64_t>;

/// Rounds to a format, subnormals and overflow included; returns the encoding.
template <class F>
typename F::Bits round_to(const Exact& value, Round mode);

extern template std::uint16_t round_to<Binary16>(const Exact&, Round);
extern template std::uint16_t round_to<BrainFloat16>(const Exact&, Round);
extern template std::uint32_t round_to<TensorFloat32>(const Exact&, Round);
extern template std::uint32_t round_to<Binary32>(const Exact&, Round);
extern template std::uint64_t round_to<Binary64>(const Exact&, Round);

/// Exact forms of finite operands (any finite double, so every narrower type too). `mode` decides
/// the sign of a sum that cancels: -0 when rounding down, else +0.
Exact exact_value(double x);
Exact exact_integer(bool negative, std::uint64_t magnitude);
Exact exact_sum(double a, double b, Round mode);
Exact exact_product(double a, double b);
Exact exact_fma(double a, double b, double c, Round mode);
/// b is not zero.
Exact exact_quotient(double a, double b);
/// x is not negative (-0 is allowed).
Exact exact_square_root(double x);

}  // namespace simgpu::arith
