#include "simgpu/device/machine_code_record.h"

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

const MachineCodeRecords::Told& MachineCodeRecords::of(const LoadedKernel& kernel,
                                                       const LaunchResult& result) {
  if (kernel.machine_code == nullptr) return none_;
  const sass::CutCode& code = *kernel.machine_code;
  Last& last = last_[kernel.machine_code];
  if (last.executed != result.executed) {
    last.executed = result.executed;
    last.told.alignment = sass::align(
        code.code, code.blocks, sass::count_lines(kernel.info->instructions, result.executed));
    last.told.record = record_of(code, last.told.alignment);
  }
  return last.told;
}

}  // namespace simgpu
