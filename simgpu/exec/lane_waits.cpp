#include "simgpu/exec/lane_waits.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "simgpu/exec/joint_exchange.h"
#include "simgpu/exec/lane_parting.h"
#include "simgpu/exec/lane_paths.h"

namespace simgpu {
namespace {

std::uint32_t first_lane(std::uint32_t lanes) {
  return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

/// The part of `state` that `lanes` are.
void keep_lanes(LaneState& state, std::uint32_t lanes) {
  state.stack.keep_lanes(lanes);
  state.calls.keep_lanes(lanes);
}

/// Whether anything leaves the kernel by `exit`.
bool has_exit(const LoweredKernel& kernel) {
  return std::ranges::any_of(
      kernel.code, [&](const Lowered& in) { return kernel.spellings[in.index] == "exit"; });
}

/// Where lanes are that others wait for, as far as they are known to be anywhere.
const Lowered* place_of(const LaneState& state) {
  if (state.state == WarpState::at_barrier) return state.barrier_instruction;
  return state.wait.in != nullptr ? state.wait.in : state.resume;
}

/// Calls visit(state) for each group of the warp's lanes, that which has the turn first.
template <class Visit>
void each_state(Warp& warp, Visit visit) {
  visit(static_cast<LaneState&>(warp));
  for (LaneState& other : warp.others) visit(other);
}

}  // namespace

LaneWaits::LaneWaits(const LoweredKernel& kernel, BlockCheckers* checkers,
                     const BlockPosition& position)
    : kernel_(kernel),
      checkers_(checkers),
      position_(position),
      leaves_by_exit_(checkers != nullptr && has_exit(kernel)) {}

/// Those of the waiting group's own lanes that it waits for go on without it.
void LaneWaits::part_missing_lanes(Warp& warp) {
  const LaneWait& wait = warp.wait;
  const std::uint32_t missing = wait.missing(warp.dead);
  if (const std::uint32_t others = warp.stack.active() & ~wait.lanes; (others & missing) != 0) {
    // A guard keeps them from the instruction, and they are on no way to `ret` that goes around it.
    mark_skipped(warp, others, wait.in->index + 1);
    LaneState group = new_group(warp);
    keep_lanes(group, others);
    keep_lanes(warp, ~others);
    group.resume = wait.in + 1;
    warp.others.push_back(std::move(group));
  }
  while (const std::uint32_t lanes = warp.stack.waiting_lanes(missing)) {
    std::uint32_t next = 0;
    if (warp.stack.have_come_to_meet(lanes, next)) note_skip(warp, lanes, next);
    part_lanes(warp, lanes);
  }
  for (CallStack::Waiting waiting = warp.calls.find_waiting(missing); waiting.lanes != 0;
       waiting = warp.calls.find_waiting(missing)) {
    LaneState group = new_group(warp);
    group.calls.truncate(waiting.depth);
    group.calls.keep_lanes(waiting.lanes);
    group.stack = waiting.stack;
    group.stack.keep_lanes(waiting.lanes);
    std::uint32_t next = 0;
    if (waiting.stack.have_come_to_meet(waiting.lanes, next)) {
      note_skip(warp, waiting.lanes, next);
    }
    keep_lanes(warp, ~waiting.lanes);
    enter_parted(warp, group);
    warp.others.push_back(std::move(group));
  }
}

/// Lanes have gone on behind the place where they were to meet those that wait: they take no part
/// in what these are at, unless they are on their way to `ret`. Of a barrier that is told at once,
/// for it is one of each round.
void LaneWaits::note_skip(Warp& warp, std::uint32_t lanes, std::uint32_t next) {
  if (only_exits(kernel_, next)) return;
  const bool may_have_returned = !warp.wait.at_barrier && only_stores_and_exits(kernel_, next);
  // What assembly makes of a return is in no source line that could be looked at.
  if (may_have_returned && (leaves_by_exit_ || !warp.calls.empty())) return;
  mark_skipped(warp, lanes, next);
  if (may_have_returned) {
    warp.wait.may_have_returned |= lanes;
  } else {
    warp.wait.may_have_returned &= ~lanes;
  }
}

void LaneWaits::mark_skipped(Warp& warp, std::uint32_t lanes, std::uint32_t next) {
  LaneWait& wait = warp.wait;
  const std::uint32_t of_these = lanes & wait.missing(warp.dead);
  wait.skipped |= of_these;
  wait.skipped_to = next;
  wait.skipped_at = wait.in;
  if (wait.at_barrier) report_skipped(warp, of_these);
}

bool LaneWaits::may_go_on(Warp& warp) {
  LaneWait& wait = warp.wait;
  if (wait.proceeds) return true;
  const std::uint32_t missing = wait.missing(warp.dead);
  if (missing == 0) {
    if (!wait.at_barrier) report_skipped(warp, wait.skipped & warp.dead);
    wait.skipped = wait.may_have_returned = 0;
    wait.end();
    return true;
  }
  if ((warp.all_lanes() & missing) != 0) part_missing_lanes(warp);
  return false;
}

bool LaneWaits::wait(Warp& warp, const LaneWait& wait) {
  const LaneWait before = warp.wait;
  warp.resume = wait.in;
  warp.wait = wait;
  if (before.skipped_at == wait.in) {
    warp.wait.skipped = before.skipped;
    warp.wait.may_have_returned = before.may_have_returned;
    warp.wait.skipped_to = before.skipped_to;
    warp.wait.skipped_at = before.skipped_at;
  }
  const auto is_here = [&](const LaneState& other) {
    return other.wait.in == wait.in && other.calls.empty();
  };
  if (warp.calls.empty() && std::ranges::any_of(warp.others, is_here)) {
    if (come_together(warp, *std::ranges::find_if(warp.others, is_here))) return true;
    // Lanes that wait for these further on must not keep them apart.
    while (part_waiting_lanes(kernel_, warp, false)) {
    }
    if (come_together(warp, *std::ranges::find_if(warp.others, is_here))) return true;
  }
  part_missing_lanes(warp);
  exchange_jointly(warp);
  return false;
}

/// Lanes that wait at different places for each other do what they wait for, if it is the same:
/// the same kind of exchange, of the same lanes. Whether any did.
bool LaneWaits::exchange_jointly(Warp& warp) {
  std::vector<LaneState*> waiting;
  each_state(warp, [&](LaneState& state) {
    if (state.wait.in != nullptr && !state.wait.at_barrier) waiting.push_back(&state);
  });
  for (bool done = waiting.size() < 2; !done;) {
    // Who waits for lanes that are not in the exchange holds up those that wait for him.
    const std::vector<LaneState*> ready = ready_to_exchange(kernel_, waiting, warp.dead);
    done = ready.size() == waiting.size();
    waiting = ready;
  }
  if (waiting.size() < 2) return false;
  const std::uint32_t mask = warp.mask, active = warp.active;
  run_joint_exchange(warp, waiting);
  warp.mask = mask;
  warp.active = active;
  for (LaneState* state : waiting) {
    state->resume = state->wait.in + 1;
    state->wait = {};
  }
  return true;
}

void LaneWaits::end_if_all_wait(Warp& warp) {
  bool all_wait = true;
  each_state(warp, [&](const LaneState& state) {
    all_wait = all_wait && (state.state == WarpState::at_barrier || state.wait.in != nullptr);
  });
  if (!all_wait || exchange_jointly(warp)) return;
  bool exchanges = false;
  each_state(warp, [&](LaneState& state) {
    if (state.wait.in == nullptr || state.wait.at_barrier) return;
    exchanges = state.wait.proceeds = true;
    report_missing(warp, state);
  });
  if (exchanges) return;
  each_state(warp, [&](LaneState& state) {
    if (state.wait.in == nullptr) return;
    state.wait.proceeds = true;
    report_missing(warp, state);
  });
}

// What is told of it.

/// The exchange or barrier at which the lanes of `wait` are does not have all that it needs.
RawFinding LaneWaits::lane_finding(const Warp& warp, const LaneWait& wait,
                                   std::uint32_t absent) const {
  RawFinding finding;
  finding.code = "RL0305";
  finding.pc = wait.in->index;
  finding.block = position_.block();
  finding.warp = warp.index;
  finding.lane = static_cast<std::uint8_t>(first_lane(wait.lanes));
  finding.address = first_lane(absent);
  finding.lane_fault = wait.at_barrier ? LaneFault::not_at_barrier : LaneFault::not_here;
  finding.lanes_here = static_cast<std::uint8_t>(std::popcount(wait.lanes));
  finding.lanes_running =
      static_cast<std::uint8_t>(std::popcount(~warp.dead | wait.lanes | absent));
  const std::uint32_t branch = branch_around(kernel_, wait.in->index);
  if (branch != kNowhere) finding.parted_pc = branch;
  finding.has_other = true;
  finding.other_block = position_.block();
  finding.other_warp = warp.index;
  finding.other_lane = static_cast<std::uint8_t>(first_lane(absent));
  return finding;
}

void LaneWaits::report_skipped(const Warp& warp, std::uint32_t lanes) {
  if (checkers_ == nullptr || lanes == 0 || is_unaligned(warp.wait)) return;
  RawFinding finding = lane_finding(warp, warp.wait, lanes);
  finding.other_pc = first_effect(kernel_, warp.wait.skipped_to);
  finding.unless_returned = (lanes & ~warp.wait.may_have_returned) == 0;
  checkers_->add(finding);
}

void LaneWaits::report_missing(Warp& warp, const LaneState& state) {
  const std::uint32_t missing = state.wait.missing(warp.dead);
  if (checkers_ == nullptr || missing == 0 || is_unaligned(state.wait)) return;
  const Lowered* place = nullptr;
  std::uint32_t absent = 0;
  each_state(warp, [&](LaneState& other) {
    const std::uint32_t lanes = other.all_lanes() & missing;
    // Lanes that came to the same barrier by another way are there.
    if (lanes == 0 || place != nullptr || place_of(other) == state.wait.in) return;
    place = place_of(other);
    absent = lanes;
  });
  if (place == nullptr) return;
  RawFinding finding = lane_finding(warp, state.wait, absent);
  finding.other_pc = place->index;
  checkers_->add(finding);
}

/// barrier.sync without .aligned: lanes may come one by one, from different places.
bool LaneWaits::is_unaligned(const LaneWait& wait) const {
  const std::string& spelling = kernel_.spellings[wait.in->index];
  return wait.at_barrier && spelling.starts_with("barrier") &&
         spelling.find("aligned") == std::string::npos;
}

}  // namespace simgpu
