#pragma once

namespace simgpu {

/// Lanes of a warp.
inline constexpr unsigned kWarpSize = 32;

}  // namespace simgpu
