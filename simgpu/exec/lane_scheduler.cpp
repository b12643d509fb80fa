#include "simgpu/exec/lane_scheduler.h"

#include <algorithm>
#include <cstring>

#include "simgpu/exec/lane_parting.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/mbarrier.h"

namespace simgpu {
namespace {

/// A warp's turn: long enough to keep its registers in the cache, short enough that a warp spinning
/// on another one's store lets it run. Where lanes may be waiting for those of their own warp, it
/// pays to see it soon.
constexpr std::int64_t kInstructionQuantum = 4096, kShortQuantum = 256;
/// Global accesses of a warp's turn, so that the L1 model sees warps side by side.
constexpr std::int32_t kMemoryQuantum = 8;
/// Basic blocks that a group of lanes executes before another one gets its turn.
constexpr int kBlocksOfATurn = 64;
/// Tries in vain after which a loop waits for other lanes, in a block where some have done so.
constexpr std::uint32_t kFurtherTries = 16;

}  // namespace

void LaneScheduler::give_turn(Warp& warp) {
  if (warp.others.empty() && warp.wait.in == nullptr) [[likely]] {
    run_together(warp);
  } else {
    run_groups(warp);
  }
  if (lanes_take_turns_) [[unlikely]]
    part_idle_lanes(warp);
}

void LaneScheduler::run_together(Warp& warp) {
  warp.quantum = lanes_take_turns_ ? kShortQuantum : kInstructionQuantum;
  warp.memory_quantum = kMemoryQuantum;
  const Lowered* in = warp.resume;
  if (in == nullptr) {
    in = warp.go(0);
  } else {
    warp.active = warp.mask = warp.stack.active();
  }
  warp.gave_way = false;
  try {
    run_from(in, warp);
  } catch (const WaitForLanes& waits) {
    waits_.wait(warp, waits.wait);
  }
  if (!warp.gave_way) warp.waiting_turns = 0;
}

void LaneScheduler::run_from(const Lowered* in, Warp& warp) {
  if (warp.follows || observer_ != nullptr) [[unlikely]] {
    while (in != nullptr) in = step(in, warp, warp.follows);
    return;
  }
  while (in != nullptr) in = in->run(in, warp);
}

/// An instruction that somebody may look at.
/// @param follows whether its undefined values are to be followed: they have been already where it
/// had to wait
const Lowered* LaneScheduler::step(const Lowered* in, Warp& warp, bool follows) {
  const std::uint32_t lanes = executing_lanes(*in, warp);
  if (observer_ != nullptr) observer_->before(*in, warp, lanes);
  const Lowered* next = follows ? follower_.step(in, warp) : in->run(in, warp);
  if (observer_ != nullptr) observer_->after(*in, warp, lanes);
  return next;
}

/// A turn for every group of a warp.
void LaneScheduler::run_groups(Warp& warp) {
  bool any_ran = false;
  for (std::size_t left = warp.others.size() + 1; left > 0; --left) {
    bool goes_on = true;
    if (warp.state == WarpState::ready && (warp.wait.in == nullptr || waits_.may_go_on(warp))) {
      goes_on = run_group(warp);
      any_ran = true;
    }
    if (warp.others.empty()) break;
    if (goes_on) take_up_next(warp);
  }
  if (!any_ran) waits_.end_if_all_wait(warp);
  // The turn is of lanes that can run, if there are any.
  take_up_ready(warp);
}

/// A turn of the group that runs. False when it is no more: its lanes have ended, or are part of
/// another group.
bool LaneScheduler::run_group(Warp& warp) {
  warp.active = warp.mask = warp.stack.active();
  warp.gave_way = false;
  const Lowered* in = warp.resume;
  for (int i = 0; i < kBlocksOfATurn; ++i) {
    warp.quantum = 0;  // it stops at the beginning of each basic block
    warp.memory_quantum = kMemoryQuantum;
    try {
      if (warp.wait.proceeds) {
        in = step(in, warp, false);
        warp.wait = {};
      }
      run_from(in, warp);
    } catch (const WaitForLanes& waits) {
      return !waits_.wait(warp, waits.wait);
    }
    if (warp.state == WarpState::done) {
      if (warp.others.empty()) return false;
      take_up_other(warp);
      return false;
    }
    if (warp.state != WarpState::ready || warp.gave_way) return true;
    const bool at_block = kernel_.info.instructions[warp.resume->index].starts_block;
    if (at_block && join_group(warp)) return false;
    in = warp.resume;
  }
  warp.waiting_turns = 0;
  return true;
}

void LaneScheduler::part_idle_lanes(Warp& warp) {
  for (std::size_t i = warp.others.size() + 1; i > 0; --i) {
    const bool waits =
        warp.tries.reach(kFurtherTries, changes_.effects()) || warp.waiting_turns >= kFurtherTries;
    if (waits && part_waiting_lanes(kernel_, warp, false)) return;
    if (!warp.others.empty()) take_up_next(warp);
  }
}

bool LaneScheduler::let_waiting_lanes_go(std::span<Warp> warps, bool only_useful) {
  bool any = false;
  for (Warp& warp : warps) {
    warp.sleeps_on = nullptr;
    const std::size_t groups = warp.others.size() + 1;
    bool parted = false;
    for (std::size_t i = 0; i < groups; ++i) {
      parted = parted || part_waiting_lanes(kernel_, warp, only_useful);
      if (groups > 1) take_up_next(warp);
    }
    any = any || parted;
  }
  lanes_take_turns_ = lanes_take_turns_ || any;
  return any;
}

bool LaneScheduler::sleeps(const Warp& warp) {
  if (warp.sleeps_on == nullptr || !warp.others.empty()) return false;
  std::uint64_t now = 0;
  std::memcpy(&now, warp.sleeps_on, sizeof(now));
  return Mbarrier::decode(now).odd == Mbarrier::decode(warp.slept_on).odd;
}

bool LaneScheduler::looks_in_vain(const Warp& warp) {
  constexpr std::uint32_t kLooks = 16;
  return sleeps(warp) || warp.waiting_turns >= kLooks || tries_often(warp);
}

bool LaneScheduler::waits_for_long(const Warp& warp) {
  const auto waits = [&](const LaneState& lanes) {
    const bool for_lanes =
        lanes.wait.in != nullptr && !lanes.wait.proceeds && lanes.wait.missing(warp.dead) != 0;
    return lanes.state != WarpState::ready || for_lanes ||
           lanes.waiting_turns >= LaneState::kMostWaitingTurns;
  };
  // Lanes that all wait for each other are let go at their next turn.
  const auto polls = [](const LaneState& lanes) {
    return lanes.waiting_turns >= LaneState::kMostWaitingTurns;
  };
  const bool any_polls = polls(warp) || std::ranges::any_of(warp.others, polls);
  return any_polls && waits(warp) && std::ranges::all_of(warp.others, waits);
}

/// Loads alone have to be many: they may wait for another block, which has to get its turn first.
bool LaneScheduler::all_try_in_vain(std::span<const Warp> warps) const {
  constexpr std::uint32_t kAtomics = 16, kLoads = 4 * LaneState::kMostWaitingTurns;
  bool any = false;
  for (const Warp& warp : warps) {
    if (warp.state != WarpState::ready) continue;
    const bool has_atomics = warp.tries.atomics >= kAtomics;
    const bool tries = warp.tries.reach(has_atomics ? kTriesInVain : kLoads, changes_.effects());
    if (!tries && !waits_for_long(warp)) return false;
    any = any || tries;
  }
  return any;
}

}  // namespace simgpu
