#pragma once

#include <cstdint>
#include <span>

#include "simgpu/counters/constant_words.h"
#include "simgpu/exec/memory_access.h"

/// Loads and stores where no other thread sees them: local and .param memory, and the kernel's
/// parameters. Each class has run<kind, is_strong>, as those of memory.cpp.
namespace simgpu {

/// Memory of one thread's own: local variables, and the .param space of calls.
template <unsigned kBytes, unsigned kCount, AccessKind kKind, class Base>
inline void move_own(const Lowered* in, Warp& warp, const LaneAddresses& addresses,
                     std::uint32_t limit, Base base) {
  using T = Element<kBytes>;
  constexpr unsigned kAll = kBytes * kCount;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t address = addresses[lane];
    if (address > limit || address + kAll > limit || address % kAll != 0) {
      fail_local(in, warp, kKind, kAll, lane, address);
    }
    std::byte* const at = base(lane) + address;
    for (unsigned i = 0; i < kCount; ++i) {
      if constexpr (kKind == AccessKind::load) {
        slot<T>(warp, element_slot(in, warp, kCount, i, in->dst))[lane] =
            load_element<T>(at + i * kBytes);
      } else {
        const auto value = slot<T>(warp, element_slot(in, warp, kCount, i, in->b))[lane];
        store_element<T>(at + i * kBytes, static_cast<T>(value));
      }
    }
  }
}

template <unsigned kBytes, unsigned kCount>
struct Local {
  template <AccessKind kKind>
  static void access(const Lowered* in, Warp& warp, const LaneAddresses& addresses) {
    ThreadBlock& block = *warp.block;
    move_own<kBytes, kCount, kKind>(
        in, warp, addresses, block.memory.local_bytes(),
        [&](unsigned lane) { return block.memory.local(warp.index, lane); });
    count<kKind>(in, warp, addresses);
    if (BlockCheckers* checkers = block.checkers.get()) {
      checkers->local(
          {kKind, kBytes * kCount, warp.index, in->index, warp.mask, &addresses, nullptr, false});
    }
  }
  template <AccessKind kKind, bool kIsStrong>
  static const Lowered* run(const Lowered* in, Warp& warp) {
    LaneAddresses addresses;
    add_offset(addresses, addresses32(warp, in->a), in->immediate);
    access<kKind>(in, warp, addresses);
    if constexpr (kKind == AccessKind::load) return warp.block->undefined.after_load(in, warp);
    return in + 1;
  }

 private:
  template <AccessKind kKind>
  static void count(const Lowered* in, Warp& warp, const LaneAddresses& addresses) {
    const LocalMemoryUse::Request request =
        warp.block->memory.local_use().access(warp.index, warp.mask, addresses, kBytes * kCount);
    MemoryCounts& counts = warp.block->counted;
    AccessCounts& own = warp.block->sites.counts(in);
    ++own.requests;
    own.sectors += request.sectors;
    own.lines += request.lines;
    constexpr bool kLoads = kKind == AccessKind::load;
    ++(kLoads ? counts.local_load_requests : counts.local_store_requests);
    (kLoads ? counts.local_load_sectors : counts.local_store_sectors) += request.sectors;
    counts.local_tag_lookups += request.lines;
    counts.local_touched_sectors += request.new_sectors;
  }
};

/// .param space of inlined calls.
template <unsigned kBytes, unsigned kCount>
struct Frame {
  template <AccessKind kKind, bool kIsStrong>
  static const Lowered* run(const Lowered* in, Warp& warp) {
    ThreadBlock& block = *warp.block;
    LaneAddresses addresses;
    add_offset(addresses, addresses32(warp, in->a), in->immediate);
    move_own<kBytes, kCount, kKind>(
        in, warp, addresses, block.memory.frame_bytes(),
        [&](unsigned lane) { return block.memory.frame(warp.index, lane); });
    return in + 1;
  }
};

/// The kernel's own parameters.
template <unsigned kBytes, unsigned kCount>
struct Parameter {
  using T = Element<kBytes>;
  static constexpr unsigned kAll = kBytes * kCount;

  template <AccessKind, bool>
  static const Lowered* run(const Lowered* in, Warp& warp) {
    const std::span<const std::byte> parameters = warp.block->launch.request.parameters;
    LaneAddresses addresses;
    add_offset(addresses, addresses32(warp, in->a), in->immediate);
    if (warp.mask == 0xFFFFFFFFU && all_equal(addresses) &&
        addresses[0] + kAll <= parameters.size()) {
      for (unsigned i = 0; i < kCount; ++i) {
        read_uniform<T>(slot<T>(warp, element_slot(in, warp, kCount, i, in->dst)),
                        parameters.data() + addresses[0] + i * kBytes);
      }
      return in + 1;
    }
    each_lane(in, warp, addresses, parameters);
    // What all lanes read is an operand of the instructions that use it.
    if (const std::uint32_t words = constant_words(warp.mask, addresses, kAll); words > 1) {
      note_constant_load(in, warp, words);
    }
    return in + 1;
  }

 private:
  /// A parameter's address is mostly written in the program, the same for all lanes.
  static bool all_equal(const LaneAddresses& addresses) {
    std::uint64_t difference = 0;
    for (const std::uint64_t address : addresses) difference |= address ^ addresses[0];
    return difference == 0;
  }

  static void each_lane(const Lowered* in, Warp& warp, const LaneAddresses& addresses,
                        std::span<const std::byte> parameters) {
    for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(left));
      if (addresses[lane] + kAll > parameters.size()) {
        fail_local(in, warp, AccessKind::load, kAll, lane, addresses[lane]);
      }
      for (unsigned i = 0; i < kCount; ++i) {
        slot<T>(warp, element_slot(in, warp, kCount, i, in->dst))[lane] =
            load_element<T>(parameters.data() + addresses[lane] + i * kBytes);
      }
    }
  }
};

}  // namespace simgpu
