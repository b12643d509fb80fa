#include "simgpu/exec/lane_departures.h"

#include "simgpu/exec/each_lane.h"
#include "simgpu/exec/lane_paths.h"
#include "simgpu/exec/opcodes/opcode.h"

namespace simgpu {

LaneDepartures::LaneDepartures(const LaunchContext& launch) {
  if (!launch.checkers) return;
  for (const Lowered& in : launch.kernel.code) {
    parts_for_good_.push_back(in.run == hidden::kBranch &&
                              only_exits(launch.kernel, in.reconvergence));
  }
  left_at_.resize(warps_of_block(launch.request));
}

void LaneDepartures::note(const Lowered* in, const Warp& warp) {
  if (in->run != hidden::kExit && parts_for_good_[in->index] == 0) return;
  each_lane(warp.active, [&](unsigned lane) { left_at_[warp.index][lane] = in->index; });
}

}  // namespace simgpu
