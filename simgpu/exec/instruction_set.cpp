#include <vector>

#include "simgpu/exec/engine.h"
#include "simgpu/exec/machine_sequences.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/opcodes/opcode_files.h"

namespace simgpu {
namespace {

Primitives primitives() {
  return {.jump = hidden::kJump,
          .branch = hidden::kBranch,
          .exit = hidden::kExit,
          .guarded = hidden::kGuarded,
          .saturate = hidden::kSaturate,
          .widen = hidden::kWiden,
          .not_predicate = hidden::kNotPredicate,
          .frame_address32 = hidden::kFrameAddress32,
          .frame_address64 = hidden::kFrameAddress64,
          .element_address = hidden::kElementAddress,
          .part_by_target = hidden::kPartByTarget,
          .call = hidden::kCall,
          .leave = hidden::kLeave,
          .refuse = hidden::kRefuse,
          .frame_access = hidden::frame_access,
          .special_register = hidden::special_register,
          .purpose_of_register = hidden::purpose_of_register};
}

}  // namespace

const InstructionSet& instruction_set() {
  static const InstructionSet instructions(opcode_files(), machine_sequences(), primitives());
  return instructions;
}

std::shared_ptr<const Program> lower(const ptx::Module& module, const SymbolTable& symbols) {
  return lower(module, symbols, instruction_set());
}

}  // namespace simgpu
