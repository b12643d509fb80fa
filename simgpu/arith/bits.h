#pragma once

#include <cstdint>

/// Bits moved, joined and chosen without arithmetic, one lane at a time.
namespace simgpu::arith {

template <class T>
inline T and_bits(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
inline T or_bits(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
inline T xor_bits(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
inline T not_bits(T a) {
  return static_cast<T>(~a);
}
template <class T>
inline T cnot(T a) {
  return static_cast<T>(a == 0);
}

template <class T>
inline T select(T a, T b, bool p) {
  return p ? a : b;
}
template <class T>
inline T copy(T x) {
  return x;
}

/// mov.b32 {a, b}, r and mov.b64 {a, b}, r; sources of 16 bits are already zero-extended.
inline std::uint32_t join16(std::uint32_t low, std::uint32_t high) {
  return (low & 0xFFFFU) | high << 16;
}
inline std::uint64_t join32(std::uint32_t low, std::uint32_t high) {
  return low | static_cast<std::uint64_t>(high) << 32;
}
template <unsigned kShift, class From>
inline std::uint32_t part16(From x) {
  return static_cast<std::uint32_t>(x >> kShift) & 0xFFFFU;
}
template <unsigned kShift>
inline std::uint32_t part32(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> kShift);
}
inline std::uint64_t widen(std::uint32_t x) { return x; }
/// The low bits of a register, as a Narrow, in a wider register.
template <class Narrow, class Wide>
inline Wide extend(std::uint32_t x) {
  return static_cast<Wide>(static_cast<Narrow>(x));
}

}  // namespace simgpu::arith
