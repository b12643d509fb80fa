#include "simgpu/model/local_memory.h"

#include <algorithm>
#include <cmath>

namespace simgpu::model {
namespace {

constexpr double kLocalSectorBytes = 32;

double share_in(double cache_bytes, double touched_bytes) {
  return touched_bytes <= cache_bytes ? 1 : cache_bytes / touched_bytes;
}

std::uint64_t part(double share, std::uint64_t count) {
  return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(count)));
}

}  // namespace

LocalShares local_shares(const Work& work) {
  const double warps = static_cast<double>(work.blocks * work.warps_per_block);
  const double of_a_warp =
      kLocalSectorBytes * static_cast<double>(work.counters.local_touched_sectors) / warps;
  const std::uint64_t resident = std::min(work.resident_blocks, work.blocks_of_busiest_sm());
  const double of_an_sm = of_a_warp * static_cast<double>(resident * work.warps_per_block);
  return {share_in(work.l1_bytes, of_an_sm),
          share_in(static_cast<double>(work.gpu.l2_bytes),
                   of_an_sm * static_cast<double>(work.busy_sms()))};
}

void add_local_traffic(const LocalShares& shares, KernelCounters& counters) {
  const std::uint64_t reads = part(1 - shares.l1, counters.local_load_sectors);
  const std::uint64_t writes = part(1 - shares.l1, counters.local_store_sectors);
  const std::uint64_t read_hits = part(shares.l2, reads);
  const std::uint64_t write_hits = part(shares.l2, writes);
  constexpr auto kBytes = static_cast<std::uint64_t>(kLocalSectorBytes);
  counters.l2_read_sectors += reads;
  counters.l2_write_sectors += writes;
  counters.l2_hit_sectors += read_hits + write_hits;
  counters.dram_read_bytes += kBytes * (reads - read_hits);
  counters.dram_write_bytes += kBytes * (writes - write_hits);
}

}  // namespace simgpu::model
