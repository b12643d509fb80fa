#pragma once

#include <cstdint>
#include <span>

#include "simgpu/exec/lane_waits.h"
#include "simgpu/exec/memory_changes.h"
#include "simgpu/exec/step_observer.h"
#include "simgpu/exec/undefined_follower.h"
#include "simgpu/exec/warp.h"

namespace simgpu {

/// Gives the lanes of a warp their turns: all together, or, where some wait for others of their own
/// warp, in groups that go by themselves. Those that go round in a loop until others, which wait
/// for them where the loop ends, have done something, would else never end.
class LaneScheduler {
 public:
  /// @param changes, follower of the block that runs
  /// @param observer of the launch, or nullptr
  LaneScheduler(const LoweredKernel& kernel, const MemoryChanges& changes,
                UndefinedFollower& follower, const LaneWaits& waits, StepObserver* observer)
      : kernel_(kernel),
        changes_(changes),
        follower_(follower),
        waits_(waits),
        observer_(observer) {}

  void begin_block() { lanes_take_turns_ = false; }
  /// Lanes of this block go their own way soon.
  void expect_turns() { lanes_take_turns_ = true; }

  /// A turn of a warp that can go on.
  void give_turn(Warp& warp);
  /// Lanes that wait for others of their warp where their ways meet go on without them, since those
  /// may be waiting for them. False when there are none.
  /// @param only_useful leaves out lanes that would do nothing before a barrier or their end
  bool let_waiting_lanes_go(std::span<Warp> warps, bool only_useful);

  /// Whether the warp waits for an mbarrier that is as it was.
  static bool sleeps(const Warp& warp);
  /// Whether a warp that sees the same values every time seems to wait for good.
  static bool waits_for_long(const Warp& warp);
  /// Whether it looks for what is not there: a turn more would show it the same.
  static bool looks_in_vain(const Warp& warp);
  /// Whether it has tried the same so often that it is worth asking of all.
  static bool tries_often(const Warp& warp) { return warp.tries.times >= kTriesInVain; }
  /// Whether every warp that can go on seems to wait, some of them since they try in vain.
  bool all_try_in_vain(std::span<const Warp> warps) const;

 private:
  /// Tries with atomics that change nothing, one after the other, after which a warp seems to wait.
  static constexpr std::uint32_t kTriesInVain = 128;

  void run_together(Warp& warp);
  void run_groups(Warp& warp);
  bool run_group(Warp& warp);
  void run_from(const Lowered* in, Warp& warp);
  const Lowered* step(const Lowered* in, Warp& warp, bool follows);
  void part_idle_lanes(Warp& warp);

  const LoweredKernel& kernel_;
  const MemoryChanges& changes_;
  UndefinedFollower& follower_;
  LaneWaits waits_;
  StepObserver* const observer_;
  bool lanes_take_turns_ = false;  ///< some have had to go their own way
};

}  // namespace simgpu
