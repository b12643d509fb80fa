#pragma once

#include <string>

#include "simgpu/exec/opcode_tests/form.h"

namespace simgpu::opcode_tests {

/// Bytes of one lane's record in the result array: the unguarded result, then the guarded one.
inline constexpr unsigned kResultBytes = 16;
/// What a guarded destination holds where the guard is false.
inline constexpr std::uint64_t kUntouched = 0x5a5a5a5a5a5a5a5au;

/// Whether the guarded copy of an instruction executes in a lane: some of every warp.
bool guard_of(std::uint32_t lane);

/// A kernel `name`(in, out, lanes): loads the operands of its lane (8 bytes each, operand after
/// operand), executes the form once plainly and once guarded, and stores both results.
std::string kernel_text(const std::string& name, const Form& form);

}  // namespace simgpu::opcode_tests
