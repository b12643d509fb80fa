#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "simgpu/exec/warp.h"

namespace simgpu {

/// By lane: the lanes that an instruction names.
using NamedLanes = std::array<std::uint32_t, 32>;

/// The lanes that execute an instruction need those that they name, or that these have exited.
/// @throws WaitForLanes when some are missing, unless no more will come
void wait_for_missing_lanes(const Lowered* in, const Warp& warp, const NamedLanes& named,
                            bool at_barrier);

/// `lanes` execute an exchange whose mask does not name them.
void report_unnamed(const Lowered* in, const Warp& warp, std::uint32_t lanes);

inline void require_lanes(const Lowered* in, const Warp& warp, const NamedLanes& named) {
  std::uint32_t wanted = 0;
  for (unsigned lane = 0; lane < named.size(); ++lane) {
    wanted |= named[lane] & (0U - (warp.mask >> lane & 1U));
  }
  if ((wanted & ~(warp.mask | warp.dead)) != 0) [[unlikely]] {
    wait_for_missing_lanes(in, warp, named, false);
  }
}

/// All lanes of the warp that have not exited have to come to the instruction.
inline void require_whole_warp(const Lowered* in, const Warp& warp, bool at_barrier) {
  if (warp.full()) [[likely]]
    return;
  NamedLanes all;
  all.fill(~0U);
  wait_for_missing_lanes(in, warp, all, at_barrier);
}

}  // namespace simgpu
