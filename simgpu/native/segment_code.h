#pragma once

#include <utility>

#include "simgpu/arith/approximate.h"
#include "simgpu/arith/bits.h"
#include "simgpu/arith/compare.h"
#include "simgpu/arith/convert.h"
#include "simgpu/arith/float32.h"
#include "simgpu/arith/float64.h"
#include "simgpu/arith/half.h"
#include "simgpu/arith/integer.h"
#include "simgpu/exec/lane_moves.h"
#include "simgpu/exec/lane_values.h"
#include "simgpu/native/segment.h"

/// What generated text is made of: one call for each instruction. Registers stay in the register
/// file; within a segment the compiler keeps in vector registers what it can.
namespace simgpu::native {

#ifndef SIMGPU_SEGMENT_INLINE  // a large kernel's text sets it to noinline
#define SIMGPU_SEGMENT_INLINE [[gnu::always_inline]] inline
#endif

// GCC leaves the namespace out where it spells template arguments.
using arith::Bf16;
using arith::F16;

inline constexpr std::uint32_t kAllLanes = 0xFFFFFFFFU;

/// The segment, with counts of its own that go to the engine's at the end, and before anything that
/// may fail: a failed launch is counted up to the instruction that failed.
struct Frame {
  explicit Frame(Segment& of)
      : segment(of), regs(of.regs), shared(of.shared), shared_bytes(of.shared_bytes) {}

  void hand_in() {
    MemoryCounts& all = *segment.counts;
    all.shared_load_requests += counts.shared_load_requests;
    all.shared_load_wavefronts += counts.shared_load_wavefronts;
    all.shared_load_conflicts += counts.shared_load_conflicts;
    all.shared_store_requests += counts.shared_store_requests;
    all.shared_store_wavefronts += counts.shared_store_wavefronts;
    all.shared_store_conflicts += counts.shared_store_conflicts;
    counts = {};
  }
  void interpret(std::uint32_t index) {
    hand_in();
    segment.interpret(segment, index);
  }

  Segment& segment;
  std::byte* const regs;
  std::byte* const shared;
  const std::uint32_t shared_bytes;
  MemoryCounts counts;
};

/// Whether a guarded instruction is executed by all lanes. If not, the interpreter does it.
[[gnu::always_inline]] inline bool guarded(Frame& frame, std::uint32_t index, std::uint32_t guard,
                                           std::uint32_t flip) {
  if ((predicate(frame, guard) ^ flip) != kAllLanes) {
    frame.interpret(index);
    return false;
  }
  frame.segment.guarded_threads[index] += kWarpSize;
  return true;
}

template <auto F>
struct Lanes;
template <class R, class... A, R (*F)(A...)>
struct Lanes<F> {
  template <class... Offset>
  SIMGPU_SEGMENT_INLINE static void run(std::byte* registers, std::uint32_t dst,
                                        Offset... operands) {
    struct {
      std::byte* regs;
    } const file{registers};
    if constexpr (std::is_same_v<R, bool>) {
      predicate(file, dst) = evaluate_bits<F>(Source<A>(file, operands)...);
    } else {
      evaluate<F, R>(slot<R>(file, dst), Source<A>(file, operands)...);
    }
  }
  SIMGPU_SEGMENT_INLINE static std::uint32_t bits(std::byte* registers, std::uint32_t a,
                                                  std::uint32_t b) requires(sizeof...(A) == 2) {
    struct {
      std::byte* regs;
    } const file{registers};
    return evaluate_lanes(std::make_index_sequence<2>{}, file, a, b);
  }

 private:
  template <class File, std::size_t... I>
  [[gnu::always_inline]] static std::uint32_t evaluate_lanes(std::index_sequence<I...>,
                                                             const File& file, std::uint32_t a,
                                                             std::uint32_t b) {
    const std::uint32_t offsets[] = {a, b};
    return evaluate_bits<F>(Source<A>(file, offsets[I])...);
  }
};

template <auto F, class... Offset>
[[gnu::always_inline]] inline void lanes(Frame& frame, std::uint32_t dst, Offset... operands) {
  Lanes<F>::run(frame.regs, dst, operands...);
}

/// setp: option as its handler reads it.
template <auto F>
[[gnu::always_inline]] inline void compare(Frame& frame, std::uint32_t option, std::uint32_t dst,
                                           std::uint32_t dst2, std::uint32_t a, std::uint32_t b,
                                           std::uint32_t c) {
  const std::uint32_t bits = Lanes<F>::bits(frame.regs, a, b);
  const auto how = static_cast<arith::PredicateJoin>(option & 0xFFU);
  const std::uint32_t other = how == arith::PredicateJoin::none ? 0 : predicate(frame, c);
  predicate(frame, dst) = arith::join_masks(how, bits, other);
  if (option & 0x100U) predicate(frame, dst2) = arith::join_masks(how, ~bits, other);
}

template <auto F, class... Offset>
[[gnu::always_inline]] inline void masks(Frame& frame, std::uint32_t dst, Offset... operands) {
  predicate(frame, dst) = F(predicate(frame, operands)...);
}

// Shared memory.

/// How the lanes' addresses lie, known once for all accesses with the same base register.
struct SharedGroup {
  SharedGroup(Frame& frame, std::uint32_t base, std::uint32_t site, std::uint32_t index,
              std::uint32_t bytes) {
    const SitePattern<std::uint32_t>& pattern = frame.segment.shared_sites[site];
    const std::uint32_t* const addresses = slot<std::uint32_t>(frame, base);
    if (!pattern.matches(addresses, kAllLanes)) [[unlikely]] {
      frame.segment.learn(frame.segment, index, bytes);
    }
    origin = addresses[0];
    low = pattern.low;
    high = pattern.high;
    misalignment = static_cast<std::uint32_t>(pattern.misalignment);
    shape = pattern.shape;
    wavefronts = pattern.wavefronts;
    conflicts = pattern.wavefronts - pattern.ideal;
    relative = pattern.relative.data();
  }

  /// Whether an access `offset` bytes behind the base is one that can be done here.
  template <unsigned kBytes>
  bool allows(const Frame& frame, std::uint32_t offset) const {
    const std::uint32_t first = origin + offset;
    return static_cast<std::int64_t>(first) + low >= 0 &&
           static_cast<std::int64_t>(first) + high <= frame.shared_bytes &&
           ((first | misalignment) & (kBytes - 1)) == 0;
  }

  std::uint32_t origin = 0;
  std::int64_t low = 0, high = 1;
  std::uint32_t misalignment = 0;
  Shape shape = Shape::unknown;
  std::uint32_t wavefronts = 0, conflicts = 0;
  const std::uint32_t* relative = nullptr;
};

template <class T>
[[gnu::noinline]] void gather(WordOf<T>* to, const std::byte* first,
                              const std::uint32_t* relative) {
  read_scattered<T>(to, first, relative);
}
template <class T>
[[gnu::noinline]] void scatter(std::byte* first, const std::uint32_t* relative,
                               const WordOf<T>* from) {
  write_scattered<T>(first, relative, from);
}

/// @param slots of the elements, one after the other in memory
template <unsigned kBytes, class... Offset>
SIMGPU_SEGMENT_INLINE void load_shared(Frame& frame, const SharedGroup& group, std::uint32_t offset,
                                       std::uint32_t index, Offset... slots) {
  using T = Element<kBytes>;
  constexpr unsigned kAll = kBytes * sizeof...(slots);
  if (!group.allows<kAll>(frame, offset)) [[unlikely]]
    return frame.interpret(index);
  ++frame.counts.shared_load_requests;
  frame.counts.shared_load_wavefronts += group.wavefronts;
  frame.counts.shared_load_conflicts += group.conflicts;
  const std::byte* from = frame.shared + (group.origin + offset);
  const auto each = [&](auto read) { ((read(slot<T>(frame, slots), from), from += kBytes), ...); };
  if (group.shape == Shape::uniform) {
    each([](WordOf<T>* to, const std::byte* at) { read_uniform<T>(to, at); });
  } else if (group.shape == Shape::consecutive) {
    each([](WordOf<T>* to, const std::byte* at) { read_consecutive<T, kAll>(to, at); });
  } else {
    each([&](WordOf<T>* to, const std::byte* at) { gather<T>(to, at, group.relative); });
  }
}

template <unsigned kBytes, class... Offset>
SIMGPU_SEGMENT_INLINE void store_shared(Frame& frame, const SharedGroup& group,
                                        std::uint32_t offset, std::uint32_t index,
                                        Offset... slots) {
  using T = Element<kBytes>;
  constexpr unsigned kAll = kBytes * sizeof...(slots);
  if (!group.allows<kAll>(frame, offset)) [[unlikely]]
    return frame.interpret(index);
  ++frame.counts.shared_store_requests;
  frame.counts.shared_store_wavefronts += group.wavefronts;
  frame.counts.shared_store_conflicts += group.conflicts;
  std::byte* to = frame.shared + (group.origin + offset);
  const auto each = [&](auto write) { ((write(to, slot<T>(frame, slots)), to += kBytes), ...); };
  if (group.shape == Shape::consecutive) {
    each([](std::byte* at, const WordOf<T>* from) { write_consecutive<T, kAll>(at, from); });
  } else {
    each([&](std::byte* at, const WordOf<T>* from) { scatter<T>(at, group.relative, from); });
  }
}

}  // namespace simgpu::native
