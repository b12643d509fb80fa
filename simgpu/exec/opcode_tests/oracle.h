#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <string>

#include "simgpu/arith/quad_testing.h"

/// What the expected values are made of: the host's arithmetic in its own rounding modes,
/// binary128, 128-bit integers, searches.
namespace simgpu::opcode_tests {

__extension__ using Wide = __int128;

/// "rn", "rz", "rm" or "rp" on the host, for a scope.
class HostRounding {
 public:
  explicit HostRounding(const std::string& mode) {
    std::fesetround(mode == "rz"   ? FE_TOWARDZERO
                    : mode == "rm" ? FE_DOWNWARD
                    : mode == "rp" ? FE_UPWARD
                                   : FE_TONEAREST);
  }
  ~HostRounding() { std::fesetround(FE_TONEAREST); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;
};

inline float f32_of(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
inline double f64_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline std::uint64_t raw(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::uint64_t raw(double x) { return std::bit_cast<std::uint64_t>(x); }

inline float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

/// An f32 result as PTX delivers it: one NaN, then .ftz, then .sat.
inline std::uint64_t delivered(float x, bool ftz = false, bool sat = false) {
  if (sat) return std::isnan(x) || x <= 0 ? 0 : raw(std::fmin(ftz ? flushed(x) : x, 1.0f));
  if (std::isnan(x)) return 0x7fffffff;
  return raw(ftz ? flushed(x) : x);
}

/// f16 or bf16, decoded and rounded by searching all its values.
class HalfFormat {
 public:
  static const HalfFormat& f16();
  static const HalfFormat& bf16();
  static const HalfFormat& named(const std::string& type) { return type == "f16" ? f16() : bf16(); }

  double decode(std::uint64_t bits) const;
  /// @param negative_zero the sign if x is zero
  std::uint64_t round(Quad x, const std::string& mode, bool negative_zero) const;
  std::uint64_t infinity() const { return infinity_; }
  std::uint64_t one() const { return one_; }
  std::uint64_t flush(std::uint64_t bits) const {
    return (bits & infinity_) == 0 ? bits & 0x8000 : bits & 0xffff;
  }
  bool is_nan(std::uint64_t bits) const { return (bits & 0x7fff) > infinity_; }

 private:
  HalfFormat(int precision, int bias, std::uint64_t infinity);
  int fraction_bits_;
  int bias_;
  std::uint64_t infinity_;
  std::uint64_t one_;
};

/// A value of an integer type ("s8" … "u64"), from the low bits of a register.
Wide integer_of(std::uint64_t bits, const std::string& type);
/// The low bits of a value, as a register of `bits` bits holds them.
inline std::uint64_t cut(Wide x, unsigned bits) {
  const auto low = static_cast<std::uint64_t>(x);
  return bits >= 64 ? low : low & ((std::uint64_t{1} << bits) - 1);
}
/// Bits in an integer type's name: 16 for "s16".
unsigned width_of(const std::string& type);
inline bool is_signed(const std::string& type) { return type[0] == 's'; }
Wide lowest(const std::string& type);
Wide highest(const std::string& type);

}  // namespace simgpu::opcode_tests
