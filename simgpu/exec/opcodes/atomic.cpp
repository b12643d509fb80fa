#include "simgpu/exec/opcodes/opcode.h"

namespace simgpu {
std::vector<BuiltOpcode> built_atomic() { return {}; }
}  // namespace simgpu
