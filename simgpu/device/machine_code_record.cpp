#include "simgpu/device/machine_code_record.h"

#include "simgpu/sass/alignment.h"

namespace simgpu {
namespace {

std::uint64_t instructions_of(const sass::CutCode& code) {
  std::uint64_t instructions = 0;
  for (const sass::BasicBlock& block : code.blocks) instructions += block.last - block.first;
  return instructions;
}

}  // namespace

MachineCodeRecord machine_code_record(const LoadedKernel& kernel, const LaunchResult& result) {
  if (kernel.machine_code == nullptr) return {.why_not = "there is no machine code of it"};
  const sass::CutCode& code = *kernel.machine_code;
  const sass::Alignment alignment = sass::align(
      code.code, code.blocks, sass::count_lines(kernel.info->instructions, result.executed));
  return {.instructions = instructions_of(code),
          .aligned = alignment.why_not.empty(),
          .warp_instructions = alignment.issued,
          .deviation = alignment.deviation,
          .why_not = alignment.why_not};
}

}  // namespace simgpu
