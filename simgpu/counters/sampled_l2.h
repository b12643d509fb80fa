#pragma once

#include <cstdint>
#include <functional>

#include "simgpu/counters/l2_cache.h"

namespace simgpu {

/// A launch whose blocks' logs are known without running them.
struct KnownTraffic {
  std::uint64_t blocks = 0;
  std::uint64_t rows = 1;             ///< of the grid
  std::uint64_t resident_blocks = 1;  ///< at once on the whole GPU
  std::uint64_t entries = 0;          ///< of all blocks' logs together
  std::uint64_t sectors = 0;          ///< that all of them ask L2 for
  bool even = true;                   ///< blocks are alike, so that a stretch may tell of others
  /// Fills in the entries of a block's log.
  std::function<void(std::uint64_t block, TrafficLog& log)> log_of;
};

/// What L2 and DRAM do for a launch.
struct KnownL2 {
  L2Cache::Counts counts;
  LoadCountsByPc loads;  ///< what became of them in L2; of those that were run, or of as many
};

/// Finds out what L2 and DRAM do for a launch. A short launch is run through the cache as a whole.
/// Of a long one of even blocks three stretches are: the beginning, the middle and the end, and
/// what lies between is taken to go on at the rate of the windows around it. A window is measured
/// only after the cache's content has been replaced since the stretch began, for it then depends on
/// nothing that was left out, and windows must agree within one percent.
///
/// Otherwise all blocks' requests are run, through some of the cache's sets, which stand for the
/// others: a random sample, whose groups tell its standard error. Three times that must be within
/// half a percent, or more sets are taken, in the end all.
KnownL2 run_through_l2(const KnownTraffic& traffic, std::uint64_t l2_bytes);

}  // namespace simgpu
