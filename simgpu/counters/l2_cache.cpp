#include "simgpu/counters/l2_cache.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "simgpu/counters/random_bits.h"

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

constexpr std::uint32_t kL2Ways = 16;
/// Entries of one block's log that go to L2 before the next resident block has its turn: about what
/// the warps of a block ask for between two waits.
constexpr std::size_t kTurn = 32;
/// Entries between the one that is run and the one whose set is fetched: the model of a large L2
/// does not fit into the host's.
constexpr std::size_t kFetchAhead = 6;
/// Lines whose way from DRAM is remembered at most, as a power of two.
constexpr int kMostFetchedBits = 17;
/// Device memory has fewer than 2^40 lines; of the number of a turn the low bits tell it apart.
constexpr int kLineBits = 40;
/// The group of sets that are not simulated.
constexpr std::uint8_t kLeftOut = 0xff;

/// Loads, and atomics, which wait for what L2 has to fetch as loads do.
bool may_be_waited_for(Kind kind) { return is_load(kind) || kind == Kind::atomic; }

std::uint64_t first_line(const TrafficEntry& entry) { return entry.sector() / kSectorsPerLine; }
std::uint64_t last_line(const TrafficEntry& entry) {
  return (entry.sector() + entry.count - 1) / kSectorsPerLine;
}

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

L2Cache::L2Cache(std::uint64_t bytes, std::uint32_t one_in)
    : own_(storage(bytes)), cache_(*own_), one_in_(std::min(one_in, cache_.sets())) {
  if (one_in_ <= 1) return;
  // One set of every `one_in_` neighbours, so that arrays are sampled evenly; each group has as
  // many as the others.
  group_of_.assign(cache_.sets(), kLeftOut);
  for (std::uint64_t stratum = 0; (stratum + 1) * one_in_ <= cache_.sets(); ++stratum) {
    const std::uint64_t set = stratum * one_in_ + drawn_bits(0, stratum) % one_in_;
    const std::uint64_t group = stratum + drawn_bits(0, ~(stratum / kGroups));
    group_of_[set] = static_cast<std::uint8_t>(group % kGroups);
  }
}

L2Cache::L2Cache(SectorCache& memory) : cache_(memory) { cache_.clear(); }

SectorCache L2Cache::storage(std::uint64_t bytes) { return {bytes, kL2Ways}; }

L2Cache::Counts L2Cache::counts() const {
  Counts sum;
  for (const Counts& group : groups_) {
    sum.reads += group.reads;
    sum.writes += group.writes;
    sum.hits += group.hits;
    sum.dram_reads += group.dram_reads;
    sum.dram_writes += group.dram_writes;
  }
  return sum;
}

void L2Cache::run_wave(std::span<const std::unique_ptr<TrafficLog>> wave) {
  begin_wave(wave.size());
  std::vector<Place> places(wave.size());
  bool more = true;
  while (more) {
    more = false;
    ++turn_;
    for (std::size_t i = 0; i < wave.size(); ++i) {
      const std::span<const TrafficEntry> entries = wave[i]->entries;
      const std::size_t begin = places[i].next;
      const std::size_t end = std::min(begin + kTurn, entries.size());
      for (std::size_t next = begin; next < end; ++next) {
        if (next + kFetchAhead < entries.size()) {
          cache_.fetch(first_line(entries[next + kFetchAhead]));
        }
        if (is_request(entries[next].kind)) run(entries[next], places[i].missed);
      }
      places[i].next = end;
      more = more || end < entries.size();
    }
  }
}

void L2Cache::thin(const TrafficLog& log, ThinLog& thin) {
  thin.entries.clear();
  thin.turns.clear();
  std::uint32_t pc = ~0U;
  LoadCounts* loads = nullptr;  // of that instruction: mostly of the one before, too
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const TrafficEntry& entry = log.entries[i];
    if (may_be_waited_for(entry.kind)) {
      if (std::exchange(pc, entry.pc) != entry.pc) loads = &counts_of(loads_, entry.pc);
      loads->at_l2 += last_line(entry) - first_line(entry) + 1;
    }
    if (!is_request(entry.kind) || !any_simulated(entry)) continue;
    thin.entries.push_back(entry);
    thin.turns.push_back(static_cast<std::uint32_t>(i / kTurn));
  }
}

void L2Cache::run_wave(std::span<const ThinLog> wave) {
  begin_wave(wave.size());
  std::vector<Place> places(wave.size());
  bool more = true;
  for (std::uint32_t turn = 0; more; ++turn) {
    more = false;
    ++turn_;
    for (std::size_t i = 0; i < wave.size(); ++i) {
      const ThinLog& log = wave[i];
      Place& at = places[i];
      for (; at.next < log.entries.size() && log.turns[at.next] == turn; ++at.next) {
        run(log.entries[at.next], at.missed);
      }
      more = more || at.next < log.entries.size();
    }
  }
}

std::uint64_t L2Cache::fetch_in_this_turn(std::uint64_t line) const {
  return turn_ << kLineBits | line;
}

/// Room for the lines that its blocks ask for in a turn, so that few lose their place to others.
void L2Cache::begin_wave(std::size_t blocks) {
  const int bits =
      std::clamp(static_cast<int>(std::bit_width(4 * blocks * kTurn)), 1, kMostFetchedBits);
  if (bits <= fetched_bits_) return;
  fetched_bits_ = bits;
  fetched_.assign(std::size_t{1} << bits, 0);
}

/// Lines lie apart by the golden ratio.
std::uint64_t& L2Cache::last_fetch_like(std::uint64_t line) {
  return fetched_[line * 0x9E37'79B9'7F4A'7C15 >> (64 - fetched_bits_)];
}

bool L2Cache::any_simulated(const TrafficEntry& entry) const {
  if (group_of_.empty()) return true;
  for (std::uint64_t line = first_line(entry); line <= last_line(entry); ++line) {
    if (group_of_[line & (cache_.sets() - 1)] != kLeftOut) return true;
  }
  return false;
}

/// @param missed whether DRAM has to serve what the request asked for before
void L2Cache::run(const TrafficEntry& entry, bool& missed) {
  std::uint64_t misses = 0;  // lines
  std::uint64_t sector = entry.sector();
  std::uint32_t left = entry.count;
  while (left > 0) {
    const auto first = static_cast<std::uint32_t>(sector % kSectorsPerLine);
    const std::uint32_t here = std::min(left, static_cast<std::uint32_t>(kSectorsPerLine) - first);
    const std::uint32_t sectors = ((1U << here) - 1U) << first;
    const std::uint32_t words = words_in(sectors) & (entry.words * 0x01010101U);
    if (request(sector / kSectorsPerLine, sectors, words, here, entry.kind)) ++misses;
    sector += here;
    left -= here;
  }
  if (!may_be_waited_for(entry.kind)) return;
  LoadCounts& loads = counts_of(loads_, entry.pc);
  if (one_in_ > 1) {
    loads.from_dram += one_in_ * misses;
    return;
  }
  if (entry.opens != 0) {
    ++loads.at_l2;
    missed = false;
  }
  if (misses > 0 && !std::exchange(missed, true)) ++loads.from_dram;
}

/// Whether it has to wait for DRAM.
bool L2Cache::request(std::uint64_t line, std::uint32_t sectors, std::uint32_t words,
                      std::uint32_t count, Kind kind) {
  const std::uint8_t group = group_of_.empty() ? 0 : group_of_[line & (cache_.sets() - 1)];
  if (group == kLeftOut) return false;
  Counts& counts = groups_[group];
  const bool reads = kind != Kind::store && kind != Kind::strong_store;
  const bool writes = kind != Kind::load && kind != Kind::strong_load;
  (writes ? counts.writes : counts.reads) += count;
  const std::uint64_t dirty_before = cache_.dirty_sectors();
  const SectorCache::Lookup found = cache_.touch(line, writes ? words : 0, writes ? sectors : 0);
  // What becomes dirty is written back some day, when it has to leave or at the end.
  counts.dram_writes += cache_.dirty_sectors() + found.evicted_dirty - dirty_before;
  // A store needs nothing of the old sector; a load needs its words, and fetches the sector if
  // one is missing.
  const std::uint32_t missing =
      reads ? sectors_of(words & ~found.present) : sectors & ~sectors_of(found.present);
  const auto misses = static_cast<std::uint32_t>(std::popcount(missing));
  counts.hits += count - misses;
  if (!reads) return false;
  std::uint64_t& fetched = last_fetch_like(line);
  if (missing == 0) return fetched == fetch_in_this_turn(line);
  fetched = fetch_in_this_turn(line);
  counts.dram_reads += misses;
  cache_.probe(line, words_in(missing));
  return true;
}

}  // namespace simgpu
