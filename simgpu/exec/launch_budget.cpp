#include "simgpu/exec/launch_budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "simgpu/exec/block_results.h"
#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/messages.h"

namespace simgpu {
namespace {

/// The instruction whose basic block the warps have spent most of their instructions in.
std::uint32_t busiest_instruction(const LoweredKernel& kernel, BlockRunner& runner) {
  const std::vector<ExecutionCount>& counts = runner.counts().executed();
  std::uint32_t busiest = 0;
  std::uint64_t most = 0;
  for (const Lowered& instruction : kernel.code) {
    const std::uint64_t spent = counts[instruction.index].warps * instruction.block_length;
    if (spent <= most) continue;
    most = spent;
    busiest = instruction.index;
  }
  return busiest;
}

std::string too_many_blocks_in_words(const LaunchContext& launch) {
  return fmt::format(
      "its grid has {} blocks, more than the simulated GPU runs of one launch; look at the "
      "dimensions of the grid",
      launch.request.grid.count());
}

}  // namespace

double modelled_us(std::uint64_t instructions, const gpu_spec::GpuSpec& gpu) {
  const double cycles = std::max(gpu.alu_latency, 1.0);
  return static_cast<double>(instructions) * cycles / gpu.clock_under_load_mhz();
}

std::uint64_t most_warp_instructions(double limit_us, const gpu_spec::GpuSpec& gpu) {
  if (!(limit_us > 0)) return ~std::uint64_t{0};
  return static_cast<std::uint64_t>(limit_us / modelled_us(1, gpu));
}

bool has_too_many_blocks(const LaunchContext& launch) {
  return launch.request.grid.count() > launch.instruction_budget / warps_of_block(launch.request);
}

std::string long_launch_in_words(const LaunchContext& launch) {
  if (has_too_many_blocks(launch)) return too_many_blocks_in_words(launch);
  return fmt::format(
      "its blocks have taken the work of {} warp instructions, and have not come to an end; the "
      "simulated GPU runs no more of one launch",
      launch.instruction_budget);
}

LaunchResult fail_long_launch(const LaunchContext& launch) {
  LaunchResult result;
  BlockRunner runner(launch);
  Collector collector(launch);
  Finding finding;
  try {
    runner.run(0);
    finding.code = "RL0319";
    finding.kernel = launch.kernel.info.name;
    finding.where = site_of(launch.kernel.info, busiest_instruction(launch.kernel, runner));
    finding.where.by_thread = false;
    finding.where.action = "most of the instructions are executed here";
    finding.message =
        "The kernel takes too long: " +
        (has_too_many_blocks(launch)
             ? too_many_blocks_in_words(launch)
             : std::string("its first block comes to its end, and all others do not within what "
                           "is simulated of one launch"));
    result.status = LaunchStatus::launch_timeout;
  } catch (const LaunchFailure& failure) {
    finding = failure.finding;
    result.status = failure.status;
  }
  result.work = runner.work();
  collector.retire(take_results(runner), false);
  collector.finish(result, runner.block().memory.shared_bytes());
  result.findings.push_back(std::move(finding));
  CounterSums sums(launch.kernel);
  sums.add(runner);
  fill_result(launch, sums, collector.busiest_sm(), result);
  return result;
}

}  // namespace simgpu
