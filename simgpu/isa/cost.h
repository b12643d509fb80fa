#pragma once

#include <cstdint>

#include "simgpu/isa/instruction_info.h"
#include "simgpu/isa/machine_sequence.h"
#include "simgpu/ptx/ast.h"

namespace simgpu {

/// How an instruction enters the counts beyond its class.
enum class FloatKind : std::uint8_t { none, add, multiply, fused };

/// What the counters and the time model are told of an opcode.
struct Cost {
  InstructionClass cls = InstructionClass::other;
  ptx::Type flop_type = ptx::Type::none;
  std::uint32_t flops = 0;  ///< per thread; per warp for tensor instructions
  FloatKind kind = FloatKind::none;
  bool issues = true;
  bool fences = false;  ///< as InstructionInfo::fences
  MachineSequence sequence = {};
};

}  // namespace simgpu
