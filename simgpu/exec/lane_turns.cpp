#include <algorithm>
#include <bit>
#include <utility>

#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/lane_paths.h"

/// Lanes of one warp that wait for each other: those that go round in a loop until others, which
/// wait for them where the loop ends, have done something.
namespace simgpu {
namespace {

/// Basic blocks that a group of lanes executes before another one gets its turn.
constexpr int kBlocksOfATurn = 64;
/// Tries in vain after which a loop waits for other lanes, in a block where some have done so.
constexpr std::uint32_t kFurtherTries = 16;
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

// When lanes go their own way.

bool BlockRunner::same_poll(Poll& last, const Lowered* in, std::span<const std::byte> values,
                            std::span<const std::byte> addresses) {
  std::vector<std::byte>& bytes = last.bytes;
  const bool same = last.in == in && bytes.size() == values.size() + addresses.size() &&
                    std::equal(values.begin(), values.end(), bytes.begin()) &&
                    std::equal(addresses.begin(), addresses.end(),
                               bytes.begin() + static_cast<std::ptrdiff_t>(values.size()));
  if (same) return true;
  last.in = in;
  bytes.assign(values.begin(), values.end());
  bytes.insert(bytes.end(), addresses.begin(), addresses.end());
  return false;
}

void BlockRunner::note_try(Warp& warp, const Lowered* in, std::span<const std::byte> a,
                           std::span<const std::byte> b, bool is_atomic) {
  VainTries& tries = tries_[warp.index];
  if (tries.effects != effects() || tries.polls.size() > VainTries::kMostPolls) {
    tries.polls.clear();
    tries.times = tries.atomics = 0;
    tries.effects = effects();
  }
  const auto known = std::ranges::find(tries.polls, in, &Poll::in);
  if (known == tries.polls.end()) {
    same_poll(tries.polls.emplace_back(), in, a, b);
  } else if (same_poll(*known, in, a, b)) {
    ++tries.times;
    if (is_atomic) ++tries.atomics;
  } else {
    tries.times = tries.atomics = 0;
  }
}

std::uint64_t BlockRunner::effects() const {
  return changes() + memory_counts_.shared_store_requests;
}

/// Whether the running lanes of a warp have tried the same so often that they seem to wait.
bool BlockRunner::tries_in_vain(const Warp& warp, std::uint32_t times) const {
  const VainTries& tries = tries_[warp.index];
  return tries.times >= times && tries.effects == effects();
}

/// Loads alone have to be many: they may wait for another block, which has to get its turn first.
bool BlockRunner::all_try_in_vain() const {
  constexpr std::uint32_t kAtomics = 16, kLoads = 4 * kMostWaitingTurns;
  bool any = false;
  for (const Warp& warp : warps_) {
    if (warp.state != WarpState::ready) continue;
    const bool has_atomics = tries_[warp.index].atomics >= kAtomics;
    const bool tries = tries_in_vain(warp, has_atomics ? kTriesInVain : kLoads);
    if (!tries && !waits_for_long(warp)) return false;
    any = any || tries;
  }
  return any;
}

bool BlockRunner::part_waiting_lanes(Warp& warp, bool only_useful) {
  if (warp.state != WarpState::ready || warp.resume == nullptr || !warp.calls.empty()) return false;
  const std::uint32_t lanes = warp.stack.waiting_lanes();
  if (lanes == 0) return false;
  if (only_useful) {
    SimtStack parted = warp.stack;
    parted.keep_lanes(lanes);
    if (does_nothing(launch_.kernel, parted.next())) return false;
  }
  part_lanes(warp, lanes);
  return true;
}

/// Lanes that wait at one place of the stack go on there.
void BlockRunner::part_lanes(Warp& warp, std::uint32_t lanes) {
  LaneGroup group{static_cast<const LaneState&>(warp), {}, {}};
  group.wait = {};
  group.stack.keep_lanes(lanes);
  group.calls.keep_lanes(lanes);
  warp.stack.keep_lanes(~lanes);
  warp.calls.keep_lanes(~lanes);
  enter_parted(warp, group);
  warp.others.push_back(std::move(group));
  tries_[warp.index] = {};
  warp.waiting_turns = 0;
}

/// Lanes that have waited until now come to the basic block where they go on.
void BlockRunner::enter_parted(Warp& warp, LaneGroup& group) {
  const std::int64_t quantum = std::exchange(warp.quantum, kNoQuantum);
  std::swap(warp.stack, group.stack);
  group.resume = warp.go(warp.stack.next());
  std::swap(warp.stack, group.stack);
  group.waiting_turns = 0;
  warp.quantum = quantum;
}

bool BlockRunner::let_waiting_lanes_go(bool only_useful) {
  bool any = false;
  for (Warp& warp : warps_) {
    warp.sleeps_on = nullptr;
    const std::size_t groups = warp.others.size() + 1;
    bool parted = false;
    for (std::size_t i = 0; i < groups; ++i) {
      parted = parted || part_waiting_lanes(warp, only_useful);
      if (groups > 1) take_up_next(warp);
    }
    any = any || parted;
  }
  if (!any) return false;
  lanes_take_turns_ = true;
  stuck_ = false;
  spin_detector_.begin_block();
  return true;
}

void BlockRunner::part_idle_lanes(Warp& warp) {
  for (std::size_t i = warp.others.size() + 1; i > 0; --i) {
    const bool waits = tries_in_vain(warp, kFurtherTries) || warp.waiting_turns >= kFurtherTries;
    if (waits && part_waiting_lanes(warp, false)) return;
    if (!warp.others.empty()) take_up_next(warp);
  }
}

// Their turns.

void BlockRunner::take_up_next(Warp& warp) {
  if (warp.others.empty()) return;
  LaneGroup own{std::move(static_cast<LaneState&>(warp)), std::move(polls_[warp.index]),
                std::move(tries_[warp.index])};
  take_up_other(warp);
  warp.others.push_back(std::move(own));
}

/// In place of lanes that have ended, or have come together with others.
void BlockRunner::take_up_other(Warp& warp) {
  LaneGroup next = std::move(warp.others.front());
  warp.others.erase(warp.others.begin());
  static_cast<LaneState&>(warp) = std::move(static_cast<LaneState&>(next));
  polls_[warp.index] = std::move(next.poll);
  tries_[warp.index] = std::move(next.tries);
}

/// Puts the running lanes on the stack of others that are at the same instruction.
bool BlockRunner::come_together(Warp& warp, LaneGroup& other) {
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

/// The lanes that run have come to a basic block where others are, or are to meet others: all go on
/// as one group.
bool BlockRunner::join_group(Warp& warp) {
  if (!warp.calls.empty()) return false;
  const std::uint32_t next = warp.resume->index;
  ExecutionCount& count = warp.counts[warp.resume->basic_block];
  for (LaneGroup& other : warp.others) {
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

/// A turn of the group that runs. False when it is no more: its lanes have ended, or are part of
/// another group.
bool BlockRunner::run_group(Warp& warp) {
  warp.active = warp.mask = warp.stack.active();
  warp.gave_way = false;
  const Lowered* in = warp.resume;
  for (int i = 0; i < kBlocksOfATurn; ++i) {
    warp.quantum = 0;  // it stops at the beginning of each basic block
    warp.memory_quantum = kMemoryQuantum;
    try {
      if (warp.wait.proceeds) {
        in = in->run(in, warp);
        warp.wait = {};
      }
      run_from(in, warp);
    } catch (const WaitForLanes& waits) {
      return !wait_for_lanes(warp, waits.wait);
    }
    if (warp.state == WarpState::done) {
      if (warp.others.empty()) return false;
      take_up_other(warp);
      return false;
    }
    if (warp.state != WarpState::ready || warp.gave_way) return true;
    const bool at_block = launch_.kernel.info.instructions[warp.resume->index].starts_block;
    if (at_block && join_group(warp)) return false;
    in = warp.resume;
  }
  warp.waiting_turns = 0;
  return true;
}

/// A turn for every group of a warp.
void BlockRunner::run_groups(Warp& warp) {
  bool any_ran = false;
  for (std::size_t left = warp.others.size() + 1; left > 0; --left) {
    bool goes_on = true;
    if (warp.state == WarpState::ready && (warp.wait.in == nullptr || may_go_on(warp))) {
      goes_on = run_group(warp);
      any_ran = true;
    }
    if (warp.others.empty()) break;
    if (goes_on) take_up_next(warp);
  }
  if (!any_ran) let_waits_end(warp);
  // The turn is of lanes that can run, if there are any.
  for (std::size_t i = 0; i < warp.others.size() && warp.state == WarpState::at_barrier; ++i) {
    take_up_next(warp);
  }
}

bool BlockRunner::waits_for_long(const Warp& warp) {
  const auto waits = [&](const LaneState& lanes) {
    const bool for_lanes =
        lanes.wait.in != nullptr && !lanes.wait.proceeds && lanes.wait.missing(warp.dead) != 0;
    return lanes.state != WarpState::ready || for_lanes || lanes.waiting_turns >= kMostWaitingTurns;
  };
  // Lanes that all wait for each other are let go at their next turn.
  const auto polls = [](const LaneState& lanes) {
    return lanes.waiting_turns >= kMostWaitingTurns;
  };
  const bool any_polls = polls(warp) || std::ranges::any_of(warp.others, polls);
  return any_polls && waits(warp) && std::ranges::all_of(warp.others, waits);
}

}  // namespace simgpu
