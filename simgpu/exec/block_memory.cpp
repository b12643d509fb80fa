#include "simgpu/exec/block_memory.h"

#include <algorithm>
#include <cstring>

namespace simgpu {
namespace {

/// Whole words: an atomic on a byte is one on its word.
std::uint32_t shared_size(const LaunchContext& launch) {
  const std::uint32_t own = launch.kernel.info.static_shared_bytes;
  return launch.request.dynamic_shared_bytes == 0
             ? (own + 3) / 4 * 4
             : (own + 15) / 16 * 16 + launch.request.dynamic_shared_bytes;
}

std::uint32_t stack_size(const LaunchContext& launch) {
  return launch.kernel.functions.empty() ? 0 : launch.request.stack_bytes;
}

std::uint32_t local_size(const LaunchContext& launch) {
  const std::uint32_t own = launch.kernel.info.local_bytes_per_thread;
  if (!launch.kernel.uses_stack) return own + stack_size(launch);
  // What alloca takes lies before the end, to which it is aligned.
  return (own + launch.request.stack_bytes + 127) / 128 * 128;
}

}  // namespace

BlockMemorySizes::BlockMemorySizes(const LaunchContext& launch)
    : shared(shared_size(launch)),
      local(local_size(launch)),
      frame(launch.kernel.frame_bytes_per_thread + stack_size(launch)) {}

BlockMemory::BlockMemory(const LaunchContext& launch)
    : sizes_(launch),
      own_local_bytes_(launch.kernel.info.local_bytes_per_thread),
      stride_((std::size_t{launch.kernel.register_bytes} + 63) / 64 * 64),
      registers_(warps_of_block(launch.request) * stride_),
      shared_(sizes_.shared),
      local_(warps_of_block(launch.request) * kWarpSize * sizes_.local),
      frame_(warps_of_block(launch.request) * kWarpSize * sizes_.frame),
      local_use_(static_cast<std::uint32_t>(warps_of_block(launch.request)), sizes_.local) {
  if (launch.kernel.uses_stack) {
    allocated_stack_.resize(warps_of_block(launch.request) * kWarpSize);
  }
}

void BlockMemory::begin_block() {
  std::memset(shared_.data(), 0, shared_.size());
  // The kernel's own; every call clears those of its frame.
  if (own_local_bytes_ != 0) {
    for (std::size_t at = 0; at < local_.size(); at += sizes_.local) {
      std::memset(local_.data() + at, 0, own_local_bytes_);
    }
  }
  local_use_.begin_block();
  std::ranges::fill(allocated_stack_, 0);
}

}  // namespace simgpu
