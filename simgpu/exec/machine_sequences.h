#pragma once

#include <span>
#include <string_view>

#include "simgpu/isa/machine_sequence.h"

namespace simgpu {

/// Of the opcodes that are several instructions of the machine.
std::span<const SequenceRow> machine_sequences();
/// Of a video instruction: "vadd4". Empty for one that is an instruction of the machine.
MachineSequence video_sequence(std::string_view root);

}  // namespace simgpu
