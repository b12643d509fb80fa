#include "simgpu/exec/lanes.h"
#include "simgpu/exec/opcodes/opcode.h"

/// What a program says about caches, and what the simulated ones do not heed.
namespace simgpu {
namespace {

const Lowered* do_nothing(const Lowered* in, Warp&) { return in + 1; }

void build_hint(KernelBuilder& builder) {
  builder.emit(&do_nothing, {.cls = InstructionClass::other});
}

/// createpolicy: what becomes of cache lines is not simulated, so that every policy is the same.
void build_policy(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const bool is_range = instruction.has("range");
  const std::size_t least = is_range ? 4 : 1;
  if (builder.operand_count() < least || builder.operand_count() > (is_range ? 4U : 2U)) {
    builder.refuse(instruction.spelling() + " with " + std::to_string(builder.operand_count()) +
                   " operands");
  }
  const Ref policy = builder.destination(std::size_t{0}, 'l');
  Pending& pending = builder.emit(lanes<[](std::uint64_t none) { return none; }>().handler,
                                  {.cls = InstructionClass::other});
  pending.a = builder.constant(0, 8);
  pending.dst = policy;
}

std::vector<ModifierForm> policy_forms() {
  const std::string primary =
      " L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged";
  const std::string others = " [L2::evict_first|L2::evict_unchanged]";
  return {"fractional" + primary + " b64", "fractional" + primary + others + " b64",
          "range [global]" + primary + " b64", "range [global]" + primary + others + " b64",
          "cvt L2 b64"};
}

}  // namespace

OpcodeFile cache_hints_opcodes() {
  return {.built = {{"prefetch",
                     build_hint,
                     {"[global|local] L1|L2", "[global] L2::evict_last|L2::evict_normal"}},
                    {"prefetchu", build_hint, {"L1"}},
                    {"createpolicy", build_policy, policy_forms()},
                    {"applypriority", build_hint, {"[global] L2::evict_normal"}},
                    {"discard", build_hint, {"[global] L2"}}}};
}

}  // namespace simgpu
