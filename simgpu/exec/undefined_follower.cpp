#include "simgpu/exec/undefined_follower.h"

#include <algorithm>

#include "simgpu/exec/result_trials.h"
#include "simgpu/exec/unwritten_registers.h"

namespace simgpu {
namespace {

/// Of a load's `unwritten` bytes those of element `i`, as bits of its register.
std::uint64_t bits_of_element(std::uint16_t unwritten, unsigned bytes, unsigned i) {
  std::uint64_t bits = 0;
  for (unsigned byte = 0; byte < bytes; ++byte) {
    if ((unwritten >> (i * bytes + byte) & 1U) != 0) bits |= std::uint64_t{0xFF} << (8 * byte);
  }
  return bits;
}

}  // namespace

UndefinedFollower::UndefinedFollower(const LaunchContext& launch, BlockCheckers* checkers,
                                     const BlockPosition& position)
    : launch_(launch),
      checkers_(checkers),
      position_(position),
      values_(checkers != nullptr ? warps_of_block(launch.request) : 0) {}

void UndefinedFollower::begin_block(std::span<Warp> warps) {
  for (UndefinedValues& values : values_) values.clear();
  if (checkers_ == nullptr || launch_.kernel.unwritten.empty()) return;
  for (Warp& warp : warps) {
    begin_unwritten(launch_.kernel, values_[warp.index], warp.existed);
    warp.follows = true;
  }
}

const Lowered* UndefinedFollower::follow(const Lowered* in, Warp& warp, std::uint32_t lanes,
                                         const RawFinding& finding) {
  UndefinedValues& values = values_[warp.index];
  const std::uint16_t origin = values.origin_of(finding);
  for (const std::uint32_t reg : launch_.kernel.info.instructions[in->index].writes) {
    values.set(reg, lanes, all_bits(launch_.kernel.registers[reg].slot), origin);
  }
  return begin_following(in, warp);
}

/// A load has read unwritten bytes: of a vector, and of a word, only these are undefined.
const Lowered* UndefinedFollower::note_unwritten(const Lowered* in, Warp& warp) {
  UndefinedValues& values = values_[warp.index];
  const InstructionInfo& info = launch_.kernel.info.instructions[in->index];
  const auto count = static_cast<unsigned>(std::max<std::size_t>(info.writes.size(), 1));
  for (const BlockCheckers::Unwritten& unwritten : checkers_->take_unwritten()) {
    const std::uint16_t origin = values.origin_of(unwritten.finding);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (unwritten.bytes[lane] == 0) continue;
      for (unsigned i = 0; i < info.writes.size(); ++i) {
        const std::uint64_t bits =
            bits_of_element(unwritten.bytes[lane], info.access_bytes / count, i);
        if (bits != 0) values.set_lane(info.writes[i], lane, bits, origin);
      }
    }
  }
  return begin_following(in, warp);
}

/// The turn ends, since from now on each of the warp's instructions is looked at first.
const Lowered* UndefinedFollower::begin_following(const Lowered* in, Warp& warp) {
  if (warp.follows) return in + 1;
  warp.follows = true;
  warp.resume = in + 1;
  return nullptr;
}

const Lowered* UndefinedFollower::step(const Lowered* in, Warp& warp) {
  UndefinedValues& values = values_[warp.index];
  ValueFollower follower(launch_.kernel, values, *checkers_, position_.block());
  const std::vector<UnwrittenStore> unwritten = follower.look_at(in, warp);
  warp.follows = values.any();
  const Lowered* next = in->run(in, warp);
  mark(unwritten, warp);
  return next;
}

/// Behind a store of what is itself unwritten.
void UndefinedFollower::mark(const std::vector<UnwrittenStore>& stores, const Warp& warp) {
  for (const UnwrittenStore& store : stores) {
    const std::uint64_t of_local = store.address - kLocalWindow;
    const std::uint64_t of_shared = store.address - kSharedWindow;
    const bool is_generic = store.cls == InstructionClass::generic_access;
    if (store.cls == InstructionClass::shared_store) {
      checkers_->unwritten_shared(store.address, store.bytes);
    } else if (store.cls == InstructionClass::local_store) {
      checkers_->new_local_variables(warp.index, 1U << store.lane,
                                     static_cast<std::uint32_t>(store.address), store.bytes);
    } else if (is_generic && of_shared < kWindowBytes) {
      checkers_->unwritten_shared(of_shared, store.bytes);
    } else if (is_generic && of_local < kWindowBytes) {
      checkers_->new_local_variables(warp.index, 1U << store.lane,
                                     static_cast<std::uint32_t>(of_local), store.bytes);
    } else if (is_generic || store.cls == InstructionClass::global_store) {
      launch_.memory.mark_uninitialized(store.address, store.bytes);
    }
  }
}

}  // namespace simgpu
