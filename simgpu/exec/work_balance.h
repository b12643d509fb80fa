#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "simgpu/counters/load_counts.h"
#include "simgpu/isa/instruction_info.h"
#include "simgpu/isa/pipes.h"

namespace simgpu {

/// The ways of a launch's warps, which go different ways where a block's warps do different things.
struct WarpWays {
  /// Of warps that enter the same basic blocks: in each block of threads as much of everything as
  /// the warp does that does most of it, added up over the blocks.
  struct Way {
    std::vector<ExecutionCount> executed;  ///< by instruction
    LoadCountsByPc loads;                  ///< likewise, but for what became of them in L2
    std::uint64_t slept_ns = 0;
    std::uint64_t blocks = 0;
    bool operator==(const Way&) const = default;
  };
  /// Blocks whose warps go these ways, by index.
  struct Mix {
    std::vector<std::size_t> ways;
    std::uint64_t blocks = 0;
    bool operator==(const Mix&) const = default;
  };
  std::vector<Way> ways;
  std::vector<Mix> mixes;
  bool operator==(const WarpWays&) const = default;
};

/// What every fourth warp of a block executes, from the first, the second … on: each scheduler of
/// an SM has such warps.
struct SchedulerCounts {
  std::array<std::uint64_t, 4> by_scheduler{};
  std::uint64_t busiest = 0;  ///< in each block, the most of the four; all blocks together
  bool operator==(const SchedulerCounts&) const = default;
};

/// How unevenly the blocks and warps of a launch share its work. What it is by default holds where
/// all do the same.
struct WorkBalance {
  // Of the whole launch's work, what the SM with most of it does, which is no less than the
  // heaviest block; 0: no more than any other.
  double busiest_instructions = 0;  ///< warp instructions
  double busiest_sectors = 0;       ///< of global memory, asked for by loads, stores and atomics
  double busiest_wavefronts = 0;    ///< of shared memory
  std::optional<ByPipe<double>> busiest_pipes;  ///< work_of(); nothing: as warp instructions
  // Of the whole launch's issue slots, those of each scheduler's warps.
  std::array<double, 4> by_scheduler = {0.25, 0.25, 0.25, 0.25};
  double busiest_scheduler = 0.25;  ///< the same of each block's busiest scheduler
  /// By instruction, of the blocks that ran; nullptr: all are spread as the issue slots are.
  std::shared_ptr<const std::vector<SchedulerCounts>> schedulers;
  // The way of a warp: its issue slots, and for each load from global memory as many more as it
  // waits.
  double longest_of_block = 1;  ///< of a block's longest warp over the mean warp, in the mean
  /// What a block's longest warp needs with its waits at barriers, over its way without them: warps
  /// that take turns wait for each other.
  double kept_waiting = 1;
  double longest = 1;  ///< of the launch's longest warp, with its waits, over a block's longest
  std::shared_ptr<const WarpWays> ways;  ///< nullptr: all warps go the mean warp's
};

/// By what they point to, too.
inline bool operator==(const WorkBalance& a, const WorkBalance& b) {
  const auto numbers = [](const WorkBalance& one) {
    return std::tie(one.busiest_instructions, one.busiest_sectors, one.busiest_wavefronts,
                    one.busiest_pipes, one.by_scheduler, one.busiest_scheduler,
                    one.longest_of_block, one.kept_waiting, one.longest);
  };
  const auto same = [](const auto& one, const auto& other) {
    return one == other || (one && other && *one == *other);
  };
  return numbers(a) == numbers(b) && same(a.schedulers, b.schedulers) && same(a.ways, b.ways);
}

}  // namespace simgpu
