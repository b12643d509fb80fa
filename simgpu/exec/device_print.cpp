#include "simgpu/exec/device_print.h"

#include "simgpu/exec/block_runner.h"

namespace simgpu {

void require_lanes(const Lowered* in, const Warp& warp, std::uint32_t named) {
  const std::uint32_t absent = named & ~(warp.mask | warp.dead);
  if (absent == 0) return;
  const auto lane = static_cast<unsigned>(__builtin_ctz(warp.mask));
  const auto other = static_cast<unsigned>(__builtin_ctz(absent));
  warp.block->fail(LaunchStatus::launch_failure, FindingKind::divergent_barrier, "RL0305", in, warp,
                   lane,
                   "This warp-wide operation names lane " + std::to_string(other) + " of warp " +
                       std::to_string(warp.index) + ", which took another way and is not here",
                   "waits for lane " + std::to_string(other));
}

bool build_system_call(KernelBuilder&, const std::string&, const std::vector<std::string>&,
                       const std::vector<std::string>&) {
  return false;
}

}  // namespace simgpu
