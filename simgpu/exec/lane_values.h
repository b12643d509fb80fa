#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "simgpu/checkers/access.h"

/// Registers as 32 values, and functions of one lane on all of them. The interpreter's handlers and
/// native code are made of these; the text of native code holds this file, which therefore includes
/// nothing of the engine.
namespace simgpu {

using Word32 = std::uint32_t;
using Word64 = std::uint64_t;

/// The slot's element type for a value of type T: 32-bit words, or 64-bit ones.
template <class T>
using WordOf = std::conditional_t<sizeof(T) == 8, Word64, Word32>;

/// Of anything that has a register file: a Warp, or a segment of native code.
template <class T, class Registers>
inline WordOf<T>* slot(const Registers& registers, std::uint32_t offset) {
  return reinterpret_cast<WordOf<T>*>(registers.regs + offset);
}
template <class Registers>
inline std::uint32_t& predicate(const Registers& registers, std::uint32_t offset) {
  return *reinterpret_cast<std::uint32_t*>(registers.regs + offset);
}

template <class T>
inline T from_word(WordOf<T> word) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return std::bit_cast<T>(static_cast<Bits>(word));
  } else {
    return static_cast<T>(word);
  }
}

/// Values of less than 32 bits are stored zero-extended.
template <class T>
inline auto to_word(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::uint32_t>(static_cast<std::make_unsigned_t<T>>(value));
  }
}

/// A source operand: one value per lane.
template <class T>
struct Source {
  const WordOf<T>* values;
  template <class Registers>
  Source(const Registers& registers, std::uint32_t offset) : values(slot<T>(registers, offset)) {}
  T operator[](unsigned lane) const { return from_word<T>(values[lane]); }
};
template <>
struct Source<bool> {
  std::uint32_t bits;
  template <class Registers>
  Source(const Registers& registers, std::uint32_t offset) : bits(predicate(registers, offset)) {}
  bool operator[](unsigned lane) const { return (bits >> lane) & 1U; }
};

template <auto F, class R, class... S>
[[gnu::always_inline]] inline void evaluate(WordOf<R>* out, S... sources) {
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kWarpSize; ++lane) out[lane] = to_word<R>(F(sources[lane]...));
}

template <auto F, class... S>
[[gnu::always_inline]] inline std::uint32_t evaluate_bits(S... sources) {
  std::uint32_t bits = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    bits |= static_cast<std::uint32_t>(F(sources[lane]...)) << lane;
  }
  return bits;
}

}  // namespace simgpu
