#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simgpu/isa/instruction_info.h"

namespace simgpu {

/// The classes of instructions that have a pipe of each SM, whose work is counted by itself: blocks
/// that multiply and blocks that add may do equally much, and yet not the same.
inline constexpr std::array kPipes{InstructionClass::fp32,       InstructionClass::fp64,
                                   InstructionClass::fp16,       InstructionClass::integer,
                                   InstructionClass::conversion, InstructionClass::special,
                                   InstructionClass::tensor,     InstructionClass::warp_exchange};

/// Something of each pipe, in the order of kPipes.
template <class T>
using ByPipe = std::array<T, kPipes.size()>;

constexpr std::size_t pipe_of(InstructionClass cls) {
  std::size_t pipe = 0;
  while (kPipes.at(pipe) != cls) ++pipe;
  return pipe;
}

/// Machine instructions of one instruction that occupy the pipe of a class.
constexpr unsigned on_pipe(const InstructionInfo& instruction, InstructionClass cls) {
  if (!instruction.issues) return 0;
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

/// What one instruction is to each pipe: machine instructions, and FLOPs to the tensor cores.
inline ByPipe<std::uint32_t> work_of(const InstructionInfo& instruction) {
  ByPipe<std::uint32_t> work{};
  for (std::size_t i = 0; i < kPipes.size(); ++i) {
    const bool is_tensor = kPipes[i] == InstructionClass::tensor;
    work[i] = on_pipe(instruction, kPipes[i]) * (is_tensor ? instruction.flops_per_warp : 1);
  }
  return work;
}

}  // namespace simgpu
