#include "simgpu/exec/opcodes/opcode.h"

namespace simgpu {
std::vector<OpcodeRow> convert_rows() { return {}; }
std::vector<BuiltOpcode> built_convert() { return {}; }
}  // namespace simgpu
