#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simgpu/exec/launch_context.h"
#include "simgpu/exec/warp.h"

namespace simgpu {

/// With checkers: where lanes that have exited have left the others of their warp, by lane the last
/// branch at which lanes parted that meet no more before they exit.
class LaneDepartures {
 public:
  explicit LaneDepartures(const LaunchContext& launch);

  /// The active lanes part at a branch, or some of them exit.
  void note(const Lowered* in, const Warp& warp);
  /// The instruction at which a lane that has exited did so, or set out for it.
  std::uint32_t of(const Warp& warp, std::uint32_t lane) const {
    return left_at_[warp.index][lane];
  }

 private:
  std::vector<char> parts_for_good_;  ///< by instruction: a branch one of whose sides exits
  std::vector<std::array<std::uint32_t, kWarpSize>> left_at_;  ///< by warp and lane
};

}  // namespace simgpu
