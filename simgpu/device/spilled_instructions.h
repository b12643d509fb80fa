#pragma once

#include <vector>

#include "simgpu/fatbin/spills.h"
#include "simgpu/isa/instruction_info.h"
#include "simgpu/model/spilling.h"

namespace simgpu {

/// What the machine spills at each of a kernel's instructions, each time that a warp executes it.
/// @param lines of the kernel's PTX, one instruction each; in order
std::vector<InstructionSpills> spills_by_instruction(
    const std::vector<fatbin::Spills>& lines, const std::vector<InstructionInfo>& instructions);

}  // namespace simgpu
