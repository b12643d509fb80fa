#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/counters/atomic_contention.h"
#include "simgpu/report.h"

namespace simgpu {

inline constexpr std::uint64_t kSectorBytes = 32;
inline constexpr std::uint64_t kSectorsPerLine = 4;
inline constexpr std::uint64_t kLineBytes = kSectorsPerLine * kSectorBytes;
inline constexpr std::uint64_t kWordsPerSector = 8;
inline constexpr std::uint32_t kWordBytes = 4;

/// One warp request's run of neighbouring sectors, as it goes from a block to L2.
struct TrafficEntry {
  enum class Kind : std::uint8_t {
    load,    ///< missed L1, read from L2
    touch,   ///< a load that hit L1: no traffic, but its words count for conflicts between blocks
    store,   ///< written through
    atomic,  ///< performed in L2
    strong_load,  ///< a load that other blocks' strong accesses do not race with; L1 has no part in
                  ///< it
    strong_store,  ///< likewise
    bytes,         ///< not a request: narrows the entry before it to the bytes of `byte_mask()`
  };

  std::uint32_t sector_low = 0;
  std::uint32_t pc = 0;
  std::uint16_t warp = 0;
  std::uint8_t sector_high = 0;
  std::uint8_t count = 1;     ///< sectors in the run
  std::uint8_t words = 0xff;  ///< 4-byte words touched in each of its sectors
  Kind kind = Kind::load;
  std::uint8_t lane : 5 = 0;   ///< the lane that touches the run's first word
  std::uint8_t mixes : 1 = 0;  ///< its lanes are in no order, so that words do not tell them
  std::uint8_t opens : 1 = 0;  ///< the first of its request that goes to L2
  std::uint8_t access_bytes = 4;

  /// Sector number: offset from kDeviceBase over 32.
  std::uint64_t sector() const { return std::uint64_t{sector_high} << 32 | sector_low; }
  void set_sector(std::uint64_t sector) {
    sector_low = static_cast<std::uint32_t>(sector);
    sector_high = static_cast<std::uint8_t>(sector >> 32);
  }
  std::uint32_t byte_mask() const { return sector_low; }
  /// Who touches the first word of the k-th sector of the run, of lanes in order.
  std::uint8_t lane_of_sector(std::uint32_t k) const {
    const auto words_of_each = static_cast<std::uint32_t>(std::popcount(words));
    const std::uint32_t before = k * words_of_each * kWordBytes;
    const std::uint32_t bytes = std::max<std::uint32_t>(access_bytes, 1);
    return static_cast<std::uint8_t>(std::min(lane + before / bytes, kWarpSize - 1));
  }
};
static_assert(sizeof(TrafficEntry) == 16);

/// The bytes of these words of a sector; one bit for each.
constexpr std::uint32_t bytes_of_words(std::uint32_t words) {
  std::uint32_t bytes = 0;
  for (std::uint32_t word = 0; word < kWordsPerSector; ++word) {
    if ((words >> word & 1U) != 0) bytes |= 0xfU << (kWordBytes * word);
  }
  return bytes;
}

/// What a launch did to one sector.
struct TouchedSector {
  std::uint64_t sector = 0;  ///< as in TrafficEntry
  std::uint32_t read = 0;    ///< bytes, one bit each; atomics count as reads
  std::uint32_t written = 0;
  std::uint32_t changed = 0;  ///< written ones, and those that atomics or strong stores changed
  std::uint32_t reader_pc = 0, writer_pc = 0;  ///< of one of those who did
};
/// Whether it comes to L2.
constexpr bool is_request(TrafficEntry::Kind kind) {
  return kind != TrafficEntry::Kind::touch && kind != TrafficEntry::Kind::bytes;
}
/// Whether it is a load that comes to L2.
constexpr bool is_load(TrafficEntry::Kind kind) {
  return kind == TrafficEntry::Kind::load || kind == TrafficEntry::Kind::strong_load;
}
/// Whether it orders blocks, as far as PTX's memory model lets it.
constexpr bool is_strong(TrafficEntry::Kind kind) {
  using enum TrafficEntry::Kind;
  return kind == atomic || kind == strong_load || kind == strong_store;
}

/// A strong access is as a plain one, here.
constexpr AccessKind access_kind(TrafficEntry::Kind kind) {
  using enum TrafficEntry::Kind;
  if (kind == store || kind == strong_store) return AccessKind::store;
  return kind == atomic ? AccessKind::atomic : AccessKind::load;
}

/// What one finished block did to global memory.
struct TrafficLog {
  /// Entries beyond this many are only counted: a log must not grow with the length of a kernel.
  static constexpr std::size_t kMaxEntries = std::size_t{1} << 24;

  std::uint64_t block = 0;
  std::vector<TrafficEntry> entries;
  std::uint64_t unlogged_reads = 0;  ///< sectors
  std::uint64_t unlogged_writes = 0;

  /// The bytes of each sector that an entry touches, where they are not whole words, else 0.
  std::uint32_t narrowed_bytes(std::size_t entry) const {
    const bool is_narrow =
        entry + 1 < entries.size() && entries[entry + 1].kind == TrafficEntry::Kind::bytes;
    return is_narrow ? entries[entry + 1].byte_mask() : 0;
  }

  /// Entries before this one were made visible: a fence of the whole GPU followed them, and an
  /// atomic that another block can see followed the fence.
  std::size_t released = 0;
  /// Entries from this one on came after an atomic, or an access that is as good as one.
  std::size_t acquired = kMaxEntries + 1;

  BlockAtomics atomics;

  std::uint64_t load_requests = 0, store_requests = 0, atomic_requests = 0;
  std::uint64_t load_sectors = 0, store_sectors = 0, atomic_sectors = 0;
  std::uint64_t load_bytes = 0, store_bytes = 0, atomic_bytes = 0;  ///< asked for by the lanes
  std::uint64_t l1_hit_sectors = 0;
  std::uint64_t tag_lookups = 0;  ///< distinct 128-byte lines of each request
};

/// Adds what the block asked of global memory, without what became of it in L2.
void add_requests(const TrafficLog& log, KernelCounters& counters);

}  // namespace simgpu
