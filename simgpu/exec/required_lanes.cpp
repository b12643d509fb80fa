#include "simgpu/exec/required_lanes.h"

#include <bit>

#include "simgpu/exec/thread_block.h"

namespace simgpu {

void wait_for_missing_lanes(const Lowered* in, const Warp& warp, const NamedLanes& named,
                            bool at_barrier) {
  if (warp.wait.in == in && warp.wait.proceeds) return;
  WaitForLanes waits;
  waits.wait.in = in;
  waits.wait.at_barrier = at_barrier;
  waits.wait.lanes = warp.mask;
  waits.wait.named = named;
  throw waits;
}

void report_unnamed(const Lowered* in, const Warp& warp, std::uint32_t lanes) {
  RawFinding finding;
  finding.code = "RL0305";
  finding.lane_fault = LaneFault::unnamed_caller;
  finding.pc = in->index;
  finding.block = warp.block->position.block();
  finding.warp = warp.index;
  finding.lane = static_cast<std::uint8_t>(std::countr_zero(lanes));
  finding.address = finding.lane;
  finding.occurrences = static_cast<std::uint64_t>(std::popcount(lanes));
  warp.block->checkers->add(finding);
}

}  // namespace simgpu
