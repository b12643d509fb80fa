#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simgpu/checkers/block_checkers.h"
#include "simgpu/counters/traffic.h"
#include "simgpu/exec/async_copies.h"
#include "simgpu/exec/barriers.h"
#include "simgpu/exec/block_memory.h"
#include "simgpu/exec/block_position.h"
#include "simgpu/exec/failure_reporter.h"
#include "simgpu/exec/flag_times.h"
#include "simgpu/exec/lane_departures.h"
#include "simgpu/exec/launch_context.h"
#include "simgpu/exec/memory_changes.h"
#include "simgpu/exec/memory_counts.h"
#include "simgpu/exec/printed_text.h"
#include "simgpu/exec/site_pattern.h"
#include "simgpu/exec/undefined_follower.h"
#include "simgpu/exec/vain_look.h"
#include "simgpu/exec/warp.h"
#include "simgpu/exec/work_budget.h"

namespace simgpu {

/// The block that runs, in parts: all that the handlers of instructions reach, by Warp::block. Each
/// part owns one thing, and knows no others but those that it is given here; a handler takes those
/// that it needs. Who runs the block is BlockRunner.
struct ThreadBlock {
  explicit ThreadBlock(const LaunchContext& context);
  ThreadBlock(const ThreadBlock&) = delete;
  ThreadBlock& operator=(const ThreadBlock&) = delete;

  /// Of a block, among those of flag_times(): one for each warp that it may have.
  static constexpr std::uint64_t kFlagNumbers = 32;

  /// All parts are as a new block finds them; but for `undefined`, which needs its warps.
  /// @param at the time, where blocks run by turns
  void begin_block(std::uint64_t number, std::uint64_t at);

  /// Those of all blocks that run by turns, or of this one alone.
  FlagTimes& flag_times() { return launch.flags == nullptr ? flags : *launch.flags; }

  const LaunchContext& launch;
  BlockPosition position;
  FailureReporter failures;
  BlockMemory memory;
  BlockTraffic traffic;
  SitePatterns sites;
  MemoryCounts counted;
  MemoryChanges changes;
  WorkBudget budget;
  const std::unique_ptr<BlockCheckers> checkers;  ///< nullptr when they are off
  UndefinedFollower undefined;
  LaneDepartures departures;
  Barriers barriers;
  FlagTimes flags;
  std::vector<VainLook> vain_looks;       ///< by warp
  std::uint64_t first_flag_number = 0;    ///< of its warps in flag_times()
  std::uint64_t begins_at = 0;            ///< the time on the clock of flag_times()
  std::vector<AsyncCopies> async_copies;  ///< by warp
  PrintedText printed;
};

}  // namespace simgpu
