#include "simgpu/exec/opcodes/opcode.h"

namespace simgpu {
std::vector<BuiltOpcode> built_tensor() { return {}; }
}  // namespace simgpu
