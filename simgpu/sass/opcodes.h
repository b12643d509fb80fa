#pragma once

#include <string_view>

#include "simgpu/sass/instruction.h"

namespace simgpu::sass {

/// What bits 0 to 8 of an instruction's word stand for. Bits 9 to 11 say whether an operand is a
/// register, a literal, a constant or a uniform register.
struct Opcode {
  unsigned number = 0;
  std::string_view name;
  InstructionClass cls = InstructionClass::other;
  /// Fields of the word that name registers: d is the result (bits 16 to 23), a (24 to 31), b (32
  /// to 39, unless it is no register), c (64 to 71), s what is stored (32 to 39, always); r is as
  /// a, e as c and o as d where all operands are registers, l and m are the lane and the mask of a
  /// shuffle.
  std::string_view registers;
  Flow flow = Flow::next;
};

/// nullptr for a number that is not known.
/// @param capability 80 for sm_80: from 100 on some numbers mean something else
const Opcode* find_opcode(unsigned number, unsigned capability);

}  // namespace simgpu::sass
