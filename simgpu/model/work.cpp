#include "simgpu/model/work.h"

#include <algorithm>

namespace simgpu::model {
namespace {

/// Machine instructions of one instruction that occupy the pipe of a class.
double on_pipe(const InstructionInfo& instruction, InstructionClass cls) {
  const MachineSequence& sequence = instruction.sequence;
  if (sequence.empty()) return instruction.cls == cls ? 1 : 0;
  switch (cls) {
    case InstructionClass::integer:
      return sequence.integer;
    case InstructionClass::fp32:
      return sequence.fp32;
    case InstructionClass::fp64:
      return sequence.fp64;
    case InstructionClass::special:
      return sequence.special;
    case InstructionClass::conversion:
      return sequence.conversion;
    case InstructionClass::warp_exchange:
      return sequence.exchange;
    default:
      return 0;
  }
}

}  // namespace

double issue_slots(const InstructionInfo& instruction) {
  if (!instruction.issues) return 0;
  return instruction.sequence.empty() ? 1 : instruction.sequence.instructions();
}

std::uint64_t Work::blocks_of_busiest_sm() const {
  const auto sms = static_cast<std::uint64_t>(gpu.sm_count);
  return (blocks + sms - 1) / sms;
}

std::uint64_t Work::busy_sms() const {
  return std::min(blocks, static_cast<std::uint64_t>(gpu.sm_count));
}

double Work::busiest_share(double heaviest) const {
  if (is_spread) return 1.0 / gpu.sm_count;
  const double even = static_cast<double>(blocks_of_busiest_sm()) / static_cast<double>(blocks);
  return std::min(1.0, std::max(even, heaviest));
}

double Work::warp_instructions(InstructionClass cls) const {
  double sum = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program[i].issues) continue;
    sum += on_pipe(program[i], cls) * static_cast<double>(executed[i].warps);
  }
  return sum;
}

double Work::issued() const {
  double sum = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const InstructionSpills spills = spills_of(i);
    sum += (issue_slots(program[i]) + spills.loads + spills.stores) *
           static_cast<double>(executed[i].warps);
  }
  return sum;
}

Work gather(const KernelCounters& counters, const LaunchShape& shape,
            const ExecutedProgram& program, const gpu_spec::GpuSpec& gpu) {
  const std::size_t known = std::min(program.instructions.size(), program.executed.size());
  Work work{counters,
            program.instructions.first(known),
            program.executed.first(known),
            gpu,
            program.balance,
            program.spills};
  work.blocks = std::max<std::uint64_t>(shape.grid.count(), 1);
  work.warps_per_block = (std::max<std::uint64_t>(shape.block.count(), 1) + 31) / 32;
  work.resident_blocks = std::max(occupancy(shape, gpu).blocks_per_sm, 1U);
  work.l1_bytes = static_cast<double>(
      l1_bytes_beside(shape, std::min(work.resident_blocks, work.blocks_of_busiest_sm()), gpu));
  return work;
}

}  // namespace simgpu::model
