#include "simgpu/exec/window_traffic.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "simgpu/exec/block_runner.h"

namespace simgpu {
namespace {

/// L2 of blocks that come one after the other.
LaunchTraffic l2_of(const LaunchContext& launch) {
  return LaunchTraffic(launch.gpu, launch.request.resident_blocks, WatchedPlaces::none);
}

KernelCounters counters_of(LaunchTraffic& l2) {
  KernelCounters counters;
  l2.finish(counters);
  return counters;
}

}  // namespace

std::uint64_t blocks_of_window(const gpu_spec::GpuSpec& gpu, double sectors_of_block) {
  const double bytes = sectors_of_block * kSectorBytes;
  if (bytes <= 0) return ~std::uint64_t{0};
  // Four fifths of it fill L2, and a little is left for blocks that ask for less than the mean.
  constexpr double kTimesL2 = 1.3;
  return static_cast<std::uint64_t>(
      std::ceil(kTimesL2 * static_cast<double>(gpu.l2_bytes) / bytes));
}

std::optional<DramOfBlock> dram_of_window(const LaunchContext& launch, std::uint64_t first,
                                          std::uint64_t blocks) {
  const std::uint64_t told = std::max<std::uint64_t>(blocks / 5, 1), filling = blocks - told;
  BlockRunner runner(launch);
  LaunchTraffic first_part = l2_of(launch), whole = l2_of(launch);
  try {
    for (std::uint64_t block = first; block < first + blocks; ++block) {
      runner.run(block);
      std::unique_ptr<TrafficLog> log = runner.take_traffic();
      if (log->unlogged_reads + log->unlogged_writes != 0) return std::nullopt;
      if (block < first + filling) first_part.retire(std::make_unique<TrafficLog>(*log));
      whole.retire(std::move(log));
    }
  } catch (const LaunchFailure& failure) {
    if (failure.finding.kind() != FindingKind::too_long) throw;
    return std::nullopt;
  }
  const KernelCounters before = counters_of(first_part), all = counters_of(whole);
  const bool fills = before.dram_read_bytes + before.dram_write_bytes >=
                     static_cast<std::uint64_t>(launch.gpu.l2_bytes);
  const auto of_block = [&](std::uint64_t KernelCounters::*bytes) {
    const auto in_all = static_cast<double>(all.*bytes);
    if (!fills) return in_all / static_cast<double>(blocks);
    return std::max(0.0, (in_all - static_cast<double>(before.*bytes)) / static_cast<double>(told));
  };
  return DramOfBlock{of_block(&KernelCounters::dram_read_bytes),
                     of_block(&KernelCounters::dram_write_bytes)};
}

}  // namespace simgpu
