#pragma once

#include <bit>
#include <cstdint>

namespace simgpu {

/// Calls visit(lane) for each bit of `mask`, lowest first.
template <class Visit>
inline void each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<unsigned>(std::countr_zero(mask)));
}

}  // namespace simgpu
