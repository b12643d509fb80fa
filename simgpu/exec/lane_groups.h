#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "simgpu/exec/lanes.h"
#include "simgpu/exec/required_lanes.h"
#include "simgpu/exec/thread_block.h"

namespace simgpu {

/// The executing lanes in groups that name the same lanes, for instructions with a mask of members.
/// Tiles of a warp, or the lanes that a match has put together, execute one instruction at once
/// with a mask of each group's own. Calls visit(group, members): the lanes of the group, and the
/// named lanes that execute. All of them have to be here; they are ordered by it.
template <class Visit>
void each_lane_group(const Lowered* in, Warp& warp, std::uint32_t slot_of_mask, Visit visit) {
  // A copy: the destination may be the slot of the mask.
  NamedLanes named;
  std::copy_n(words(warp, slot_of_mask), kWarpSize, named.begin());
  // Before anything is done: the instruction is tried again when the lanes are here.
  require_lanes(in, warp, named);
  for (std::uint32_t left = warp.mask; left != 0;) {
    const std::uint32_t members = named[static_cast<unsigned>(std::countr_zero(left))];
    std::uint32_t group = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      group |= static_cast<std::uint32_t>(named[lane] == members) << lane;
    }
    group &= left;
    if (BlockCheckers* checkers = warp.block->checkers.get()) {
      if ((group & ~members) != 0) [[unlikely]] {
        report_unnamed(in, warp, group & ~members);
      }
      checkers->warp_barrier(warp.index, members & warp.mask);
    }
    visit(group, members & warp.mask);
    left &= ~group;
  }
}

}  // namespace simgpu
