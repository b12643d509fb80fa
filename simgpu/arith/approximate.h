#pragma once

#include <cmath>

#include "simgpu/arith/float32.h"
#include "simgpu/arith/half.h"

/// The .approx instructions. Hardware looks them up in tables, right to a few units in the last
/// place; here the double-precision library function is rounded once, which is nearly always the
/// correctly rounded value. Special cases follow the tables of each instruction in the PTX ISA.
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

/// lg2.approx{.ftz}.f32: log2(a); +-0 gives -inf.
template <bool kFtz = false>
inline float lg2_approx_f32(float a) {
  const double x = input_f32<kFtz>(a);
  return result_f32<kFtz, false>(static_cast<float>(std::log2(x)));
}

/// sin.approx{.ftz}.f32: infinities give NaN.
template <bool kFtz = false>
inline float sin_approx_f32(float a) {
  const double x = input_f32<kFtz>(a);
  return result_f32<kFtz, false>(static_cast<float>(std::sin(x)));
}

/// cos.approx{.ftz}.f32.
template <bool kFtz = false>
inline float cos_approx_f32(float a) {
  const double x = input_f32<kFtz>(a);
  return result_f32<kFtz, false>(static_cast<float>(std::cos(x)));
}

/// tanh.approx.f32: subnormals are supported, there is no .ftz.
inline float tanh_approx_f32(float a) {
  return result_f32<false, false>(static_cast<float>(std::tanh(static_cast<double>(a))));
}

/// ex2.approx.{f16,ftz.bf16}.
template <class H, bool kFtz = false>
inline std::uint16_t ex2_approx_half(std::uint16_t a) {
  const double x = H::widen(input_half<H, kFtz>(a));
  return result_half<H, kFtz, Clamp::none>(H::narrow(to_odd_f32(std::exp2(x))));
}

/// tanh.approx.{f16,bf16}.
template <class H>
inline std::uint16_t tanh_approx_half(std::uint16_t a) {
  const double x = H::widen(a);
  return result_half<H, false, Clamp::none>(H::narrow(to_odd_f32(std::tanh(x))));
}

}  // namespace simgpu::arith
