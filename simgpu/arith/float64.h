#pragma once

#include "simgpu/arith/rounding.h"

/// .f64 arithmetic: IEEE operations in each rounding mode; min, max and bit operations. PTX has no
/// .ftz for f64 except in two gross approximations.
///
/// A NaN that goes in comes out quiet, with its sign and payload, from abs and neg as well; of
/// several the last operand's, of a quotient the dividend's. Other NaNs are kNanF64Bits. PTX leaves
/// this open; an H200 does so (simgpu/fidelity/measured; of fma's operands only that some NaN comes
/// through).
namespace simgpu::arith {

double directed_add(double a, double b, Round mode);
double directed_mul(double a, double b, Round mode);
double directed_fma(double a, double b, double c, Round mode);
double directed_div(double a, double b, Round mode);
double directed_sqrt(double a, Round mode);

/// What an invalid operation on numbers gives: CUDA's CUDART_NAN.
inline constexpr std::uint64_t kNanF64Bits = 0xfff8000000000000u;
inline double canonical(double x) { return x == x ? x : double_of(kNanF64Bits); }

inline double quiet(double nan) { return double_of(bits_of(nan) | 0x0008000000000000u); }

/// The result of an operation, with the right NaN where it is one: neither the host nor a compiler
/// that folds constants says which comes out.
template <class... Operands>
inline double with_nan_of(double result, Operands... operands) {
  double r = canonical(result);
  ((r = operands != operands ? quiet(operands) : r), ...);
  return r;
}

template <Round kRound = Round::nearest_even>
inline double add_f64(double a, double b) {
  if constexpr (kRound == Round::nearest_even) return with_nan_of(a + b, a, b);
  return with_nan_of(directed_add(a, b, kRound), a, b);
}

template <Round kRound = Round::nearest_even>
inline double sub_f64(double a, double b) {
  if constexpr (kRound == Round::nearest_even) return with_nan_of(a - b, a, b);
  return with_nan_of(directed_add(a, -b, kRound), a, b);
}

template <Round kRound = Round::nearest_even>
inline double mul_f64(double a, double b) {
  if constexpr (kRound == Round::nearest_even) return with_nan_of(a * b, a, b);
  return with_nan_of(directed_mul(a, b, kRound), a, b);
}

template <Round kRound = Round::nearest_even>
inline double fma_f64(double a, double b, double c) {
  double r = 0;
  if constexpr (kRound == Round::nearest_even) {
    r = __builtin_fma(a, b, c);
  } else {
    r = directed_fma(a, b, c, kRound);
  }
  return with_nan_of(r, a, b, c);
}

template <Round kRound = Round::nearest_even>
inline double div_f64(double a, double b) {
  if constexpr (kRound == Round::nearest_even) return with_nan_of(a / b, b, a);
  return with_nan_of(directed_div(a, b, kRound), b, a);
}

template <Round kRound = Round::nearest_even>
inline double rcp_f64(double a) {
  return div_f64<kRound>(1.0, a);
}

template <Round kRound = Round::nearest_even>
inline double sqrt_f64(double a) {
  if constexpr (kRound == Round::nearest_even) return with_nan_of(__builtin_sqrt(a), a);
  return with_nan_of(directed_sqrt(a, kRound), a);
}

inline double flush_subnormal(double x) {
  const std::uint64_t bits = bits_of(x);
  return double_of((bits & 0x7ff0000000000000u) == 0 ? bits & 0x8000000000000000u : bits);
}

/// Keeps sign, exponent and the upper 20 bits of the fraction, as the gross approximations do.
inline double upper_word(double x) { return double_of(bits_of(x) & 0xffffffff00000000u); }

/// The NaN of the gross approximations: f32's, as the upper word.
inline constexpr std::uint64_t kUpperNanBits = 0x7fffffff00000000u;
inline double upper_result(double x) { return x == x ? upper_word(x) : double_of(kUpperNanBits); }

/// rcp.approx.ftz.f64: reads and writes only the upper 32 bits.
inline double rcp_approx_ftz_f64(double a) {
  const double x = flush_subnormal(upper_word(a));
  return upper_result(flush_subnormal(1.0 / x));
}

/// rsqrt.approx.ftz.f64: likewise.
inline double rsqrt_approx_ftz_f64(double a) {
  const double x = flush_subnormal(upper_word(a));
  return upper_result(1.0 / __builtin_sqrt(x));
}

/// GPUs round nearly all results right, which two roundings in f64 do not.
inline double rsqrt_approx_f64(double a) {
  return with_nan_of(static_cast<double>(1.0L / __builtin_sqrtl(a)), a);
}

inline double abs_f64(double a) {
  return with_nan_of(double_of(bits_of(a) & 0x7fffffffffffffffu), a);
}
inline double neg_f64(double a) {
  return with_nan_of(double_of(bits_of(a) ^ 0x8000000000000000u), a);
}

/// copysign.f64 d, a, b: the sign of a on the magnitude of b.
inline double copysign_f64(double a, double b) {
  return double_of((bits_of(a) & 0x8000000000000000u) | (bits_of(b) & 0x7fffffffffffffffu));
}

/// min.f64: the operand that is not NaN; -0 lies below +0.
inline double min_f64(double a, double b) {
  double r = a < b ? a : b;
  r = a == b ? double_of(bits_of(a) | bits_of(b)) : r;
  r = b != b ? a : r;
  return r != r ? quiet(b) : r;
}

inline double max_f64(double a, double b) {
  double r = a > b ? a : b;
  r = a == b ? double_of(bits_of(a) & bits_of(b)) : r;
  r = b != b ? a : r;
  return r != r ? quiet(b) : r;
}

}  // namespace simgpu::arith
