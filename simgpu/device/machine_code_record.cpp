#include "simgpu/device/machine_code_record.h"

#include <algorithm>

#include "simgpu/sass/ptx_counts.h"

namespace simgpu {
namespace {

MachineCodeRecord record_of(const sass::CutCode& code, const sass::Alignment& alignment) {
  std::uint64_t instructions = 0;
  for (const sass::BasicBlock& block : code.blocks) instructions += block.last - block.first;
  return {.instructions = instructions,
          .aligned = alignment.why_not.empty(),
          .warp_instructions = alignment.issued,
          .deviation = alignment.deviation,
          .why_not = alignment.why_not};
}

}  // namespace

void MachineCodeRecords::align(const LoadedKernel& kernel, sass::WorkBudget& left, Known& known) {
  const sass::CutCode& code = *kernel.machine_code;
  known.told.alignment = sass::align(
      code.code, code.blocks, sass::count_lines(kernel.info->instructions, known.executed), left);
  known.told.record = record_of(code, known.told.alignment);
}

const MachineCodeRecords::Told& MachineCodeRecords::of(const LoadedKernel& kernel,
                                                       const LaunchResult& result) {
  if (kernel.machine_code == nullptr) return none_;
  constexpr std::size_t kMostLaunches = 16;
  Kernel& of_kernel =
      kernels_.try_emplace(kernel.machine_code, Kernel{sass::WorkBudget(of_a_kernel_), {}})
          .first->second;
  std::deque<Known>& launches = of_kernel.launches;
  const auto known = std::ranges::find(launches, result.executed, &Known::executed);
  if (known != launches.end()) return known->told;
  if (launches.size() == kMostLaunches) launches.pop_front();
  launches.push_back({.executed = result.executed, .told = {}});
  const std::uint64_t most = std::min(left_.left(), of_kernel.left.left());
  sass::WorkBudget budget(most);
  align(kernel, budget, launches.back());
  left_.spend(most - budget.left());
  of_kernel.left.spend(most - budget.left());
  return launches.back().told;
}

}  // namespace simgpu
