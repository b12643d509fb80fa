#include <algorithm>
#include <bit>
#include <utility>

#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/opcodes/opcode.h"

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

/// Whether what lanes come to at `index` is an end or a barrier before they change memory: nobody
/// waits for such lanes.
bool does_nothing(const LoweredKernel& kernel, std::uint32_t index) {
  constexpr int kFarthest = 256;
  for (int i = 0; i < kFarthest; ++i) {
    const Lowered& in = kernel.code[index];
    if (in.run == hidden::kExit && in.guarded == nullptr) return true;
    switch (kernel.info.instructions[index].cls) {
      case InstructionClass::barrier:
      case InstructionClass::warp_exchange:
        return true;
      case InstructionClass::global_store:
      case InstructionClass::global_atomic:
      case InstructionClass::shared_store:
      case InstructionClass::shared_atomic:
      case InstructionClass::generic_access:
        return false;
      case InstructionClass::control:
        if (in.run != hidden::kJump) return false;
        index = in.target;
        break;
      default:
        ++index;
        break;
    }
  }
  return false;
}

/// Lanes that wait for others further up the stack, those nearest to its top.
std::uint32_t waiting_lanes(const SimtStack& stack) {
  const auto entries = stack.entries();
  std::uint32_t above = entries.back().lanes;
  for (std::size_t i = entries.size() - 1; i-- > 0; above |= entries[i].lanes) {
    if (const std::uint32_t waiting = entries[i].lanes & ~above; waiting != 0) return waiting;
  }
  return 0;
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
  const std::uint32_t lanes = waiting_lanes(warp.stack);
  if (lanes == 0) return false;
  SimtStack parted = warp.stack;
  parted.keep_lanes(lanes);
  if (only_useful && does_nothing(launch_.kernel, SimtStack(parted).next())) return false;
  warp.stack.keep_lanes(~lanes);

  LaneGroup group;
  group.stack = parted;
  const std::int64_t quantum = std::exchange(warp.quantum, kNoQuantum);
  std::swap(warp.stack, group.stack);
  group.resume = warp.go(warp.stack.next());
  std::swap(warp.stack, group.stack);
  warp.quantum = quantum;
  warp.others.push_back(std::move(group));
  tries_[warp.index] = {};
  warp.waiting_turns = 0;
  for (LaneGroup& other : warp.others) other.waits_for_lanes = false;
  return true;
}

bool BlockRunner::let_waiting_lanes_go(bool only_useful) {
  bool any = false;
  for (Warp& warp : warps_) {
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
  LaneGroup own{.stack = warp.stack,
                .calls = std::move(warp.calls),
                .resume = warp.resume,
                .waiting_turns = warp.waiting_turns,
                .poll = std::move(polls_[warp.index]),
                .tries = std::move(tries_[warp.index]),
                .waits_for_lanes = warp.waits_for_lanes};
  take_up_other(warp);
  warp.others.push_back(std::move(own));
}

/// In place of lanes that have ended, or have come together with others.
void BlockRunner::take_up_other(Warp& warp) {
  LaneGroup next = std::move(warp.others.front());
  warp.others.erase(warp.others.begin());
  warp.stack = next.stack;
  warp.calls = std::move(next.calls);
  warp.resume = next.resume;
  warp.waiting_turns = next.waiting_turns;
  warp.waits_for_lanes = next.waits_for_lanes;
  polls_[warp.index] = std::move(next.poll);
  tries_[warp.index] = std::move(next.tries);
}

void BlockRunner::require_lanes_of_groups(const Lowered* in, const Warp& warp,
                                          std::uint32_t missing) const {
  if (warp.fails_without_lanes) return;
  for (const LaneGroup& other : warp.others) {
    if ((other.lanes() & missing) != 0) throw WaitForLanes{in};
  }
}

/// Puts the running lanes on the stack of others that are at the same instruction.
bool BlockRunner::come_together(Warp& warp, LaneGroup& other) {
  const auto mine = warp.stack.entries();
  if (same_shape(mine, other.stack.entries())) {
    for (std::size_t i = 0; i < mine.size(); ++i) other.stack.add_lanes_at(i, mine[i].lanes);
  } else if (waiting_lanes(warp.stack) == 0) {
    other.stack.add_lanes(warp.stack.active());
  } else {
    return false;
  }
  other.waits_for_lanes = false;
  take_up_other(warp);
  return true;
}

/// The lanes that run have come to a basic block where others are, or are to meet others: all go on
/// as one group.
bool BlockRunner::join_group(Warp& warp) {
  if (!warp.calls.empty()) return false;
  const std::uint32_t next = warp.resume->index;
  ExecutionCount& count = warp.counts[next];
  for (LaneGroup& other : warp.others) {
    if (!other.calls.empty()) continue;
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

/// The running lanes need others at an instruction, who may be waiting there too. Whether they have
/// become one group.
bool BlockRunner::wait_for_lanes(Warp& warp, const Lowered* in) {
  warp.resume = in;
  warp.waits_for_lanes = true;
  const auto is_here = [in](const LaneGroup& other) {
    return other.resume == in && other.calls.empty();
  };
  if (!warp.calls.empty() || std::ranges::none_of(warp.others, is_here)) return false;
  if (come_together(warp, *std::ranges::find_if(warp.others, is_here))) return true;
  // Lanes that wait for these further on must not keep them apart.
  while (part_waiting_lanes(warp, false)) {
  }
  return come_together(warp, *std::ranges::find_if(warp.others, is_here));
}

/// A turn of the group that runs. False when it is no more: its lanes have ended, or are part of
/// another group.
bool BlockRunner::run_group(Warp& warp) {
  warp.active = warp.mask = warp.stack.active();
  warp.gave_way = false;
  warp.waits_for_lanes = false;
  const Lowered* in = warp.resume;
  for (int i = 0; i < kBlocksOfATurn; ++i) {
    warp.quantum = 0;  // it stops at the beginning of each basic block
    warp.memory_quantum = kMemoryQuantum;
    try {
      while (in != nullptr) in = in->run(in, warp);
    } catch (const WaitForLanes& wait) {
      return !wait_for_lanes(warp, wait.in);
    }
    if (warp.state == WarpState::done) {
      if (warp.others.empty()) return false;
      warp.state = WarpState::ready;
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
    const bool goes_on = run_group(warp);
    any_ran = any_ran || !goes_on || !warp.waits_for_lanes;
    if (warp.others.empty()) {
      warp.waits_for_lanes = false;
      return;
    }
    if (goes_on) take_up_next(warp);
  }
  if (any_ran) return;
  // All wait for lanes that do not come, unless they wait where others are to meet them.
  for (std::size_t left = warp.others.size() + 1; left > 0; --left) {
    if (part_waiting_lanes(warp, false)) return;
    take_up_next(warp);
  }
  warp.fails_without_lanes = true;
}

bool BlockRunner::waits_for_long(const Warp& warp) {
  if (warp.waiting_turns < kMostWaitingTurns && !warp.waits_for_lanes) return false;
  return std::ranges::all_of(warp.others, [](const LaneGroup& other) {
    return other.waits_for_lanes || other.waiting_turns >= kMostWaitingTurns;
  });
}

}  // namespace simgpu
