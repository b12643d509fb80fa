#include "simgpu/exec/lanes.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/thread_block.h"

/// alloca, stacksave, stackrestore: memory of the thread's stack, taken from its far end, so that
/// the frames of calls, which grow from the other, need not know of it.
namespace simgpu {
namespace {

constexpr Cost kInteger{.cls = InstructionClass::integer};

/// a: bytes; immediate: alignment, a power of two; dst: the address in local memory.
const Lowered* take(const Lowered* in, Warp& warp) {
  ThreadBlock& block = *warp.block;
  const std::uint64_t stack = block.launch.request.stack_bytes;
  const auto alignment = static_cast<std::uint64_t>(in->immediate);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t bytes = pairs(warp, in->a)[lane];
    std::uint32_t& used = block.memory.allocated_stack(warp.index, lane);
    const std::uint64_t room = stack - used;
    const std::uint64_t address =
        bytes > room ? 0 : (block.memory.local_bytes() - used - bytes) / alignment * alignment;
    if (bytes > room || address < block.memory.local_bytes() - stack) {
      block.failures.fail(
          in, warp, lane,
          {.code = "RL0209",
           .message = "The thread's stack is full: alloca asks for " + std::to_string(bytes) +
                      " of " + std::to_string(room) +
                      " bytes that are left. cudaDeviceSetLimit(cudaLimitStackSize, bytes) allows "
                      "more",
           .action = "allocates"});
    }
    used = static_cast<std::uint32_t>(block.memory.local_bytes() - address);
    pairs(warp, in->dst)[lane] = address;
  }
  return in + 1;
}

const Lowered* save(const Lowered* in, Warp& warp) {
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    pairs(warp, in->dst)[lane] = warp.block->memory.allocated_stack(warp.index, lane);
  }
  return in + 1;
}

const Lowered* restore(const Lowered* in, Warp& warp) {
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    std::uint32_t& used = warp.block->memory.allocated_stack(warp.index, lane);
    // What was saved is no more than what is in use, whatever the program made of it.
    used = static_cast<std::uint32_t>(std::min<std::uint64_t>(used, pairs(warp, in->a)[lane]));
  }
  return in + 1;
}

void build_alloca(KernelBuilder& builder) {
  constexpr std::int64_t kDefaultAlignment = 8;
  constexpr std::int64_t kMostAlignment = 128;
  const ptx::Instruction& instruction = builder.instruction();
  std::int64_t alignment = kDefaultAlignment;
  if (builder.operand_count() == 3) {
    const auto* given = std::get_if<ptx::IntegerLiteral>(&instruction.operands[2].elements.at(0));
    alignment = given == nullptr ? 0 : given->value;
  }
  const bool is_power = alignment > 0 && (alignment & (alignment - 1)) == 0;
  if (!is_power || alignment > kMostAlignment || builder.operand_count() > 3) {
    builder.refuse(instruction.spelling() + " with this alignment");
  }
  const Ref bytes = builder.source(std::size_t{1}, 'l');
  const Ref address = builder.destination(std::size_t{0}, 'l');
  Pending& pending = builder.emit(&take, kInteger);
  pending.a = bytes;
  pending.immediate = alignment;
  pending.dst = address;
  builder.mark_uses_stack();
}

void build_save(KernelBuilder& builder) {
  const Ref saved = builder.destination(std::size_t{0}, 'l');
  builder.emit(&save, kInteger).dst = saved;
}

void build_restore(KernelBuilder& builder) {
  const Ref saved = builder.source(std::size_t{0}, 'l');
  builder.emit(&restore, kInteger).a = saved;
}

}  // namespace

OpcodeFile stack_opcodes() {
  return {.built = {{"alloca", build_alloca, {"u64"}},
                    {"stacksave", build_save, {"u64"}},
                    {"stackrestore", build_restore, {"u64"}}}};
}

}  // namespace simgpu
