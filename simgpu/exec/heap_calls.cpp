#include "simgpu/exec/heap_calls.h"

#include <cstring>

#include "simgpu/exec/device_print.h"
#include "simgpu/exec/kernel_heap.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/thread_block.h"

namespace simgpu {
namespace {

/// The 64-bit variable at `offset` of the lane's .param memory.
std::byte* variable(Warp& warp, unsigned lane, std::uint64_t offset) {
  return warp.block->memory.frame(warp.index, lane) + offset;
}

/// Memory that one thread frees and another gets is handed over: malloc() and free() order their
/// callers, as an atomic access that acquires and releases does.
void order_callers(const Lowered* in, Warp& warp) {
  BlockCheckers* const checkers = warp.block->checkers.get();
  if (checkers == nullptr) return;
  checkers->global({.kind = AccessKind::atomic,
                    .warp = warp.index,
                    .pc = in->index,
                    .order = kStrong | kAcquires | kReleases});
}

/// immediate: places of the size and of the result; both count from a.
const Lowered* allocate(const Lowered* in, Warp& warp) {
  KernelHeap* const heap = warp.block->launch.request.heap;
  order_callers(in, warp);
  const auto places = static_cast<std::uint64_t>(in->immediate);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t base = words(warp, in->a)[lane];
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, variable(warp, lane, base + (places & 0xFFFFFFFFU)), sizeof bytes);
    const std::uint64_t address = heap == nullptr ? 0 : heap->allocate(bytes);
    std::memcpy(variable(warp, lane, base + (places >> 32)), &address, sizeof address);
  }
  return in + 1;
}

/// immediate: place of the address, from a.
const Lowered* release(const Lowered* in, Warp& warp) {
  KernelHeap* const heap = warp.block->launch.request.heap;
  order_callers(in, warp);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t base = words(warp, in->a)[lane];
    std::uint64_t address = 0;
    std::memcpy(&address, variable(warp, lane, base + static_cast<std::uint64_t>(in->immediate)),
                sizeof address);
    if (address == 0 || (heap != nullptr && heap->release(address))) continue;
    // What is in the heap's reach is a broken heap; elsewhere there is nothing to free.
    const bool is_reached = address >= kDeviceBase;
    warp.block->failures.fail(
        in, warp, lane,
        {.code = "RL0201",
         .message = "free() or delete of an address that malloc() or new in a kernel did not give, "
                    "or that is free already",
         .action = "frees",
         .status = is_reached ? LaunchStatus::launch_failure : LaunchStatus::illegal_address});
  }
  warp.block->sites.forget_allocations();
  return in + 1;
}

}  // namespace

bool build_heap_call(KernelBuilder& builder, const std::string& name,
                     const std::vector<std::string>& arguments,
                     const std::vector<std::string>& results) {
  const bool allocates = name == "malloc" && arguments.size() == 1 && results.size() == 1;
  const bool releases = name == "free" && arguments.size() == 1 && results.empty();
  if (!allocates && !releases) return false;
  const VariableHome argument = parameter_home(builder, arguments[0]);
  std::uint64_t places = argument.address;
  bool is_wide = argument.bytes == 8;
  if (allocates) {
    const VariableHome result = parameter_home(builder, results[0]);
    places |= result.address << 32;
    is_wide = is_wide && result.bytes == 8;
  }
  if (!is_wide) builder.refuse("a call of " + name + " with other types than CUDA's");
  // A function's variables are either all in frames or none is.
  const Ref base = argument.in_frame ? builder.stack_pointer() : builder.constant(0, 4);
  Pending& pending =
      builder.emit(allocates ? &allocate : &release, {.cls = InstructionClass::control});
  pending.a = base;
  pending.immediate = static_cast<std::int64_t>(places);
  // The heap is one for all blocks: what one gets depends on what others got before.
  builder.mark_orders_blocks();
  return true;
}

}  // namespace simgpu
