#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simgpu/checkers/lane_pattern.h"

namespace simgpu {

/// Bits [first, last] of a mask of up to 32.
inline std::uint32_t bit_range(std::uint32_t first, std::uint32_t last) {
  return (~std::uint32_t{0} >> (31 - last)) & (~std::uint32_t{0} << first);
}

/// One sector of a request. Left uninitialised: a request holds 64 of them and mostly uses four.
struct RequestedSector {
  std::uint64_t number;
  std::uint32_t bytes;  ///< one bit per byte
  std::uint8_t lane;    ///< the first that touches it
  /// Its bytes belong to lanes that follow each other from `lane` on, the first bytes to `lane`: so
  /// a byte tells its lane.
  bool is_in_lane_order;
};

/// The distinct sectors of a warp's access. 32 lanes of up to 16 bytes touch at most 64.
struct RequestSectors {
  std::array<RequestedSector, 2 * kWarpSize> sectors;
  std::size_t count = 0;
};

/// Of all 32 lanes; scattered when some take no part.
Shape shape_of(const WarpAccess& access);

/// The sectors of an access to global memory.
RequestSectors coalesce(const WarpAccess& access);

/// Distinct lines of a request.
std::uint64_t lines_of(const RequestSectors& request);

}  // namespace simgpu
