#include "simgpu/exec/work_budget.h"

#include <fmt/format.h>

#include "simgpu/exec/block_memory.h"
#include "simgpu/exec/launch_budget.h"

namespace simgpu {
namespace {

/// What it takes to begin a block, in instructions: memory is cleared. Small beside the block's own
/// instructions, but of a grid of 2^63 empty blocks it is all there is.
std::uint64_t work_to_begin(const LaunchContext& launch) {
  constexpr std::uint64_t kEachBlock = 8, kBytesOfAnInstruction = 512;
  std::uint64_t of_a_warp = std::uint64_t{kWarpSize} * launch.kernel.info.local_bytes_per_thread;
  for (const SlotRange& range : launch.kernel.zeroed) of_a_warp += range.bytes;
  const std::uint64_t cleared =
      BlockMemorySizes(launch).shared + warps_of_block(launch.request) * of_a_warp;
  return kEachBlock + cleared / kBytesOfAnInstruction;
}

}  // namespace

WorkBudget::WorkBudget(const LaunchContext& launch, const BlockTraffic& traffic,
                       const FailureReporter& failures)
    : launch_(launch), traffic_(traffic), failures_(failures), begin_work_(work_to_begin(launch)) {}

void WorkBudget::begin_block() {
  other_work_ += begin_work_;
  began_at_ = instructions_;
}

void WorkBudget::check(const Warp& warp, const Lowered* at) const {
  if (warp.clock > launch_.warp_instructions) [[unlikely]] {
    failures_.report_too_long(
        warp, at,
        fmt::format("this warp alone has executed {} instructions, which take about {:.0f} "
                    "modelled ms, and has not come to its end",
                    warp.clock, modelled_us(warp.clock, launch_.gpu) / 1000));
  }
  // Many warps of a block that does not end would take many times as long until one of them is
  // told; together they do no more than one may that computes all by itself.
  if (launch_.checkers && instructions_of_block() > launch_.warp_instructions) [[unlikely]] {
    failures_.report_too_long(
        warp, at,
        fmt::format("the warps of this block have executed {} instructions together, and have not "
                    "come to their end",
                    instructions_of_block()));
  }
  if (work() > launch_.instruction_budget || launch_.memory.undo_is_full()) [[unlikely]] {
    failures_.report_over_budget(warp, at);
  }
}

}  // namespace simgpu
