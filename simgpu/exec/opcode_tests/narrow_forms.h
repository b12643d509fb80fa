#pragma once

#include "simgpu/exec/opcode_tests/form.h"

/// Several small values in a register.
namespace simgpu::opcode_tests {

void add_fp8(Forms& forms);
void add_packed_integers(Forms& forms);
void add_video(Forms& forms);
void add_packs(Forms& forms);

}  // namespace simgpu::opcode_tests
