#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "simgpu/checkers/access.h"

namespace simgpu {

/// The distance from each lane's address to the next one's when all 32 lanes take part and it is
/// the same throughout (0 when all read one place), else nothing. Most accesses of real kernels
/// have such a pattern, and it can be judged without looking at each lane.
inline std::optional<std::int64_t> constant_stride(const WarpAccess& access) {
  if (access.mask != 0xffffffffU) return std::nullopt;
  if (access.shape == Shape::uniform) return 0;
  if (access.shape == Shape::consecutive) return access.bytes;
  const std::array<std::uint64_t, kWarpSize>& address = *access.address;
  const std::uint64_t stride = address[1] - address[0];
  std::uint64_t differs = 0;
  for (unsigned lane = 0; lane + 1 < kWarpSize; ++lane) {
    differs |= (address[lane + 1] - address[lane]) ^ stride;
  }
  if (differs != 0) return std::nullopt;
  return static_cast<std::int64_t>(stride);
}

}  // namespace simgpu
