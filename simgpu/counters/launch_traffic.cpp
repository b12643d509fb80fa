#include <algorithm>
#include <bit>
#include <utility>

#include "simgpu/counters/block_conflicts.h"
#include "simgpu/counters/sector_cache.h"
#include "simgpu/counters/traffic.h"

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

constexpr std::uint32_t kL2Ways = 16;
/// Entries of one block's log that go to L2 before the next resident block has its turn: about what
/// the warps of a block ask for between two waits.
constexpr std::size_t kTurn = 32;
/// Logs held back at most; a wave with more is run in parts.
constexpr std::uint64_t kMaxPendingEntries = std::uint64_t{1} << 24;

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

/// L2 with write-back, in front of DRAM. Counts are in 32-byte sectors.
class L2 {
 public:
  explicit L2(std::uint64_t bytes) : cache_(bytes, kL2Ways) {}

  void run(const TrafficEntry& entry) {
    std::uint64_t sector = entry.sector();
    std::uint32_t left = entry.count;
    while (left > 0) {
      const auto first = static_cast<std::uint32_t>(sector % kSectorsPerLine);
      const std::uint32_t here =
          std::min(left, static_cast<std::uint32_t>(kSectorsPerLine) - first);
      const std::uint32_t sectors = ((1U << here) - 1U) << first;
      const std::uint32_t words = words_in(sectors) & (entry.words * 0x01010101U);
      request(sector / kSectorsPerLine, sectors, words, here, entry.kind);
      sector += here;
      left -= here;
    }
  }

  void add_to(KernelCounters& counters, std::uint64_t unlogged_reads,
              std::uint64_t unlogged_writes) const {
    // What was only counted is taken to hit as often as what was run.
    const double reads = static_cast<double>(std::max<std::uint64_t>(reads_, 1));
    const double read_misses = static_cast<double>(dram_reads_) / reads;
    const auto unlogged_misses =
        std::min(unlogged_reads, static_cast<std::uint64_t>(read_misses * unlogged_reads));
    counters.l2_read_sectors += reads_ + unlogged_reads;
    counters.l2_write_sectors += writes_ + unlogged_writes;
    counters.l2_hit_sectors += hits_ + (unlogged_reads - unlogged_misses);
    counters.dram_read_bytes += kSectorBytes * (dram_reads_ + unlogged_misses);
    counters.dram_write_bytes +=
        kSectorBytes * (dram_writes_ + cache_.dirty_sectors() + unlogged_writes);
  }

 private:
  void request(std::uint64_t line, std::uint32_t sectors, std::uint32_t words, std::uint32_t count,
               Kind kind) {
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

  SectorCache cache_;
  std::uint64_t reads_ = 0, writes_ = 0, hits_ = 0;
  std::uint64_t dram_reads_ = 0, dram_writes_ = 0;
};

}  // namespace

struct LaunchTraffic::State {
  State(std::uint64_t l2_bytes, std::uint64_t resident)
      : l2(l2_bytes), resident_blocks(std::max<std::uint64_t>(resident, 1)) {}

  void run_wave();

  L2 l2;
  std::uint64_t resident_blocks;
  std::vector<std::unique_ptr<BlockTraffic::Log>> wave;
  std::uint64_t pending_entries = 0;
  BlockConflicts conflicts;
  BlockTraffic::Log sums;  // its counts only
};

/// The blocks of a wave take turns until all their logs are used up.
void LaunchTraffic::State::run_wave() {
  std::vector<std::size_t> position(wave.size(), 0);
  bool more = true;
  while (more) {
    more = false;
    for (std::size_t i = 0; i < wave.size(); ++i) {
      const std::vector<TrafficEntry>& entries = wave[i]->entries;
      const std::size_t end = std::min(position[i] + kTurn, entries.size());
      for (; position[i] < end; ++position[i]) {
        const TrafficEntry& entry = entries[position[i]];
        if (entry.kind != Kind::touch && entry.kind != Kind::bytes) l2.run(entry);
      }
      more = more || end < entries.size();
    }
  }
  wave.clear();
  pending_entries = 0;
}

LaunchTraffic::LaunchTraffic(const gpu_spec::GpuSpec& gpu, std::uint64_t resident_blocks)
    : state_(std::make_unique<State>(static_cast<std::uint64_t>(gpu.l2_bytes), resident_blocks)) {}
LaunchTraffic::~LaunchTraffic() = default;

void LaunchTraffic::retire(std::unique_ptr<BlockTraffic::Log> log) {
  State& state = *state_;
  state.conflicts.add(*log);
  BlockTraffic::Log& sums = state.sums;
  sums.unlogged_reads += log->unlogged_reads;
  sums.unlogged_writes += log->unlogged_writes;
  sums.load_requests += log->load_requests;
  sums.store_requests += log->store_requests;
  sums.atomic_requests += log->atomic_requests;
  sums.load_sectors += log->load_sectors;
  sums.store_sectors += log->store_sectors;
  sums.atomic_sectors += log->atomic_sectors;
  sums.load_bytes += log->load_bytes;
  sums.store_bytes += log->store_bytes;
  sums.l1_hit_sectors += log->l1_hit_sectors;
  sums.tag_lookups += log->tag_lookups;
  state.pending_entries += log->entries.size();
  state.wave.push_back(std::move(log));
  if (state.wave.size() >= state.resident_blocks || state.pending_entries > kMaxPendingEntries) {
    state.run_wave();
  }
}

void LaunchTraffic::finish(KernelCounters& counters) {
  State& state = *state_;
  state.run_wave();
  const BlockTraffic::Log& sums = state.sums;
  counters.global_load_requests += sums.load_requests;
  counters.global_store_requests += sums.store_requests;
  counters.global_atomic_requests += sums.atomic_requests;
  counters.global_load_sectors += sums.load_sectors;
  counters.global_store_sectors += sums.store_sectors;
  counters.global_atomic_sectors += sums.atomic_sectors;
  counters.global_load_bytes += sums.load_bytes;
  counters.global_store_bytes += sums.store_bytes;
  counters.l1_hit_sectors += sums.l1_hit_sectors;
  counters.l1_tag_lookups += sums.tag_lookups;
  state.l2.add_to(counters, sums.unlogged_reads, sums.unlogged_writes);
}

bool LaunchTraffic::conflict() const { return state_->conflicts.any(); }

std::vector<RawFinding> LaunchTraffic::take_findings() { return state_->conflicts.take_findings(); }

}  // namespace simgpu
