#include "simgpu/exec/barriers.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "simgpu/exec/lane_parting.h"

namespace simgpu {
namespace {

bool is_at(const LaneState& lanes, std::uint32_t barrier) {
  return lanes.state == WarpState::at_barrier && lanes.barrier == barrier;
}

/// The lanes of a warp that wait at a barrier.
std::uint32_t lanes_at(const Warp& warp, std::uint32_t barrier) {
  if (warp.others.empty()) return is_at(warp, barrier) ? ~warp.dead : 0;
  std::uint32_t lanes = is_at(warp, barrier) ? warp.all_lanes() : 0;
  for (const LaneState& other : warp.others) lanes |= is_at(other, barrier) ? other.all_lanes() : 0;
  return lanes;
}

/// How many threads those that wait at a barrier expect; 0 for all of the block.
std::uint32_t threads_expected_at(std::span<const Warp> warps, std::uint32_t barrier) {
  std::uint32_t threads = 0;
  const auto note = [&](const LaneState& lanes) {
    if (is_at(lanes, barrier)) threads = std::max(threads, lanes.barrier_threads);
  };
  for (const Warp& warp : warps) {
    note(warp);
    for (const LaneState& other : warp.others) note(other);
  }
  return threads;
}

/// Bit by bit, the barriers at which anybody waits.
std::uint32_t waited_for(std::span<const Warp> warps) {
  std::uint32_t barriers = 0;
  const auto note = [&](const LaneState& lanes) {
    if (lanes.state == WarpState::at_barrier) barriers |= 1U << lanes.barrier;
  };
  for (const Warp& warp : warps) {
    note(warp);
    for (const LaneState& other : warp.others) note(other);
  }
  return barriers;
}

}  // namespace

const Lowered* Barriers::wait(Warp& warp, const Lowered* in, std::uint32_t barrier,
                              std::uint32_t threads) {
  warp.state = WarpState::at_barrier;
  warp.barrier = barrier;
  warp.barrier_threads = threads;
  warp.barrier_instruction = in;
  warp.resume = in + 1;
  return nullptr;
}

void Barriers::arrive(const Warp& warp, std::uint32_t barrier) {
  Barrier& at = barriers_.at(barrier);
  at.arrived += kWarpSize;
  at.last_arrival = std::max(at.last_arrival, warp.time());
  if (checkers_ != nullptr) checkers_->arrive(warp.index, barrier);
}

void Barriers::vote(std::uint32_t barrier, std::uint32_t voters, std::uint32_t votes) {
  Reduction& reduction = barriers_.at(barrier).collecting;
  reduction.population += static_cast<std::uint32_t>(std::popcount(votes));
  reduction.any = reduction.any || votes != 0;
  reduction.all = reduction.all && votes == voters;
}

bool Barriers::let_go(std::span<Warp> warps) {
  bool any = false;
  for (std::uint32_t left = waited_for(warps); left != 0; left &= left - 1) {
    const auto barrier = static_cast<std::uint32_t>(std::countr_zero(left));
    if (!is_complete(warps, barrier)) continue;
    release(warps, barrier);
    any = true;
  }
  return any;
}

/// A barrier over the whole block waits for every thread that still runs; one with a thread count
/// for that many threads, to which those of a warp that have exited belong.
bool Barriers::is_complete(std::span<const Warp> warps, std::uint32_t barrier) const {
  std::uint32_t threads = barriers_[barrier].arrived;
  bool everybody = true;
  for (const Warp& warp : warps) {
    const std::uint32_t lanes = lanes_at(warp, barrier);
    if (lanes != 0) threads += static_cast<std::uint32_t>(std::popcount(lanes | warp.dead));
    if (warp.state != WarpState::done && (lanes | warp.dead) != ~0U) everybody = false;
  }
  const std::uint32_t wanted = threads_expected_at(warps, barrier);
  return wanted == 0 ? everybody : threads >= wanted;
}

void Barriers::release(std::span<Warp> warps, std::uint32_t barrier) {
  wait_for_last(warps, barrier);
  if (checkers_ != nullptr) tell_checkers(warps, barrier);
  const auto go_on = [&](LaneState& lanes) {
    if (is_at(lanes, barrier)) lanes.state = WarpState::ready;
  };
  for (Warp& warp : warps) {
    go_on(warp);
    for (LaneState& other : warp.others) go_on(other);
    take_up_ready(warp);
  }
  barriers_[barrier] = {.collected = barriers_[barrier].collecting};
}

/// All warps that wait go on when the last one has come.
void Barriers::wait_for_last(std::span<Warp> warps, std::uint32_t barrier) {
  std::uint64_t last = barriers_[barrier].last_arrival;
  for (const Warp& warp : warps) {
    if (lanes_at(warp, barrier) != 0) last = std::max(last, warp.time());
  }
  for (Warp& warp : warps) {
    if (lanes_at(warp, barrier) != 0) warp.waited += last - warp.time();
  }
}

void Barriers::tell_checkers(std::span<const Warp> warps, std::uint32_t barrier) {
  // Who has exited counts at a barrier of all threads, and at no other.
  const bool counts_all = threads_expected_at(warps, barrier) == 0;
  bool everybody = true;
  std::vector<bool> taking_part(warps.size(), false);
  for (const Warp& warp : warps) {
    const std::uint32_t lanes = lanes_at(warp, barrier);
    const bool exited = warp.state == WarpState::done && counts_all;
    everybody = everybody && (exited || (lanes | warp.dead) == ~0U);
    taking_part[warp.index] = lanes != 0;
  }
  if (everybody) {
    checkers_->block_barrier();
  } else {
    checkers_->partial_barrier(taking_part, barrier);
  }
}

}  // namespace simgpu
