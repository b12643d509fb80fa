#pragma once

#include <cstdint>

#include "simgpu/exec/warp.h"

/// Groups of lanes of one warp that go different ways: how they part and come together, and whose
/// state is the warp's own.
namespace simgpu {

/// Another group gets to run in place of the one that does, which comes last.
void take_up_next(Warp& warp);
/// Another group gets to run in place of lanes that have ended, or are part of others.
void take_up_other(Warp& warp);
/// A group that does not wait at a barrier gets to run, if there is one.
void take_up_ready(Warp& warp);

/// Of lanes that are where those are that run, but wait for nobody, and have tried nothing.
LaneState new_group(const Warp& warp);
/// Lanes that have waited at one place of the stack go on there, as a group.
void part_lanes(Warp& warp, std::uint32_t lanes);
/// Lanes that wait for those that run do so no longer. Whether there were any.
/// @param only_useful leaves out lanes that would do nothing before a barrier or their end
bool part_waiting_lanes(const LoweredKernel& kernel, Warp& warp, bool only_useful);
/// The lanes of a new group, which have waited until now, come to the basic block where they go on.
void enter_parted(Warp& warp, LaneState& group);

/// Puts the running lanes on the stack of others that are at the same instruction. False, and
/// nothing done, where these meet others than those.
bool come_together(Warp& warp, LaneState& other);
/// The lanes that run have come to a basic block where others are, or are to meet others: all go on
/// as one group. False where there are none.
bool join_group(Warp& warp);

}  // namespace simgpu
