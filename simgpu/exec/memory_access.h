#pragma once

#include <array>
#include <cstring>

#include "simgpu/exec/lane_moves.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/thread_block.h"

/// Loads and stores of a warp: find the shape of the access, check it, count it, move the bytes.
namespace simgpu {

using LaneAddresses = std::array<std::uint64_t, kWarpSize>;

// Why an access cannot be done; each ends the launch.
[[noreturn]] void fail_shared(const Lowered* in, const Warp& warp, AccessKind kind, unsigned bytes,
                              const LaneAddresses& addresses);
[[noreturn]] void fail_local(const Lowered* in, const Warp& warp, AccessKind kind, unsigned bytes,
                             unsigned lane, std::uint64_t address);
/// @param of_constants the access is to constant memory, and may go nowhere else
[[noreturn]] void fail_global(const Lowered* in, const Warp& warp, AccessKind kind, unsigned bytes,
                              const LaneAddresses& addresses, bool of_constants = false);

/// Checks a global access that the site's known allocation does not cover, and remembers the
/// allocation.
void check_global(const Lowered* in, Warp& warp, SitePattern<std::uint64_t>& site, AccessKind kind,
                  unsigned bytes, const LaneAddresses& addresses, bool of_constants = false);
/// Keeps the pages an access will change, for a launch that may be repeated.
void save_pages(Warp& warp, const SitePattern<std::uint64_t>& site, unsigned bytes,
                const LaneAddresses& addresses);

template <class Word>
inline void add_offset(LaneAddresses& addresses, const Word* base, std::int64_t offset) {
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    addresses[lane] = static_cast<Word>(base[lane] + static_cast<Word>(offset));
  }
}

/// An access whose bounds and alignment have been checked: where the first lane's bytes are, and
/// how the others lie.
template <class Word>
struct Prepared {
  const SitePattern<Word>& site;
  std::byte* first;
  std::byte* lane(unsigned i) const {
    return first + static_cast<std::make_signed_t<Word>>(site.relative[i]);
  }
};

/// Keeps the addresses of base + offset as the site's first access.
void note_first(const Lowered* in, Warp& warp, const LaneAddresses& addresses, unsigned bytes,
                bool is_shared);

/// Remembers the pattern of an access to shared memory at base + offset.
void learn_shared(const Lowered* in, Warp& warp, AccessKind kind, const std::uint32_t* base,
                  std::int64_t offset, unsigned bytes);

/// In the option of a load with kIsStrong: L2 alone caches it (.cg, .cv), whatever it orders.
inline constexpr std::uint8_t kSkipsL1 = 128;

/// What an access orders (WarpAccess::order): behind the lowest bit of an atomic's option, and the
/// option of a load or store with kIsStrong.
template <AccessKind kKind, bool kIsStrong>
inline std::uint8_t order_of(const Lowered* in) {
  if constexpr (kIsStrong) return static_cast<std::uint8_t>(in->option & ~kSkipsL1);
  if constexpr (kKind == AccessKind::atomic) return static_cast<std::uint8_t>(in->option >> 1);
  return 0;
}

/// Checks and counts an access to shared memory.
template <unsigned kBytes, AccessKind kKind, bool kIsStrong = false>
inline Prepared<std::uint32_t> prepare_shared(const Lowered* in, Warp& warp,
                                              const std::uint32_t* base, std::int64_t offset,
                                              const std::uint8_t* values) {
  ThreadBlock& block = *warp.block;
  SitePattern<std::uint32_t>& site = block.sites.shared(in);
  if (!site.matches(base, warp.mask)) [[unlikely]]
    learn_shared(in, warp, kKind, base, offset, kBytes);
  const std::uint32_t origin = base[site.first] + static_cast<std::uint32_t>(offset);
  const bool inside = static_cast<std::int64_t>(origin) + site.low >= 0 &&
                      static_cast<std::int64_t>(origin) + site.high <= block.memory.shared_bytes();
  const bool aligned = ((origin | site.misalignment) & (kBytes - 1)) == 0;
  if (!inside || !aligned) [[unlikely]] {
    LaneAddresses addresses;
    add_offset(addresses, base, offset);
    fail_shared(in, warp, kKind, kBytes, addresses);
  }
  MemoryCounts& counts = block.counted;
  AccessCounts& own = block.sites.counts(in);
  ++own.bank_requests;
  if constexpr (kKind != AccessKind::atomic) {
    own.wavefronts += site.wavefronts;
    own.conflicts += site.wavefronts - site.ideal;
  }
  if constexpr (kKind == AccessKind::load) {
    ++counts.shared_load_requests;
    counts.shared_load_wavefronts += site.wavefronts;
    counts.shared_load_conflicts += site.wavefronts - site.ideal;
  } else if constexpr (kKind == AccessKind::store || kKind == AccessKind::copy) {
    ++counts.shared_store_requests;
    counts.shared_store_wavefronts += site.wavefronts;
    counts.shared_store_conflicts += site.wavefronts - site.ideal;
  } else {
    ++counts.shared_atomic_requests;  // their wavefronts depend on the operation
  }
  if (BlockCheckers* checkers = block.checkers.get()) {
    LaneAddresses addresses;
    add_offset(addresses, base, offset);
    checkers->shared({kKind, kBytes, warp.index, in->index, warp.mask, &addresses, values, false,
                      site.shape, order_of<kKind, kIsStrong>(in)});
  }
  return {site, block.memory.shared() + origin};
}

/// Counts a load by generic addresses, which waits for what it turns out to read.
inline void note_generic_load(Warp& warp, bool is_global) {
  MemoryCounts& counts = warp.block->counted;
  ++counts.generic_load_requests;
  counts.generic_global_load_requests += is_global ? 1 : 0;
}

/// Counts a load of constants that reads so many different words.
inline void note_constant_load(const Lowered* in, Warp& warp, std::uint32_t words) {
  MemoryCounts& counts = warp.block->counted;
  ++counts.constant_load_requests;
  counts.constant_load_wavefronts += words;
  AccessCounts& own = warp.block->sites.counts(in);
  ++own.bank_requests;
  own.wavefronts += words;
  own.conflicts += words - 1;
}

/// Has the processor fetch what the next warp will ask for, if that is as far away as this access
/// is from the one before. Rows of a matrix lie too far apart for it to see that by itself.
template <unsigned kBytes>
inline void fetch_next(SitePattern<std::uint64_t>& site, std::uint64_t origin,
                       const std::byte* first) {
  constexpr std::uint64_t kHostLine = 64;
  const std::uint64_t step = origin - site.last_origin;
  site.last_origin = origin;
  const std::uint64_t next = origin + step - site.known_low;
  if (step == 0 || next >= site.known_high - site.known_low) return;
  const std::uint64_t bytes = site.shape == Shape::consecutive ? kBytes * kWarpSize : 1;
  for (std::uint64_t at = 0; at < bytes; at += kHostLine) __builtin_prefetch(first + step + at);
}

/// Checks and counts an access to global memory (kTraffic) or a constant bank.
template <unsigned kBytes, AccessKind kKind, bool kTraffic, bool kIsStrong = false>
inline Prepared<std::uint64_t> prepare_global(const Lowered* in, Warp& warp,
                                              const std::uint64_t* base, std::int64_t offset,
                                              const std::uint8_t* values,
                                              bool bypasses_l1 = false) {
  ThreadBlock& block = *warp.block;
  SitePattern<std::uint64_t>& site = block.sites.global(in);
  if (!site.matches(base, warp.mask)) [[unlikely]] {
    site.learn(base, warp.mask, kBytes);
    if (block.sites.lacks_first(in)) [[unlikely]] {
      LaneAddresses addresses;
      add_offset(addresses, base, offset);
      note_first(in, warp, addresses, kBytes, false);
    }
  }
  const std::uint64_t origin = base[site.first] + static_cast<std::uint64_t>(offset);
  const std::uint64_t low = origin + static_cast<std::uint64_t>(site.low);
  const std::uint64_t high = origin + static_cast<std::uint64_t>(site.high);
  const bool inside =
      low >= site.known_low && high <= site.known_high && low < high &&
      (kTraffic ? kKind == AccessKind::load || site.known_writable : !site.known_writable);
  const bool aligned = ((origin | site.misalignment) & (kBytes - 1)) == 0;
  if (!inside || !aligned) [[unlikely]] {
    LaneAddresses addresses;
    add_offset(addresses, base, offset);
    if (!aligned) fail_global(in, warp, kKind, kBytes, addresses, !kTraffic);
    check_global(in, warp, site, kKind, kBytes, addresses, !kTraffic);
  }
  std::byte* const first = block.launch.memory.host(origin);
  fetch_next<kBytes>(site, origin, first);
  if constexpr (kTraffic) {
    constexpr bool kIsPlainLoad = kKind == AccessKind::load && !kIsStrong;
    if constexpr (kKind == AccessKind::load) warp.begin_load(in);
    const bool is_left_out = in->result_use == ResultUse::never;
    if (is_left_out && block.checkers == nullptr) return {site, first};
    const LaneRange range{kBytes,    warp.index, in->index,  site.shape,
                          warp.mask, origin,     warp.slots, warp.time()};
    if (kIsPlainLoad && !bypasses_l1 && block.checkers == nullptr && block.traffic.load(range)) {
      return {site, first};
    }
    const bool skips_l1 = kKind == AccessKind::load && kIsStrong && (in->option & kSkipsL1) != 0;
    LaneAddresses addresses;
    add_offset(addresses, base, offset);
    const WarpAccess access{.kind = kKind,
                            .bytes = kBytes,
                            .warp = warp.index,
                            .pc = in->index,
                            .mask = warp.mask,
                            .address = &addresses,
                            .values = values,
                            .bypasses_l1 = bypasses_l1 || skips_l1,
                            .shape = site.shape,
                            .order = order_of<kKind, kIsStrong>(in),
                            .slots = warp.slots,
                            .time = warp.time()};
    if (!is_left_out) block.traffic.global(access);
    // Before the checkers, which mark what is stored: a repeated launch must not find it marked.
    if (kKind != AccessKind::load && block.launch.undo) {
      save_pages(warp, site, kBytes, addresses);
    }
    if (BlockCheckers* checkers = block.checkers.get()) checkers->global(access);
  }
  return {site, first};
}

/// Slots of a vector access: the one operand, or the list.
inline std::uint32_t element_slot(const Lowered* in, const Warp& warp, unsigned count, unsigned i,
                                  std::uint32_t only) {
  return count == 1 ? only : warp.lists[in->list + i];
}

/// Moves kCount elements of kBytes per lane from memory to registers.
template <unsigned kBytes, unsigned kCount, class Word>
inline void read_lanes(const Lowered* in, Warp& warp, const Prepared<Word>& from) {
  using T = Element<kBytes>;
  const std::uint32_t mask = warp.mask;
  for (unsigned i = 0; i < kCount; ++i) {
    WordOf<T>* const to = slot<T>(warp, element_slot(in, warp, kCount, i, in->dst));
    const std::byte* const first = from.first + i * kBytes;
    if (from.site.shape == Shape::consecutive) {
      read_consecutive<T, kBytes * kCount>(to, first);
    } else if (from.site.shape == Shape::uniform && warp.full()) {
      read_uniform<T>(to, first);
    } else if (mask == 0xFFFFFFFFU) {
      read_scattered<T>(to, first, from.site.relative.data());
    } else {
      for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        to[lane] = load_element<T>(from.lane(lane) + i * kBytes);
      }
    }
  }
}

/// Moves kCount elements of kBytes per lane from registers to memory; of lanes that store to one
/// place, the highest wins.
template <unsigned kBytes, unsigned kCount, class Word>
inline void write_lanes(const Lowered* in, Warp& warp, const Prepared<Word>& to) {
  using T = Element<kBytes>;
  for (unsigned i = 0; i < kCount; ++i) {
    const WordOf<T>* const from = slot<T>(warp, element_slot(in, warp, kCount, i, in->b));
    if (to.site.shape == Shape::consecutive) {
      write_consecutive<T, kBytes * kCount>(to.first + i * kBytes, from);
    } else {
      for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        store_element<T>(to.lane(lane) + i * kBytes, static_cast<T>(from[lane]));
      }
    }
  }
}

/// The values of a store, lane after lane, for the race checker; nothing to do when it is off.
template <unsigned kBytes, unsigned kCount>
struct StoredValues {
  alignas(64) std::array<std::uint8_t, std::size_t{kWarpSize} * kBytes * kCount> bytes;

  const std::uint8_t* pack(const Lowered* in, Warp& warp) {
    if (warp.block->checkers == nullptr) return nullptr;
    using T = Element<kBytes>;
    for (unsigned i = 0; i < kCount; ++i) {
      const WordOf<T>* const from = slot<T>(warp, element_slot(in, warp, kCount, i, in->b));
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const T value = static_cast<T>(from[lane]);
        std::memcpy(&bytes[(std::size_t{lane} * kCount + i) * kBytes], &value, kBytes);
      }
    }
    return bytes.data();
  }
};

/// The slot of a 32-bit or 64-bit address register.
inline const std::uint32_t* addresses32(Warp& warp, std::uint32_t offset) {
  return reinterpret_cast<const std::uint32_t*>(warp.regs + offset);
}
inline const std::uint64_t* addresses64(Warp& warp, std::uint32_t offset) {
  return reinterpret_cast<const std::uint64_t*>(warp.regs + offset);
}

/// After a global access another warp may get its turn.
inline const Lowered* after_global(const Lowered* in, Warp& warp) {
  if (const std::uint64_t wait = warp.block->traffic.take_wait(); wait != 0) {
    warp.end_load(in, wait);
  }
  if (--warp.memory_quantum > 0) return in + 1;
  warp.resume = in + 1;
  return nullptr;
}

/// Which lanes of generic addresses point to shared and local memory.
struct GenericLanes {
  std::uint32_t shared = 0, local = 0;
};
inline GenericLanes sort_generic(const LaneAddresses& addresses, std::uint32_t mask) {
  GenericLanes lanes;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const bool shared = addresses[lane] - kSharedWindow < kWindowBytes;
    const bool local = addresses[lane] - kLocalWindow < kWindowBytes;
    lanes.shared |= static_cast<std::uint32_t>(shared) << lane;
    lanes.local |= static_cast<std::uint32_t>(local) << lane;
  }
  lanes.shared &= mask;
  lanes.local &= mask;
  return lanes;
}
/// Offsets in shared memory of generic addresses; ones that are too large stay out of bounds.
inline std::array<std::uint32_t, kWarpSize> shared_offsets(const LaneAddresses& addresses) {
  std::array<std::uint32_t, kWarpSize> offsets;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const std::uint64_t offset = addresses[lane] - kSharedWindow;
    offsets[lane] = offset > 0xFFFFFFFFU ? 0xFFFFFFFFU : static_cast<std::uint32_t>(offset);
  }
  return offsets;
}

}  // namespace simgpu
