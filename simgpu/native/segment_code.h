#pragma once

#include "simgpu/arith/approximate.h"
#include "simgpu/arith/bits.h"
#include "simgpu/arith/compare.h"
#include "simgpu/arith/convert.h"
#include "simgpu/arith/float32.h"
#include "simgpu/arith/float64.h"
#include "simgpu/arith/half.h"
#include "simgpu/arith/integer.h"
#include "simgpu/exec/lane_moves.h"
#include "simgpu/native/lane_vectors.h"
#include "simgpu/native/segment.h"

/// What generated text is made of: one statement for each instruction. Registers that a segment
/// writes are its local variables; they go to the register file at its end.
namespace simgpu::native {

// GCC leaves the namespace out where it spells template arguments.
using arith::Bf16;
using arith::F16;

inline constexpr std::uint32_t kAllLanes = 0xFFFFFFFFU;

/// The segment, as its function keeps it at hand.
struct Frame {
  explicit Frame(Segment& of)
      : segment(of), regs(of.regs), shared(of.shared), shared_bytes(of.shared_bytes) {}

  /// A register of the file.
  [[gnu::always_inline]] InFile operator[](std::uint32_t offset) const { return {regs + offset}; }
  template <class Register>
  [[gnu::always_inline]] Register before(std::uint32_t offset) const {
    if constexpr (std::is_same_v<Register, Predicate>) {
      return (*this)[offset];
    } else {
      const Register& values = (*this)[offset];
      return values;
    }
  }
  template <class Word>
  [[gnu::always_inline]] void keep(std::uint32_t offset, const Values<Word>& values) const {
    values.write(regs + offset);
  }
  [[gnu::always_inline]] void keep(std::uint32_t offset, Predicate value) const {
    std::memcpy(regs + offset, &value, sizeof(value));
  }

  Segment& segment;
  std::byte* const regs;
  std::byte* const shared;
  const std::uint32_t shared_bytes;
};

/// Lanes that execute a guarded instruction.
[[gnu::always_inline]] inline Predicate guard(Predicate predicate, Predicate flip) {
  return predicate ^ flip;
}
[[gnu::always_inline]] inline void count_guarded(const Frame& frame, std::uint32_t index,
                                                 Predicate lanes) {
  frame.segment.guarded_threads[index] += static_cast<unsigned>(std::popcount(lanes));
}

/// setp: what the comparison leaves in a predicate, `option` as its handler reads it.
[[gnu::always_inline]] inline Predicate joined(std::uint32_t option, Predicate compared,
                                               Predicate other) {
  return arith::join_masks(static_cast<arith::PredicateJoin>(option & 0xFFU), compared, other);
}

// Shared memory.

/// How the lanes' addresses lie, known once for all accesses with the same base register.
struct SharedGroup {
  /// @param addresses the base register
  SIMGPU_SEGMENT_INLINE SharedGroup(const Frame& frame, const Words& addresses, std::uint32_t site,
                                    std::uint32_t index, std::uint32_t bytes) {
    const SitePattern<std::uint32_t>& pattern = frame.segment.shared_sites[site];
    alignas(64) std::uint32_t base[kWarpSize];
    addresses.write(base);
    if (!pattern.matches(base, kAllLanes)) [[unlikely]] {
      frame.segment.learn(frame.segment, index, bytes, base);
    }
    origin = base[0];
    low = pattern.low;
    high = pattern.high;
    misalignment = static_cast<std::uint32_t>(pattern.misalignment);
    shape = pattern.shape;
    wavefronts = pattern.wavefronts;
    conflicts = pattern.wavefronts - pattern.ideal;
    relative = pattern.relative.data();
  }

  /// Whether accesses from `first` to `last` bytes behind the base can be done here, those in
  /// between being aligned as the first one is. Where a sum goes beyond 32 bits, the interpreter
  /// knows what it means.
  template <unsigned kBytes>
  [[gnu::always_inline]] bool allows(const Frame& frame, std::int32_t first,
                                     std::int32_t last) const {
    const std::int64_t at = static_cast<std::int64_t>(origin) + first;
    return at + low >= 0 && static_cast<std::int64_t>(origin) + last + high <= frame.shared_bytes &&
           ((static_cast<std::uint32_t>(at) | misalignment) & (kBytes - 1)) == 0;
  }

  [[gnu::always_inline]] void count_loads(const Frame& frame, std::uint32_t loads) const {
    MemoryCounts& counts = *frame.segment.counts;
    counts.shared_load_requests += loads;
    counts.shared_load_wavefronts += std::uint64_t{loads} * wavefronts;
    counts.shared_load_conflicts += std::uint64_t{loads} * conflicts;
  }
  [[gnu::always_inline]] void count_stores(const Frame& frame, std::uint32_t stores) const {
    MemoryCounts& counts = *frame.segment.counts;
    counts.shared_store_requests += stores;
    counts.shared_store_wavefronts += std::uint64_t{stores} * wavefronts;
    counts.shared_store_conflicts += std::uint64_t{stores} * conflicts;
  }

  std::uint32_t origin = 0;
  std::int64_t low = 0, high = 1;
  std::uint32_t misalignment = 0;
  Shape shape = Shape::unknown;
  std::uint32_t wavefronts = 0, conflicts = 0;
  const std::uint32_t* relative = nullptr;
};

template <class T>
[[gnu::noinline]] void gather_each(WordOf<T>* to, const std::byte* first,
                                   const std::uint32_t* relative) {
  read_scattered<T>(to, first, relative);
}
/// A call, if only on a way that is never taken, would have the compiler keep in memory whatever
/// vectors are alive there.
template <class T>
[[gnu::always_inline]] inline void gather(WordOf<T>* to, const std::byte* first,
                                          const std::uint32_t* relative) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) >= 4) return read_scattered<T>(to, first, relative);
#endif
  gather_each<T>(to, first, relative);
}
template <class T>
[[gnu::noinline]] void scatter(std::byte* first, const std::uint32_t* relative,
                               const WordOf<T>* from) {
  write_scattered<T>(first, relative, from);
}

/// One element of each lane, kStride bytes apart where lanes lie in a row.
template <class T, unsigned kStride>
SIMGPU_SEGMENT_INLINE void load_element(const SharedGroup& group, const std::byte* from,
                                        Values<WordOf<T>>& to) {
  if (group.shape == Shape::uniform) {
    to.spread(simgpu::load_element<T>(from));
  } else if (sizeof(T) >= 4 && sizeof(T) == kStride && group.shape == Shape::consecutive) {
    to.read(from);
  } else {
    alignas(64) WordOf<T> values[kWarpSize];
    if (group.shape == Shape::consecutive) {
      read_consecutive<T, kStride>(values, from);
    } else {
      gather<T>(values, from, group.relative);
    }
    to.read(values);
  }
}

template <class T, unsigned kStride>
SIMGPU_SEGMENT_INLINE void store_element(const SharedGroup& group, std::byte* to,
                                         const Values<WordOf<T>>& from) {
  if (sizeof(T) >= 4 && sizeof(T) == kStride && group.shape == Shape::consecutive) {
    from.write(to);
    return;
  }
  alignas(64) WordOf<T> values[kWarpSize];
  from.write(values);
  if (group.shape == Shape::consecutive) {
    write_consecutive<T, kStride>(to, values);
  } else {
    scatter<T>(to, group.relative, values);
  }
}

/// @param to the elements' registers, one after the other in memory
template <unsigned kBytes, class... Register>
[[gnu::always_inline]] inline void load_shared(const Frame& frame, const SharedGroup& group,
                                               std::int32_t offset, Register&... to) {
  const std::byte* from = frame.shared + (group.origin + static_cast<std::uint32_t>(offset));
  ((load_element<Element<kBytes>, kBytes * sizeof...(to)>(group, from, to), from += kBytes), ...);
}

template <unsigned kBytes, class... Register>
[[gnu::always_inline]] inline void store_shared(const Frame& frame, const SharedGroup& group,
                                                std::int32_t offset, const Register&... from) {
  std::byte* to = frame.shared + (group.origin + static_cast<std::uint32_t>(offset));
  ((store_element<Element<kBytes>, kBytes * sizeof...(from)>(group, to, from), to += kBytes), ...);
}

}  // namespace simgpu::native
