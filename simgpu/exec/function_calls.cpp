#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "simgpu/exec/each_lane.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/places.h"
#include "simgpu/exec/thread_block.h"
#include "simgpu/names/demangle.h"

/// Calls of functions that are not inlined, and the way back.
namespace simgpu {
namespace {

unsigned first_lane(const Warp& warp) { return static_cast<unsigned>(std::countr_zero(warp.mask)); }

std::uint32_t frame_address32(std::uint32_t base, std::int64_t offset) {
  return base + static_cast<std::uint32_t>(offset);
}

const Lowered* address32(const Lowered* in, Warp& warp) {
  const Word32* const base = words(warp, in->a);
  Word32* const to = words(warp, in->dst);
  each_lane(warp.mask,
            [&](unsigned lane) { to[lane] = frame_address32(base[lane], in->immediate); });
  return in + 1;
}

const Lowered* address64(const Lowered* in, Warp& warp) {
  const Word32* const base = words(warp, in->a);
  Word64* const to = pairs(warp, in->dst);
  each_lane(warp.mask,
            [&](unsigned lane) { to[lane] = frame_address32(base[lane], in->immediate); });
  return in + 1;
}

/// Lanes that call different functions part: each group makes the call, the next instruction, by
/// itself, and all meet behind it.
const Lowered* part_by_target(const Lowered* in, Warp& warp) {
  const Word64* const target = pairs(warp, in->a);
  std::uint32_t left = warp.active;
  while (true) {
    const std::uint64_t first = target[std::countr_zero(left)];
    std::uint32_t same = 0;
    each_lane(left, [&](unsigned lane) {
      same |= static_cast<std::uint32_t>(target[lane] == first) << lane;
    });
    if (same == left) break;
    if (left == warp.active) ++warp.block->counted.divergent_branches;
    // The lanes with this target wait in the stack until the others have been there.
    left &= ~same;
    warp.stack.split(left, in->target, in->target, in->target + 1);
  }
  return warp.go(in->target);
}

[[noreturn]] void fail_target(const Lowered* in, Warp& warp, std::uint64_t address,
                              const std::string& name) {
  std::string message = "A function is called through a pointer to ";
  if (!name.empty()) {
    message += demangled(name) + ", which takes or returns other types than this call passes";
  } else {
    message += place_in_global(warp.block->launch.memory, address, 1).words +
               ": that is no function of this kernel's module";
  }
  warp.block->failures.fail(in, warp, first_lane(warp),
                            {.code = "RL0210", .message = std::move(message), .action = "calls"});
}

/// The function that the active lanes call: the instruction names it, or a pointer does.
const OutOfLineFunction& callee_of(const Lowered* in, Warp& warp, const CallSite& site) {
  const LoweredKernel& kernel = warp.block->launch.kernel;
  if (site.function != CallSite::kIndirect) return kernel.functions[site.function];
  const std::uint64_t address = pairs(warp, in->a)[first_lane(warp)];
  const auto target = kernel.targets.find(address);
  if (target == kernel.targets.end()) fail_target(in, warp, address, "");
  const std::uint32_t function = target->second.function;
  if (function == CallSite::kIndirect || kernel.functions[function].signature != site.signature) {
    fail_target(in, warp, address, target->second.name);
  }
  return kernel.functions[function];
}

[[noreturn]] void fail_stack(const Lowered* in, Warp& warp, std::uint32_t used,
                             const OutOfLineFunction& callee) {
  const std::uint32_t stack = warp.block->launch.request.stack_bytes;
  warp.block->failures.fail(
      in, warp, first_lane(warp),
      {.code = "RL0209",
       .message =
           "The thread's stack is full: its calls hold " + std::to_string(used) + " of " +
           std::to_string(stack) + " bytes, and " + demangled(callee.name) + " needs " +
           std::to_string(callee.frame_bytes) +
           " more. Does the recursion end? cudaDeviceSetLimit(cudaLimitStackSize, bytes) allows "
           "deeper calls",
       .action = "calls"});
}

std::uint32_t caller_place(const PassedValue& value, std::uint32_t stack_pointer) {
  return value.caller + (value.in_frame ? stack_pointer : 0);
}

const Lowered* call(const Lowered* in, Warp& warp) {
  ThreadBlock& block = *warp.block;
  const LoweredKernel& kernel = block.launch.kernel;
  const CallSite& site = kernel.call_sites[in->option];
  const OutOfLineFunction& callee = callee_of(in, warp, site);
  ++block.counted.branches;
  Word32* const pointers = words(warp, kernel.stack_pointer);
  const std::uint32_t caller_pointer = pointers[first_lane(warp)];
  const std::uint32_t pointer = caller_pointer + site.caller_frame_bytes;
  if (std::uint64_t{pointer} + callee.frame_bytes > block.launch.request.stack_bytes) {
    fail_stack(in, warp, pointer, callee);
  }

  const std::uint32_t parameters = kernel.frame_bytes_per_thread + pointer;
  const std::uint32_t locals = kernel.info.local_bytes_per_thread + pointer;
  each_lane(warp.mask, [&](unsigned lane) {
    std::byte* const memory = block.memory.frame(warp.index, lane);
    for (const PassedValue& result : site.results) {
      std::memset(memory + parameters + result.callee, 0, result.bytes);
    }
    for (const PassedValue& argument : site.arguments) {
      std::memcpy(memory + parameters + argument.callee,
                  memory + caller_place(argument, caller_pointer), argument.bytes);
    }
    std::memset(block.memory.local(warp.index, lane) + locals, 0, callee.local_bytes);
  });
  if (BlockCheckers* checkers = block.checkers.get();
      checkers != nullptr && callee.local_bytes > 0) {
    checkers->new_local_variables(warp.index, warp.mask, locals, callee.local_bytes);
  }

  warp.calls.push(warp, {in, caller_pointer}, site.saved);
  each_lane(warp.mask, [&](unsigned lane) { pointers[lane] = pointer; });
  static constexpr std::array<std::byte, slot_bytes(SlotKind::pair)> kZeros{};
  for (const SlotRange& slot : callee.zeroed) write_slot(warp, slot, kZeros.data());
  warp.stack.reset(warp.active);
  return warp.go(callee.entry);
}

const Lowered* leave(const Lowered*, Warp& warp) {
  ThreadBlock& block = *warp.block;
  const LoweredKernel& kernel = block.launch.kernel;
  const CallStack::Return caller = warp.calls.last();
  const CallSite& site = kernel.call_sites[caller.call->option];
  Word32* const pointers = words(warp, kernel.stack_pointer);
  const std::uint32_t parameters =
      kernel.frame_bytes_per_thread + caller.stack_pointer + site.caller_frame_bytes;
  each_lane(warp.mask, [&](unsigned lane) {
    std::byte* const memory = block.memory.frame(warp.index, lane);
    for (const PassedValue& result : site.results) {
      std::memcpy(memory + caller_place(result, caller.stack_pointer),
                  memory + parameters + result.callee, result.bytes);
    }
    pointers[lane] = caller.stack_pointer;
  });
  warp.calls.pop(warp, site.saved);
  return warp.go(caller.call->index + 1);
}

const Lowered* refuse(const Lowered* in, Warp& warp) {
  warp.block->failures.fail(in, warp, first_lane(warp),
                            {.code = "RL0312",
                             .message = "The kernel uses what the simulated GPU does not have: " +
                                        warp.block->launch.kernel.refusals[in->option]});
}

}  // namespace

namespace hidden {
const Handler kFrameAddress32 = &address32;
const Handler kFrameAddress64 = &address64;
const Handler kPartByTarget = &part_by_target;
const Handler kCall = &call;
const Handler kLeave = &leave;
const Handler kRefuse = &refuse;
}  // namespace hidden

}  // namespace simgpu
