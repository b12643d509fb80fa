#include "simgpu/exec/block_position.h"

namespace simgpu {

BlockPosition::BlockPosition(const LaunchRequest& request)
    : grid_(request.grid), warps_(warps_of_block(request)) {
  const Dim3& shape = request.block;
  const std::size_t threads = warps_ * kWarpSize;
  coordinates_.resize(3 * threads);
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    coordinates_[thread] = thread % shape.x;
    coordinates_[threads + thread] = thread / shape.x % shape.y;
    coordinates_[2 * threads + thread] = thread / shape.x / shape.y;
  }
}

void BlockPosition::begin_block(std::uint64_t block) {
  block_ = block;
  index_ = {static_cast<std::uint32_t>(block % grid_.x),
            static_cast<std::uint32_t>(block / grid_.x % grid_.y),
            static_cast<std::uint32_t>(block / grid_.x / grid_.y)};
}

Dim3 BlockPosition::thread(std::uint32_t warp, unsigned lane) const {
  return {thread_coordinate(warp, 0)[lane], thread_coordinate(warp, 1)[lane],
          thread_coordinate(warp, 2)[lane]};
}

}  // namespace simgpu
