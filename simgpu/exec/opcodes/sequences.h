#pragma once

#include <span>
#include <string_view>

#include "simgpu/exec/machine_sequence.h"

namespace simgpu {

/// What ptxas makes of opcodes that are several instructions of the machine.
struct SequenceRow {
  std::string_view spelling;  ///< a pattern, as in OpcodeRow
  MachineSequence sequence;
};

std::span<const SequenceRow> machine_sequences();
/// Of a video instruction: "vadd4". Empty for one that is an instruction of the machine.
MachineSequence video_sequence(std::string_view root);

}  // namespace simgpu
