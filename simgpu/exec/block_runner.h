#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "simgpu/checkers/block_checkers.h"
#include "simgpu/counters/bank_conflicts.h"
#include "simgpu/counters/traffic.h"
#include "simgpu/exec/async_copies.h"
#include "simgpu/exec/block_memory.h"
#include "simgpu/exec/block_weights.h"
#include "simgpu/exec/flag_times.h"
#include "simgpu/exec/launch_context.h"
#include "simgpu/exec/launch_failure.h"
#include "simgpu/exec/memory_counts.h"
#include "simgpu/exec/site_pattern.h"
#include "simgpu/exec/spin_detector.h"
#include "simgpu/exec/value_follower.h"
#include "simgpu/exec/warp.h"
#include "simgpu/isa/lowered.h"

namespace simgpu {

/// Bytes that a BlockRunner of the launch holds: registers, shared and local memory, call frames,
/// and what the checkers record of shared memory.
std::uint64_t block_bytes(const LaunchContext& launch);

/// Runs the blocks of a launch one after another: one per worker thread.
class BlockRunner {
 public:
  /// Global accesses of a warp's turn, so that the L1 model sees warps side by side.
  static constexpr std::int32_t kMemoryQuantum = 8;
  /// Turns after which a warp that sees the same values every time waits for good.
  static constexpr std::uint32_t kMostWaitingTurns = 1024;
  /// Tries with atomics that change nothing, one after the other, after which a warp seems to wait.
  static constexpr std::uint32_t kTriesInVain = 128;
  /// A sector of global memory, on its way through the models of L1 and L2, in instructions.
  static constexpr std::uint64_t kWorkOfASector = 1;

  explicit BlockRunner(const LaunchContext& launch);

  /// Runs block `block` to its end. @throws LaunchFailure
  void run(std::uint64_t block);

  // A block in steps, beside others that it may wait for.

  void start(std::uint64_t block);
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
  /// How often the block has changed memory, at least once for each change of global memory.
  std::uint64_t changes() const { return changes_ + traffic_.store_requests(); }
  /// Lanes that wait for others of their warp where their ways meet go on without them, since those
  /// may be waiting for them. False when there are none.
  /// @param only_useful leaves out lanes that would do nothing before a barrier or their end
  bool let_waiting_lanes_go(bool only_useful);
  /// Lanes of this block go their own way soon.
  void expect_lane_turns() { lanes_take_turns_ = true; }
  /// End the launch because the block waits for what will not come.
  [[noreturn]] void report_stuck() const;
  [[noreturn]] void report_spinning() const;
  /// Ends the launch because its instructions are used up; the block is not done.
  [[noreturn]] void report_too_long() const;

  /// Warp instructions so far, all blocks together.
  std::uint64_t instructions() const { return instructions_; }
  /// What counts against the launch's budget: instructions, and other work in their measure.
  std::uint64_t work() const {
    return instructions_ + other_work_ + kWorkOfASector * traffic_.requested_sectors();
  }
  /// By instruction; see Warp. What warps have done of a block that is not done is counted, too,
  /// but is no longer theirs.
  const std::vector<ExecutionCount>& counts();
  const std::vector<std::uint64_t>& guarded_threads() const { return guarded_threads_; }
  const MemoryCounts& memory_counts() const { return memory_counts_; }
  const LoadCountsByPc& loads() const { return traffic_.loads(); }
  /// Of the blocks whose traffic was taken.
  const BlockWeights& weights() const { return weights_; }
  /// Of the block whose traffic was taken last.
  const BlockWeights::Weight& last_weight() const { return last_weight_; }
  /// Counts start again from nothing; instructions() does not.
  void clear_counts();
  std::unique_ptr<BlockTraffic::Log> take_traffic();
  std::vector<RawFinding> take_findings();
  std::string take_printed() { return std::move(printed_); }

  // For the handlers.

  const LaunchContext& launch() const { return launch_; }
  DeviceMemory& memory() const { return launch_.memory; }
  BlockTraffic& traffic() { return traffic_; }
  FlagTimes& flags() { return flags_; }
  AsyncCopies& async_copies(const Warp& warp) { return async_copies_[warp.index]; }
  BlockCheckers* checkers() { return checkers_.get(); }  ///< nullptr when they are off
  MemoryCounts& counted() { return memory_counts_; }
  SitePattern<std::uint32_t>& shared_site(const Lowered* in) { return shared_sites_[in->site]; }
  SitePattern<std::uint64_t>& global_site(const Lowered* in) { return global_sites_[in->site]; }
  /// Allocations have changed: what is known of where accesses lie is looked up again.
  void forget_allocations();
  /// Registers, shared and local memory of the block.
  BlockMemory& own() { return own_; }
  const BlockMemory& own() const { return own_; }
  std::uint64_t block() const { return block_; }
  const Dim3& block_index() const { return block_index_; }
  /// Coordinates of a lane's thread.
  Dim3 thread(const Warp& warp, unsigned lane) const;
  const std::uint32_t* thread_coordinate(const Warp& warp, unsigned axis) const {
    return coordinates_.data() + (std::size_t{axis} * warps_.size() + warp.index) * kWarpSize;
  }
  /// An atomic has changed global memory. Plain stores are counted as traffic.
  void note_change() { ++changes_; }
  /// A load that may be one of many, or an atomic that has changed nothing; a and b: its values and
  /// addresses.
  void note_try(Warp& warp, const Lowered* in, std::span<const std::byte> a,
                std::span<const std::byte> b, bool is_atomic);
  /// Lanes part, with checkers: where those that exit have left the others.
  void note_parting(const Lowered* in, Warp& warp) const;
  /// A shuffle gave lanes undefined values; says where the warp goes on.
  const Lowered* follow_undefined(const Lowered* in, Warp& warp, std::uint32_t lanes,
                                  const RawFinding& finding);
  /// Behind a load: what it read of memory that nothing has written is followed.
  const Lowered* after_load(const Lowered* in, Warp& warp) {
    if (checkers_ == nullptr || !checkers_->has_unwritten()) [[likely]]
      return in + 1;
    return note_unwritten(in, warp);
  }
  /// The warp's wait for an mbarrier has failed: it needs no turn until the barrier is another one.
  void sleep_on(Warp& warp, const std::byte* barrier) const;
  /// Global memory gets other values than it had: where blocks may wait for each other.
  bool watches_values() const { return launch_.watches_values; }
  void note_new_value() { ++new_values_; }
  std::uint64_t new_values() const { return new_values_ + changes_; }
  /// Rounds in a row in which all that could run ended its turn in a load that may wait for others,
  /// or in a failed wait.
  std::uint64_t polling_rounds() const { return polling_rounds_; }
  std::size_t warp_count() const { return warps_.size(); }
  void print(const std::string& text);
  /// Whether what this block prints from now on is dropped.
  bool has_printed_enough() const;
  /// Work beside executing instructions, in their measure. @throws LaunchFailure over the budget
  void spend(std::uint64_t instructions, const Lowered* at, const Warp& warp);

  /// A warp waits at a barrier; called by the barrier's handler.
  const Lowered* wait(Warp& warp, const Lowered* in, std::uint32_t barrier, std::uint32_t threads);
  /// The warp ends its turn, to go on at `next`; whether it does so to wait for others.
  enum class Waiting : std::uint8_t { no, yes, unknown };
  const Lowered* give_way(Warp& warp, const Lowered* next, Waiting waiting);
  /// Whether the warp's last load of this kind was the same instruction's, with these bytes.
  bool same_as_before(const Warp& warp, const Lowered* in, std::span<const std::byte> loaded,
                      std::span<const std::byte> addresses);
  /// The warp asks to be suspended.
  void note_sleep(Warp& warp, std::uint32_t nanoseconds) {
    memory_counts_.slept_ns += nanoseconds;
    warp.slept_ns += nanoseconds;
  }
  /// A warp arrives at a barrier without waiting.
  void arrive(const Warp& warp, std::uint32_t barrier);
  /// bar.red: adds this warp's votes; the result is read after the barrier.
  struct Reduction {
    std::uint32_t population = 0;
    bool all = true, any = false;
  };
  Reduction& collecting(std::uint32_t barrier) { return collecting_.at(barrier); }
  const Reduction& collected(std::uint32_t barrier) const { return collected_.at(barrier); }

  /// Ends the launch, for what a lane does at an instruction.
  [[noreturn]] void fail(const Lowered* in, const Warp& warp, unsigned lane, Failure failure) const;

 private:
  void weigh_block(const TrafficLog& log);
  void take_counts();
  void run_warp(Warp& warp);
  void run_lanes_together(Warp& warp);
  void run_from(const Lowered* in, Warp& warp);
  void follow_unwritten();
  void look_at(const Lowered* in, Warp& warp);
  void mark_unwritten(const Warp& warp);
  const Lowered* note_unwritten(const Lowered* in, Warp& warp);
  static const Lowered* begin_following(const Lowered* in, Warp& warp);
  static bool sleeps(const Warp& warp);

  // Lanes of a warp by turns (lane_turns.cpp).
  static bool same_poll(Poll& last, const Lowered* in, std::span<const std::byte> values,
                        std::span<const std::byte> addresses);
  std::uint64_t effects() const;
  bool tries_in_vain(const Warp& warp, std::uint32_t times) const;
  bool all_try_in_vain() const;
  static bool waits_for_long(const Warp& warp);
  bool part_waiting_lanes(Warp& warp, bool only_useful);
  void part_lanes(Warp& warp, std::uint32_t lanes);
  static void enter_parted(Warp& warp, LaneGroup& group);
  void part_idle_lanes(Warp& warp);
  void take_up_next(Warp& warp);
  void take_up_other(Warp& warp);
  bool join_group(Warp& warp);
  bool come_together(Warp& warp, LaneGroup& other);
  bool run_group(Warp& warp);
  void run_groups(Warp& warp);

  void check_budget(const Lowered* at, const Warp& warp) const;
  [[noreturn]] void fail_too_long(const Lowered* at, const Warp& warp,
                                  const std::string& why) const;

  // Instructions that need lanes which go another way (lane_waits.cpp).
  bool wait_for_lanes(Warp& warp, const LaneWait& wait);
  bool may_go_on(Warp& warp);
  void part_missing_lanes(Warp& warp);
  bool exchange_jointly(Warp& warp);
  void let_waits_end(Warp& warp);
  void note_skip(Warp& warp, std::uint32_t lanes, std::uint32_t next);
  void mark_skipped(Warp& warp, std::uint32_t lanes, std::uint32_t next);
  RawFinding lane_finding(const Warp& warp, const LaneWait& wait, std::uint32_t absent) const;
  void report_skipped(const Warp& warp, std::uint32_t lanes);
  void report_missing(Warp& warp, const LaneState& state);
  bool is_unaligned(const LaneWait& wait) const;
  template <class Visit>
  static void each_state(Warp& warp, Visit visit);

  bool release_barriers();
  void release(std::uint32_t barrier);
  void wait_for_last(std::uint32_t barrier);
  [[noreturn]] void report_deadlock();
  [[noreturn]] void report_endless(const Lowered* at, const Warp& warp,
                                   const std::string& why) const;
  bool barrier_complete(std::uint32_t barrier) const;
  std::uint32_t threads_expected_at(std::uint32_t barrier) const;
  static std::uint32_t lanes_at(const Warp& warp, std::uint32_t barrier);

  const LaunchContext& launch_;
  BlockTraffic traffic_;
  std::unique_ptr<BlockCheckers> checkers_;
  std::vector<ExecutionCount> counts_;       ///< of finished blocks
  std::vector<ExecutionCount> of_warps_;     ///< of the block that runs, warp by warp
  std::vector<std::uint32_t> basic_blocks_;  ///< the first instruction of each
  std::vector<ByPipe<std::uint32_t>> work_;  ///< likewise, work_of() all that is in it
  std::vector<std::uint64_t> entered_;       ///< BlockOfWarps of the block that was done last
  BlockWeights weights_;
  BlockWeights::Weight last_weight_;
  std::vector<std::uint64_t> guarded_threads_;
  MemoryCounts memory_counts_;
  std::vector<SitePattern<std::uint32_t>> shared_sites_;
  std::vector<SitePattern<std::uint64_t>> global_sites_;
  BlockMemory own_;
  std::uint64_t begin_work_ = 0;  ///< of each block
  std::vector<Warp> warps_;
  FlagTimes flags_;
  std::vector<AsyncCopies> async_copies_;   ///< by warp
  std::vector<Poll> polls_;                 ///< by warp: the last load that may wait for others
  std::vector<VainTries> tries_;            ///< by warp
  std::vector<UndefinedValues> undefined_;  ///< by warp, with checkers
  std::vector<UnwrittenStore> unwritten_stores_;  ///< of the instruction that comes next
  std::vector<std::uint32_t> coordinates_;
  std::array<Reduction, 16> collecting_{}, collected_{};
  std::array<std::uint32_t, 16> arrived_{};  ///< threads that arrived without waiting
  std::array<std::uint64_t, 16> arrival_{};  ///< time of the last of these
  std::vector<char> parts_for_good_;  ///< by instruction, with checkers: a branch whose sides exit
  bool leaves_by_exit_ = false;  ///< with checkers: nvcc spells a return `ret`, assembly may not
  std::uint64_t block_ = 0;
  Dim3 block_index_;
  std::uint64_t instructions_ = 0;
  std::uint64_t other_work_ = 0;  ///< that takes the time of so many instructions
  std::uint64_t began_at_ = 0;    ///< instructions_ when the block began
  std::uint64_t changes_ = 0;
  std::uint64_t new_values_ = 0;  ///< stores that changed global memory, where that is watched
  std::uint64_t polling_rounds_ = 0;
  SpinDetector spin_detector_;
  bool is_under_way_ = false;  ///< a block, whose counts nobody has taken
  bool stuck_ = false;
  bool lanes_take_turns_ = false;  ///< some have had to go their own way
  std::string printed_;
};

}  // namespace simgpu
