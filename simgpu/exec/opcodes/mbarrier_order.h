#pragma once

#include <bit>
#include <cstdint>

#include "simgpu/exec/thread_block.h"

/// What the lanes of an instruction on mbarriers tell the checkers.
namespace simgpu {

/// Calls visit(checkers, place) for the lanes' mbarriers, the same one once for lanes in a row.
/// @param places of the lanes in shared memory, `offset` before them
template <class Visit>
void each_mbarrier(Warp& warp, const std::uint32_t* places, std::int64_t offset,
                   std::uint32_t lanes, Visit visit) {
  BlockCheckers* const checkers = warp.block->checkers.get();
  if (checkers == nullptr) return;
  std::uint32_t last = 0;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const std::uint32_t place = places[std::countr_zero(left)] + static_cast<std::uint32_t>(offset);
    if (left == lanes || place != last) visit(*checkers, place);
    last = place;
  }
}

/// To be called before any of these arrivals can end a phase.
inline void note_arrivals(Warp& warp, const std::uint32_t* places, std::int64_t offset,
                          std::uint32_t lanes) {
  each_mbarrier(warp, places, offset, lanes, [&](BlockCheckers& checkers, std::uint32_t place) {
    checkers.arrive_at(warp.index, place);
  });
}

/// Phases have ended at the mbarriers of `lanes`.
inline void note_ends(Warp& warp, const std::uint32_t* places, std::int64_t offset,
                      std::uint32_t lanes) {
  each_mbarrier(warp, places, offset, lanes,
                [](BlockCheckers& checkers, std::uint32_t place) { checkers.end_phase(place); });
}

}  // namespace simgpu
