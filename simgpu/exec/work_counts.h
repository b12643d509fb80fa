#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/exec/block_sampler.h"

namespace simgpu {

/// All that one block is counted for, or blocks together, but for what becomes of its requests in
/// L2: a row of numbers, so that blocks can be compared, added and multiplied.
using WorkCounts = std::vector<std::int64_t>;

WorkCounts work_counts(const BlockProfile& profile);

/// total += times * block
void add_times(WorkCounts& total, const WorkCounts& block, std::int64_t times);

/// The launch's counters, but for L2 hits and DRAM, from the sum over its blocks.
void set_counters(const LoweredKernel& kernel, const WorkCounts& total, LaunchResult& result);

std::uint64_t log_entries(const WorkCounts& counts);  ///< of the blocks' logs
std::uint64_t log_sectors(const WorkCounts& counts);  ///< that L2 is asked for
std::uint64_t issue_slots(const WorkCounts& counts);

}  // namespace simgpu
