#include "simgpu/exec/lane_parting.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "simgpu/exec/lane_paths.h"

namespace simgpu {
namespace {

/// No turn ends because of its instructions.
constexpr std::int64_t kNoQuantum = std::int64_t{1} << 32;

bool same_entry(const SimtStack::Entry& a, const SimtStack::Entry& b) {
  return a.next == b.next && a.meet == b.meet;
}

/// Whether the lanes on both stacks, which are at the same instruction, meet the same others.
bool same_shape(std::span<const SimtStack::Entry> mine, std::span<const SimtStack::Entry> other) {
  return mine.size() == other.size() && mine.back().meet == other.back().meet &&
         std::equal(mine.begin(), mine.end() - 1, other.begin(), same_entry);
}

/// Whether lanes with the stack `mine`, which have come to `next`, may wait there for those above
/// an entry of `other`, as they would if they had never gone by themselves.
bool waits_below(std::span<const SimtStack::Entry> mine, std::uint32_t next,
                 std::span<const SimtStack::Entry> other) {
  if (other.size() <= mine.size() || other[mine.size() - 1].next != next) return false;
  const std::size_t below = mine.size() - 1;
  return other[below].meet == mine[below].meet &&
         std::equal(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(below), other.begin(),
                    same_entry);
}

}  // namespace

void take_up_next(Warp& warp) {
  if (warp.others.empty()) return;
  LaneState own = std::move(static_cast<LaneState&>(warp));
  take_up_other(warp);
  warp.others.push_back(std::move(own));
}

void take_up_other(Warp& warp) {
  static_cast<LaneState&>(warp) = std::move(warp.others.front());
  warp.others.erase(warp.others.begin());
}

void take_up_ready(Warp& warp) {
  for (std::size_t i = 0; i < warp.others.size() && warp.state == WarpState::at_barrier; ++i) {
    take_up_next(warp);
  }
}

LaneState new_group(const Warp& warp) {
  LaneState group = warp;
  group.wait = {};
  group.poll = {};
  group.tries = {};
  return group;
}

void part_lanes(Warp& warp, std::uint32_t lanes) {
  LaneState group = new_group(warp);
  group.stack.keep_lanes(lanes);
  group.calls.keep_lanes(lanes);
  warp.stack.keep_lanes(~lanes);
  warp.calls.keep_lanes(~lanes);
  enter_parted(warp, group);
  warp.others.push_back(std::move(group));
  warp.tries = {};
  warp.waiting_turns = 0;
}

bool part_waiting_lanes(const LoweredKernel& kernel, Warp& warp, bool only_useful) {
  if (warp.state != WarpState::ready || warp.resume == nullptr || !warp.calls.empty()) return false;
  const std::uint32_t lanes = warp.stack.waiting_lanes();
  if (lanes == 0) return false;
  if (only_useful) {
    SimtStack parted = warp.stack;
    parted.keep_lanes(lanes);
    if (does_nothing(kernel, parted.next())) return false;
  }
  part_lanes(warp, lanes);
  return true;
}

void enter_parted(Warp& warp, LaneState& group) {
  const std::int64_t quantum = std::exchange(warp.quantum, kNoQuantum);
  std::swap(warp.stack, group.stack);
  group.resume = warp.go(warp.stack.next());
  std::swap(warp.stack, group.stack);
  group.waiting_turns = 0;
  warp.quantum = quantum;
}

bool come_together(Warp& warp, LaneState& other) {
  const auto mine = warp.stack.entries();
  if (same_shape(mine, other.stack.entries())) {
    for (std::size_t i = 0; i < mine.size(); ++i) other.stack.add_lanes_at(i, mine[i].lanes);
  } else if (warp.stack.waiting_lanes() == 0) {
    other.stack.add_lanes(warp.stack.active());
  } else {
    return false;
  }
  other.wait.end();
  take_up_other(warp);
  return true;
}

bool join_group(Warp& warp) {
  if (!warp.calls.empty()) return false;
  const std::uint32_t next = warp.resume->index;
  ExecutionCount& count = warp.counts[warp.resume->basic_block];
  for (LaneState& other : warp.others) {
    if (!other.calls.empty() || other.state != WarpState::ready) continue;
    if (other.resume == warp.resume) {
      if (!come_together(warp, other)) continue;
      --count.warps;
      return true;
    }
    const auto mine = warp.stack.entries();
    if (!waits_below(mine, next, other.stack.entries())) continue;
    // They come into the block again, with the others.
    --count.warps;
    count.threads -= static_cast<std::uint32_t>(std::popcount(warp.stack.active()));
    for (std::size_t i = 0; i < mine.size(); ++i) other.stack.add_lanes_at(i, mine[i].lanes);
    take_up_other(warp);
    return true;
  }
  return false;
}

}  // namespace simgpu
