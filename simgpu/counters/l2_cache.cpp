#include "simgpu/counters/l2_cache.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

constexpr std::uint32_t kL2Ways = 16;
/// Entries of one block's log that go to L2 before the next resident block has its turn: about what
/// the warps of a block ask for between two waits.
constexpr std::size_t kTurn = 32;

/// The sectors (4 bits) of a line in which at least one of `words` (8 bits per sector) lies.
std::uint32_t sectors_of(std::uint32_t words) {
  std::uint32_t sectors = 0;
  for (std::uint32_t i = 0; i < kSectorsPerLine; ++i) {
    if ((words >> (8 * i) & 0xffU) != 0) sectors |= 1U << i;
  }
  return sectors;
}

/// All words of `sectors`.
std::uint32_t words_in(std::uint32_t sectors) {
  std::uint32_t words = 0;
  for (std::uint32_t i = 0; i < kSectorsPerLine; ++i) {
    if ((sectors >> i & 1U) != 0) words |= 0xffU << (8 * i);
  }
  return words;
}

}  // namespace

L2Cache::L2Cache(std::uint64_t bytes) : cache_(bytes, kL2Ways) {}

void L2Cache::run_wave(std::span<const std::unique_ptr<TrafficLog>> wave) {
  std::vector<std::size_t> position(wave.size(), 0);
  bool more = true;
  while (more) {
    more = false;
    for (std::size_t i = 0; i < wave.size(); ++i) {
      const std::vector<TrafficEntry>& entries = wave[i]->entries;
      const std::size_t end = std::min(position[i] + kTurn, entries.size());
      for (; position[i] < end; ++position[i]) {
        const TrafficEntry& entry = entries[position[i]];
        if (entry.kind != Kind::touch && entry.kind != Kind::bytes) run(entry);
      }
      more = more || end < entries.size();
    }
  }
}

void L2Cache::run(const TrafficEntry& entry) {
  std::uint64_t sector = entry.sector();
  std::uint32_t left = entry.count;
  while (left > 0) {
    const auto first = static_cast<std::uint32_t>(sector % kSectorsPerLine);
    const std::uint32_t here = std::min(left, static_cast<std::uint32_t>(kSectorsPerLine) - first);
    const std::uint32_t sectors = ((1U << here) - 1U) << first;
    const std::uint32_t words = words_in(sectors) & (entry.words * 0x01010101U);
    request(sector / kSectorsPerLine, sectors, words, here, entry.kind);
    sector += here;
    left -= here;
  }
}

void L2Cache::request(std::uint64_t line, std::uint32_t sectors, std::uint32_t words,
                      std::uint32_t count, Kind kind) {
  const bool reads = kind != Kind::store;
  const bool writes = kind != Kind::load;
  (writes ? writes_ : reads_) += count;
  const SectorCache::Lookup found = cache_.touch(line, writes ? words : 0, writes ? sectors : 0);
  dram_writes_ += found.evicted_dirty;
  // A store needs nothing of the old sector; a load needs its words, and fetches the sector if
  // one is missing.
  const std::uint32_t missing =
      reads ? sectors_of(words & ~found.present) : sectors & ~sectors_of(found.present);
  const auto misses = static_cast<std::uint32_t>(std::popcount(missing));
  hits_ += count - misses;
  if (!reads || missing == 0) return;
  dram_reads_ += misses;
  cache_.probe(line, words_in(missing));
}

}  // namespace simgpu
