#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simgpu/exec/engine.h"

namespace simgpu {

/// Where the block that runs lies in its grid, and its threads in the block.
class BlockPosition {
 public:
  explicit BlockPosition(const LaunchRequest& request);

  void begin_block(std::uint64_t block);

  std::uint64_t block() const { return block_; }
  const Dim3& index() const { return index_; }
  /// Coordinates of a lane's thread.
  Dim3 thread(std::uint32_t warp, unsigned lane) const;
  /// One of the coordinates, of each lane of a warp.
  const std::uint32_t* thread_coordinate(std::uint32_t warp, unsigned axis) const {
    return coordinates_.data() + (std::size_t{axis} * warps_ + warp) * kWarpSize;
  }

 private:
  const Dim3 grid_;
  const std::size_t warps_;
  std::vector<std::uint32_t> coordinates_;  ///< by axis, warp and lane
  std::uint64_t block_ = 0;
  Dim3 index_;
};

}  // namespace simgpu
