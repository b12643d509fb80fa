#include <algorithm>
#include <utility>

#include "simgpu/counters/block_conflicts.h"
#include "simgpu/counters/l2_cache.h"
#include "simgpu/counters/traffic.h"
#include "simgpu/counters/word_conflicts.h"

namespace simgpu {

struct LaunchTraffic::State {
  State(std::uint64_t l2_bytes, std::uint64_t resident, WatchedPlaces places)
      : l2(l2_bytes), resident_blocks(std::max<std::uint64_t>(resident, 1)), watched(places) {}
  State(SectorCache& l2_memory, std::uint64_t resident, WatchedPlaces places)
      : l2(l2_memory), resident_blocks(std::max<std::uint64_t>(resident, 1)), watched(places) {}

  void run_wave() {
    l2.run_wave(wave);
    wave.clear();
    pending_entries = 0;
  }

  L2Cache l2;
  std::uint64_t resident_blocks;
  std::vector<std::unique_ptr<BlockTraffic::Log>> wave;
  std::uint64_t pending_entries = 0;
  const WatchedPlaces watched;
  BlockConflicts conflicts;      // of WatchedPlaces::all
  WordConflicts word_conflicts;  // of WatchedPlaces::conflicts
  std::uint64_t unlogged_reads = 0, unlogged_writes = 0;
  KernelCounters requests;  // all but L2 and DRAM
  AtomicContention atomics;
  gpu_spec::GpuSpec gpu;
};

LaunchTraffic::LaunchTraffic(const gpu_spec::GpuSpec& gpu, std::uint64_t resident_blocks,
                             WatchedPlaces watched, SectorCache* l2_memory)
    : state_(l2_memory == nullptr
                 ? std::make_unique<State>(static_cast<std::uint64_t>(gpu.l2_bytes),
                                           resident_blocks, watched)
                 : std::make_unique<State>(*l2_memory, resident_blocks, watched)) {
  state_->gpu = gpu;
}
LaunchTraffic::~LaunchTraffic() = default;

void LaunchTraffic::retire(std::unique_ptr<BlockTraffic::Log> log, const DeviceMemory* left) {
  State& state = *state_;
  if (state.watched == WatchedPlaces::all) state.conflicts.add(*log, left);
  if (state.watched == WatchedPlaces::conflicts) state.word_conflicts.add(*log);
  add_requests(*log, state.requests);
  state.atomics.add(log->atomics);
  log->atomics = {};
  state.unlogged_reads += log->unlogged_reads;
  state.unlogged_writes += log->unlogged_writes;
  state.pending_entries += log->entries.size();
  state.wave.push_back(std::move(log));
  if (state.wave.size() >= state.resident_blocks ||
      state.pending_entries > L2Cache::kMostPendingEntries) {
    state.run_wave();
  }
}

void LaunchTraffic::finish(KernelCounters& counters) {
  State& state = *state_;
  state.run_wave();
  state.atomics.finish(state.gpu, state.requests);
  add_scaled(counters, state.requests, 1);
  const L2Cache::Counts l2 = state.l2.counts();
  // What was only counted is taken to hit as often as what was run.
  const double reads = static_cast<double>(std::max<std::uint64_t>(l2.reads, 1));
  const double read_misses = static_cast<double>(l2.dram_reads) / reads;
  const auto unlogged_misses =
      std::min(state.unlogged_reads,
               static_cast<std::uint64_t>(read_misses * static_cast<double>(state.unlogged_reads)));
  counters.l2_read_sectors += l2.reads + state.unlogged_reads;
  counters.l2_write_sectors += l2.writes + state.unlogged_writes;
  counters.l2_hit_sectors += l2.hits + (state.unlogged_reads - unlogged_misses);
  counters.dram_read_bytes += kSectorBytes * (l2.dram_reads + unlogged_misses);
  counters.dram_write_bytes += kSectorBytes * (l2.dram_writes + state.unlogged_writes);
}

const LoadCountsByPc& LaunchTraffic::loads() const { return state_->l2.loads(); }

bool LaunchTraffic::conflict() const {
  return state_->conflicts.any() || state_->word_conflicts.any();
}

std::vector<TouchedSector> LaunchTraffic::touched() const { return state_->conflicts.touched(); }

std::vector<RawFinding> LaunchTraffic::take_findings() { return state_->conflicts.take_findings(); }

void add_requests(const TrafficLog& log, KernelCounters& counters) {
  counters.global_load_requests += log.load_requests;
  counters.global_store_requests += log.store_requests;
  counters.global_atomic_requests += log.atomic_requests;
  counters.global_load_sectors += log.load_sectors;
  counters.global_store_sectors += log.store_sectors;
  counters.global_atomic_sectors += log.atomic_sectors;
  counters.global_load_bytes += log.load_bytes;
  counters.global_store_bytes += log.store_bytes;
  counters.global_atomic_bytes += log.atomic_bytes;
  counters.l1_hit_sectors += log.l1_hit_sectors;
  counters.l1_tag_lookups += log.tag_lookups;
}

}  // namespace simgpu
