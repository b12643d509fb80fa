#include "simgpu/exec/vain_look.h"

#include <algorithm>
#include <cstring>

#include "simgpu/exec/thread_block.h"

namespace simgpu {

bool VainLook::is_same(const Lowered* in, const Warp& warp, std::uint64_t effects) const {
  return in_ == in && effects_ == effects &&
         std::memcmp(warp.regs, registers_.data(), registers_.size()) == 0;
}

bool VainLook::note(const Lowered* in, Warp& warp) {
  constexpr std::uint32_t kMostRegisterBytes = 1U << 16;
  const LoweredKernel& kernel = warp.block->launch.kernel;
  // What lanes that go their own way, or words of local memory, have done is not looked into.
  if (!warp.others.empty() || kernel.register_bytes > kMostRegisterBytes ||
      kernel.info.local_bytes_per_thread + kernel.frame_bytes_per_thread > 0) {
    clear();
    return false;
  }
  const std::uint64_t effects = warp.block->changes.effects();
  if (is_same(in, warp, effects)) {
    std::ranges::copy(counts_, warp.counts);
    static_cast<WarpTimes&>(warp) = times_;
    return true;
  }
  in_ = in;
  effects_ = effects;
  registers_.assign(warp.regs, warp.regs + kernel.register_bytes);
  counts_.assign(warp.counts, warp.counts + kernel.basic_blocks);
  times_ = warp;
  return false;
}

}  // namespace simgpu
