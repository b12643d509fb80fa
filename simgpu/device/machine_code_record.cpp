#include "simgpu/device/machine_code_record.h"

#include "simgpu/sass/alignment.h"

namespace simgpu {
namespace {

MachineCodeRecord record_of(const sass::CutCode& code, const sass::PtxCounts& counts) {
  const sass::Alignment alignment = sass::align(code.code, code.blocks, counts);
  std::uint64_t instructions = 0;
  for (const sass::BasicBlock& block : code.blocks) instructions += block.last - block.first;
  return {.instructions = instructions,
          .aligned = alignment.why_not.empty(),
          .warp_instructions = alignment.issued,
          .deviation = alignment.deviation,
          .why_not = alignment.why_not};
}

}  // namespace

MachineCodeRecord MachineCodeRecords::of(const LoadedKernel& kernel, const LaunchResult& result) {
  if (kernel.machine_code == nullptr) return {.why_not = "there is no machine code of it"};
  Last& last = last_[kernel.machine_code];
  if (last.executed != result.executed) {
    last.executed = result.executed;
    last.record = record_of(*kernel.machine_code,
                            sass::count_lines(kernel.info->instructions, result.executed));
  }
  return last.record;
}

}  // namespace simgpu
