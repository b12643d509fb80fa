#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "simgpu/exec/block_counts.h"
#include "simgpu/exec/lane_scheduler.h"
#include "simgpu/exec/launch_context.h"
#include "simgpu/exec/spin_detector.h"
#include "simgpu/exec/thread_block.h"
#include "simgpu/exec/warp.h"

namespace simgpu {

/// Bytes that a BlockRunner of the launch holds: registers, shared and local memory, call frames,
/// and what the checkers record of shared memory.
std::uint64_t block_bytes(const LaunchContext& launch);

/// Runs the blocks of a launch one after another, each round by round: one per worker thread.
class BlockRunner {
 public:
  explicit BlockRunner(const LaunchContext& launch);

  /// Runs block `block` to its end. @throws LaunchFailure
  void run(std::uint64_t block);

  // A block in steps, beside others that it may wait for.

  /// @param at the time, where blocks run by turns (ThreadBlock::begins_at)
  void start(std::uint64_t block, std::uint64_t at = 0);
  /// Every warp that can gets a turn. False when the block is done. @throws LaunchFailure
  bool round();
  /// Whether all warps waited in the last round, at barriers or in loops that have seen the same
  /// values again and again: only another block can get them out of it.
  bool is_stuck() const { return stuck_; }
  /// Whether the block has come round to a state that it was in before, while nobody changed
  /// global memory: it will not get out of it by itself.
  /// @param changes a number that is another one after each change of global memory
  /// @param least_instructions that the block has executed
  bool spins(std::uint64_t changes, std::uint64_t least_instructions);
  /// Whether the block, all of whose warps seem to wait, has come round to a state that it has been
  /// in since they do: it is proven that it will not get out of it by itself. A loop that counts
  /// its looks comes to an end. To be asked after every round, which then goes to waiting warps
  /// too.
  /// @param changes as for spins()
  bool repeats(std::uint64_t changes);
  /// Rounds in a row in which all that could run ended its turn in a load that may wait for others,
  /// or in a failed wait.
  std::uint64_t polling_rounds() const { return polling_rounds_; }
  /// Whether it has come round to a state that it was in before, in such rounds, while nothing in
  /// global memory got another value. To be asked after every round.
  /// @param new_values that global memory got so far, from all blocks
  bool polls_in_circles(std::uint64_t new_values);
  /// LaneScheduler::let_waiting_lanes_go() of all warps: what was seen of waiting holds no longer.
  bool let_waiting_lanes_go(bool only_useful);
  /// Lanes of this block go their own way soon.
  void expect_lane_turns() { lanes_.expect_turns(); }
  /// Ends the launch because the block waits for what will not come.
  [[noreturn]] void report_waiting() const;
  /// Ends the launch because its instructions are used up; the block is not done.
  [[noreturn]] void report_too_long() const;

  /// The block that runs, or ran last.
  const ThreadBlock& block() const { return block_; }
  /// What all its blocks count against the launch's budget.
  std::uint64_t work() const { return block_.budget.work(); }
  BlockCounts& counts() { return counts_; }
  /// counts(), and what the block's parts count, start again from nothing.
  void clear_counts();

  // Of a block that is done.

  std::unique_ptr<BlockTraffic::Log> take_traffic();
  std::vector<RawFinding> take_findings();
  std::string take_printed() { return block_.printed.take(); }

 private:
  void set_up(Warp& warp);
  void begin(Warp& warp);
  void run_warp(Warp& warp);
  bool waits(const Warp& warp);
  SpinDetector::View view(std::span<const Warp> warps, std::uint64_t changes) const;

  const LaunchContext& launch_;
  ThreadBlock block_;
  BlockCounts counts_;
  LaneScheduler lanes_;
  std::vector<Warp> warps_;
  SpinDetector spin_detector_;
  SpinDetector quiet_polls_;  ///< of all warps, where stores that change nothing do not count
  SpinDetector vain_looks_;   ///< of the warp that has the turn
  std::uint64_t polling_rounds_ = 0;
  bool stuck_ = false;
};

}  // namespace simgpu
