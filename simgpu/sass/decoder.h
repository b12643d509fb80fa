#pragma once

#include <cstdint>

#include "simgpu/sass/instruction.h"

namespace simgpu::sass {

/// The 128 bits of an instruction.
struct Word {
  std::uint64_t low = 0, high = 0;
};

/// @param capability 80 for sm_80: from 90 on jumps are encoded in another way
/// @param address of the instruction in its kernel's code, from which jumps count
Instruction decode(Word word, unsigned capability, std::uint64_t address);

}  // namespace simgpu::sass
