#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "simgpu/exec/lane_values.h"

/// Registers of a segment of native code: 32 values that live in vector registers of the processor,
/// and the functions of simgpu/arith on them.
namespace simgpu::native {

#ifndef SIMGPU_SEGMENT_INLINE  // a large kernel's text sets it to noinline
#define SIMGPU_SEGMENT_INLINE [[gnu::always_inline]] inline
#endif

#if defined(__AVX512F__)
inline constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t kVectorBytes = 32;
#else
inline constexpr std::size_t kVectorBytes = 16;
#endif

/// One value for each lane. A structure of vectors and not an array, so that the compiler takes it
/// apart and keeps it in registers even where branches meet.
template <class Word>
struct [[gnu::may_alias]] Values {
  static constexpr std::size_t kLanes = kVectorBytes / sizeof(Word);  ///< of one vector
  static constexpr std::size_t kParts = kWarpSize / kLanes;
  typedef Word Vector [[gnu::vector_size(kVectorBytes)]];
  typedef Word Anywhere [[gnu::vector_size(kVectorBytes), gnu::aligned(1), gnu::may_alias]];
  using Parts = std::make_index_sequence<kParts>;

  Vector part[kParts];

  [[gnu::always_inline]] void read(const void* from) { read(from, Parts{}); }
  [[gnu::always_inline]] void write(void* to) const { write(to, Parts{}); }
  [[gnu::always_inline]] void spread(Word value) { spread(value, Parts{}); }

 private:
  template <std::size_t... I>
  [[gnu::always_inline]] void read(const void* from, std::index_sequence<I...>) {
    ((part[I] = static_cast<const Anywhere*>(from)[I]), ...);
  }
  template <std::size_t... I>
  [[gnu::always_inline]] void write(void* to, std::index_sequence<I...>) const {
    ((static_cast<Anywhere*>(to)[I] = part[I]), ...);
  }
  template <std::size_t... I>
  [[gnu::always_inline]] void spread(Word value, std::index_sequence<I...>) {
    ((part[I] = Vector{} + value), ...);
  }
};
using Words = Values<Word32>;
using Pairs = Values<Word64>;
using Predicate = Word32;

/// A register that a segment only reads: it stays where it is in the register file.
struct InFile {
  const std::byte* at;
  template <class Word>
  [[gnu::always_inline]] operator const Values<Word>&() const {
    return *reinterpret_cast<const Values<Word>*>(at);
  }
  [[gnu::always_inline]] operator Predicate() const {
    Predicate value = 0;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
};

template <class T>
using RegisterOf = std::conditional_t<std::is_same_v<T, bool>, Predicate, Values<WordOf<T>>>;

template <class T>
using OperandOf = std::conditional_t<std::is_same_v<T, bool>, Predicate, const RegisterOf<T>&>;

/// A register as the source of a function of one lane.
template <class T>
struct LaneSource {
  alignas(64) WordOf<T> values[kWarpSize];
  [[gnu::always_inline]] explicit LaneSource(const Values<WordOf<T>>& from) { from.write(values); }
  [[gnu::always_inline]] T operator[](unsigned lane) const { return from_word<T>(values[lane]); }
};
template <>
struct LaneSource<bool> {
  Predicate bits;
  [[gnu::always_inline]] explicit LaneSource(Predicate from) : bits(from) {}
  [[gnu::always_inline]] bool operator[](unsigned lane) const { return (bits >> lane) & 1U; }
};

template <auto F>
struct LaneFunction;
template <class R, class... A, R (*F)(A...)>
struct LaneFunction<F> {
  SIMGPU_SEGMENT_INLINE static RegisterOf<R> run(OperandOf<A>... operands) {
    if constexpr (std::is_same_v<R, bool>) {
      return evaluate_bits<F>(LaneSource<A>(operands)...);
    } else {
      alignas(64) WordOf<R> results[kWarpSize];
      evaluate<F, R>(results, LaneSource<A>(operands)...);
      RegisterOf<R> result;
      result.read(results);
      return result;
    }
  }
};

/// F of each lane's operands.
template <auto F, class... Operand>
[[gnu::always_inline]] inline auto lanes(const Operand&... operands) {
  return LaneFunction<F>::run(operands...);
}

// What a guarded instruction leaves: its result in the lanes of `mask`, what was there before in
// the others.

template <class Word>
SIMGPU_SEGMENT_INLINE Values<Word> where(Predicate mask, const Values<Word>& result,
                                         const Values<Word>& before) {
  alignas(64) Word of_result[kWarpSize], of_before[kWarpSize], blended[kWarpSize];
  result.write(of_result);
  before.write(of_before);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    blended[lane] = (mask >> lane) & 1U ? of_result[lane] : of_before[lane];
  }
  Values<Word> values;
  values.read(blended);
  return values;
}
[[gnu::always_inline]] inline Predicate where(Predicate mask, Predicate result, Predicate before) {
  return (result & mask) | (before & ~mask);
}

}  // namespace simgpu::native
