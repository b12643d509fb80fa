#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/warp.h"

/// Registers as 32 values, and from a function of one lane to a handler of 32.
namespace simgpu {

using Word32 = std::uint32_t;
using Word64 = std::uint64_t;

/// The slot's element type for a value of type T: 32-bit words, or 64-bit ones.
template <class T>
using WordOf = std::conditional_t<sizeof(T) == 8, Word64, Word32>;

template <class T>
inline WordOf<T>* slot(const Warp& warp, std::uint32_t offset) {
  return reinterpret_cast<WordOf<T>*>(warp.regs + offset);
}
inline Word32* words(Warp& warp, std::uint32_t offset) { return slot<std::uint32_t>(warp, offset); }
inline Word64* pairs(Warp& warp, std::uint32_t offset) { return slot<std::uint64_t>(warp, offset); }
inline std::uint32_t& predicate(const Warp& warp, std::uint32_t offset) {
  return *reinterpret_cast<std::uint32_t*>(warp.regs + offset);
}
/// Of the lanes that are at `in`, those that execute it: a guard may keep others from it.
inline std::uint32_t executing_lanes(const Lowered& in, const Warp& warp) {
  if (in.guarded == nullptr) return warp.active;
  return warp.active & (predicate(warp, in.guard) ^ in.guard_flip);
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
  Source(const Warp& warp, std::uint32_t offset) : values(slot<T>(warp, offset)) {}
  T operator[](unsigned lane) const { return from_word<T>(values[lane]); }
};
template <>
struct Source<bool> {
  std::uint32_t bits;
  Source(const Warp& warp, std::uint32_t offset) : bits(predicate(warp, offset)) {}
  bool operator[](unsigned lane) const { return (bits >> lane) & 1U; }
};

/// Sets the bits of the executing lanes, and keeps the others'.
inline void write_predicate(Warp& warp, std::uint32_t offset, std::uint32_t bits) {
  std::uint32_t& p = predicate(warp, offset);
  p = (p & ~warp.mask) | (bits & warp.mask);
}

/// Copies the lanes of `mask` from `from` to `to`.
void blend(Word32* to, const Word32* from, std::uint32_t mask);
void blend(Word64* to, const Word64* from, std::uint32_t mask);

/// Gives the lanes of warp.mask the values of `kept`, a copy of such a slot.
void write_slot(Warp& warp, const SlotRange& slot, const std::byte* kept);

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

/// Writes 32 results to `offset` for the executing lanes. All sources are read before a lane is
/// written only within that lane: results must not depend on other lanes.
template <auto F, class R, class... S>
inline void store_lanes(Warp& warp, std::uint32_t offset, S... sources) {
  if constexpr (std::is_same_v<R, bool>) {
    write_predicate(warp, offset, evaluate_bits<F>(sources...));
  } else {
    // One loop for both cases: twice as many are most of what the opcodes take to compile.
    alignas(64) WordOf<R> kept[kWarpSize];
    evaluate<F, R>(warp.full() ? slot<R>(warp, offset) : kept, sources...);
    if (!warp.full()) blend(slot<R>(warp, offset), kept, warp.mask);
  }
}

namespace detail {

template <class T>
constexpr char kind_letter() {
  if constexpr (std::is_same_v<T, bool>)
    return 'p';
  else if constexpr (std::is_same_v<T, float>)
    return 'f';
  else if constexpr (std::is_same_v<T, double>)
    return 'd';
  else if constexpr (sizeof(T) == 8)
    return 'l';
  else
    return 'i';
}

template <auto F, class R, class... A>
struct LaneHandler {
  static const Lowered* run(const Lowered* in, Warp& warp) {
    const std::array<std::uint32_t, 4> operands{in->a, in->b, in->c, in->d};
    return apply(in, warp, operands, std::index_sequence_for<A...>{});
  }
  template <std::size_t... I>
  static const Lowered* apply(const Lowered* in, Warp& warp,
                              const std::array<std::uint32_t, 4>& operands,
                              std::index_sequence<I...>) {
    store_lanes<F, R>(warp, in->dst, Source<A>(warp, operands[I])...);
    return in + 1;
  }
  static constexpr std::array<char, 2 + sizeof...(A)> kLetters{kind_letter<R>(), ':',
                                                               kind_letter<A>()...};
  static constexpr std::string_view kSignature{kLetters.data(), kLetters.size()};
};

template <auto F, class C, class R, class... A>
LaneHandler<F, R, A...> lane_handler(R (C::*)(A...) const);
template <auto F, class R, class... A>
LaneHandler<F, R, A...> lane_function(R (*)(A...));

template <auto F>
struct Deduce {
  using type = decltype(lane_handler<F>(&decltype(F)::operator()));
};
template <auto F>
requires(std::is_pointer_v<decltype(F)>) struct Deduce<F> {
  using type = decltype(lane_function<F>(F));
};

}  // namespace detail

/// The handler of an instruction whose lanes do not depend on each other: F(a, b, …) is one lane.
/// bool stands for predicates, everything else for a register of its size.
template <auto F>
Implementation lanes() {
  using Handler = typename detail::Deduce<F>::type;
  return {&Handler::run, Handler::kSignature};
}

}  // namespace simgpu
