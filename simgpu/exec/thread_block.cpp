#include "simgpu/exec/thread_block.h"

namespace simgpu {
namespace {

constexpr std::size_t kMostPrinted = std::size_t{1} << 20;

std::vector<AccessFacts> access_facts(const LoweredKernel& kernel) {
  std::vector<AccessFacts> all;
  all.reserve(kernel.info.instructions.size());
  for (const InstructionInfo& info : kernel.info.instructions) {
    AccessFacts& facts = all.emplace_back();
    facts.used_bytes = info.used_bytes;
    facts.meets_atomics = info.meets_atomics;
    facts.reads_unchanged = info.reads_unchanged;
    if (info.shared_array == 0) continue;
    const KernelInfo::SharedArray& array = kernel.info.shared_arrays.at(info.shared_array - 1);
    facts.array_begin = array.offset;
    facts.array_end = array.offset + array.bytes;
  }
  return all;
}

std::unique_ptr<BlockCheckers> checkers_of(const LaunchContext& launch) {
  if (!launch.checkers) return nullptr;
  auto checkers = std::make_unique<BlockCheckers>(launch.memory, access_facts(launch.kernel),
                                                  launch.window_bytes);
  if (launch.observer != nullptr) checkers->listen(launch.observer->access_listener());
  return checkers;
}

}  // namespace

ThreadBlock::ThreadBlock(const LaunchContext& context)
    : launch(context),
      position(context.request),
      failures(context, position),
      memory(context),
      traffic(context.request.l1_bytes_per_block, context.log_entries),
      sites(context.kernel.memory_sites.size(), context.first_accesses),
      changes(traffic, counted),
      budget(context, traffic, failures),
      checkers(checkers_of(context)),
      undefined(context, checkers.get(), position),
      departures(context),
      barriers(checkers.get()),
      vain_looks(warps_of_block(context.request)),
      async_copies(warps_of_block(context.request)),
      printed(kMostPrinted) {}

void ThreadBlock::begin_block(std::uint64_t number, std::uint64_t at) {
  first_flag_number = number * kFlagNumbers;
  begins_at = at;
  position.begin_block(number);
  memory.begin_block();
  traffic.begin_block(number);
  budget.begin_block();
  barriers.begin_block();
  flags.clear();
  for (VainLook& look : vain_looks) look.clear();
  for (AsyncCopies& copies : async_copies) copies.clear();
  printed.clear();
  if (checkers == nullptr) return;
  checkers->begin_block(number, memory.shared_bytes(),
                        static_cast<std::uint32_t>(async_copies.size()), memory.local_bytes());
  const SlotRange& reserved = launch.kernel.reserved_shared;
  if (reserved.bytes != 0) checkers->initialised_shared(reserved.offset, reserved.bytes);
}

}  // namespace simgpu
