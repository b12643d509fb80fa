#include "simgpu/exec/opcodes/opcode.h"

namespace simgpu {
std::vector<BuiltOpcode> built_warp() { return {}; }
}  // namespace simgpu
