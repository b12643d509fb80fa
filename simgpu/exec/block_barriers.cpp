#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/opcodes/opcode.h"

/// How the warps of a block wait at barriers, and when a barrier lets them go.
namespace simgpu {

const Lowered* BlockRunner::wait(Warp& warp, const Lowered* in, std::uint32_t barrier,
                                 std::uint32_t threads) {
  warp.state = WarpState::at_barrier;
  warp.barrier = barrier;
  warp.barrier_threads = threads;
  warp.barrier_instruction = in;
  warp.resume = in + 1;
  return nullptr;
}

void BlockRunner::arrive(const Warp& warp, std::uint32_t barrier) {
  arrived_.at(barrier) += kWarpSize;
  arrival_.at(barrier) = std::max(arrival_.at(barrier), warp.time());
  if (checkers_) checkers_->arrive(warp.index, barrier);
}

/// The lanes of a warp that wait at a barrier.
std::uint32_t BlockRunner::lanes_at(const Warp& warp, std::uint32_t barrier) {
  const auto here = [&](const LaneState& lanes) {
    return lanes.state == WarpState::at_barrier && lanes.barrier == barrier;
  };
  if (warp.others.empty()) return here(warp) ? ~warp.dead : 0;
  std::uint32_t lanes = here(warp) ? warp.all_lanes() : 0;
  for (const LaneGroup& other : warp.others) lanes |= here(other) ? other.all_lanes() : 0;
  return lanes;
}

/// How many threads those that wait at a barrier expect; 0 for all of the block.
std::uint32_t BlockRunner::threads_expected_at(std::uint32_t barrier) const {
  std::uint32_t threads = 0;
  const auto note = [&](const LaneState& lanes) {
    if (lanes.state == WarpState::at_barrier && lanes.barrier == barrier) {
      threads = std::max(threads, lanes.barrier_threads);
    }
  };
  for (const Warp& warp : warps_) {
    note(warp);
    for (const LaneGroup& other : warp.others) note(other);
  }
  return threads;
}

/// A barrier over the whole block waits for every thread that still runs; one with a thread count
/// for that many threads, to which those of a warp that have exited belong.
bool BlockRunner::barrier_complete(std::uint32_t barrier) const {
  std::uint32_t threads = arrived_[barrier];
  bool everybody = true;
  for (const Warp& warp : warps_) {
    const std::uint32_t lanes = lanes_at(warp, barrier);
    if (lanes != 0) threads += static_cast<std::uint32_t>(std::popcount(lanes | warp.dead));
    if (warp.state != WarpState::done && (lanes | warp.dead) != ~0U) everybody = false;
  }
  const std::uint32_t wanted = threads_expected_at(barrier);
  return wanted == 0 ? everybody : threads >= wanted;
}

bool BlockRunner::release_barriers() {
  std::uint32_t waited_for = 0;
  const auto note = [&](const LaneState& lanes) {
    if (lanes.state == WarpState::at_barrier) waited_for |= 1U << lanes.barrier;
  };
  for (const Warp& warp : warps_) {
    note(warp);
    for (const LaneGroup& other : warp.others) note(other);
  }
  bool released = false;
  for (; waited_for != 0; waited_for &= waited_for - 1) {
    const auto barrier = static_cast<std::uint32_t>(std::countr_zero(waited_for));
    if (!barrier_complete(barrier)) continue;
    release(barrier);
    released = true;
  }
  return released;
}

/// All warps that wait go on when the last one has come.
void BlockRunner::wait_for_last(std::uint32_t barrier) {
  std::uint64_t last = std::exchange(arrival_[barrier], 0);
  for (const Warp& warp : warps_) {
    if (lanes_at(warp, barrier) != 0) last = std::max(last, warp.time());
  }
  for (Warp& warp : warps_) {
    if (lanes_at(warp, barrier) != 0) warp.waited += last - warp.time();
  }
}

void BlockRunner::release(std::uint32_t barrier) {
  wait_for_last(barrier);
  // Who has exited counts at a barrier of all threads, and at no other.
  const bool counts_all = threads_expected_at(barrier) == 0;
  bool everybody = true;
  std::vector<bool> taking_part(checkers_ ? warps_.size() : 0, false);
  for (Warp& warp : warps_) {
    const std::uint32_t lanes = lanes_at(warp, barrier);
    const bool exited = warp.state == WarpState::done && counts_all;
    everybody = everybody && (exited || (lanes | warp.dead) == ~0U);
    if (checkers_) taking_part[warp.index] = lanes != 0;
    const auto go_on = [&](LaneState& state) {
      if (state.state == WarpState::at_barrier && state.barrier == barrier) {
        state.state = WarpState::ready;
      }
    };
    go_on(warp);
    for (LaneGroup& other : warp.others) go_on(other);
    for (std::size_t i = 0; i < warp.others.size() && warp.state == WarpState::at_barrier; ++i) {
      take_up_next(warp);
    }
  }
  if (checkers_) {
    if (everybody) {
      checkers_->block_barrier();
    } else {
      checkers_->partial_barrier(taking_part, barrier);
    }
  }
  collected_[barrier] = collecting_[barrier];
  collecting_[barrier] = {};
  arrived_[barrier] = 0;
}

/// Notes where lanes go different ways, of which some do not come back.
void BlockRunner::note_parting(const Lowered* in, Warp& warp) const {
  if (in->run != hidden::kExit && parts_for_good_[in->index] == 0) return;
  for (std::uint32_t lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
    warp.left_at[static_cast<unsigned>(std::countr_zero(lanes))] = in->index;
  }
}

void BlockRunner::report_deadlock() {
  const Warp* first = nullptr;
  const Warp* other = nullptr;
  for (const Warp& warp : warps_) {
    if (warp.state != WarpState::at_barrier) continue;
    if (first == nullptr) {
      first = &warp;
    } else if (other == nullptr && warp.barrier != first->barrier) {
      other = &warp;
    }
  }
  const auto lane = static_cast<unsigned>(__builtin_ctz(first->stack.active()));
  std::string message = "No warp of the block can go on: warp " + std::to_string(first->index) +
                        " waits at barrier " + std::to_string(first->barrier);
  if (other != nullptr) {
    message += " while warp " + std::to_string(other->index) + " waits at barrier " +
               std::to_string(other->barrier);
  } else {
    message += ", which expects " + std::to_string(first->barrier_threads) +
               " threads, more than will come";
  }
  fail(first->barrier_instruction, *first, lane,
       {.code = "RL0306",
        .message = std::move(message),
        .action = "waits at barrier " + std::to_string(first->barrier)});
}

}  // namespace simgpu
