#include "simgpu/checkers/block_checkers.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "simgpu/checkers/findings.h"
#include "simgpu/checkers/global_races.h"
#include "simgpu/checkers/lane_pattern.h"
#include "simgpu/checkers/memory_races.h"
#include "simgpu/checkers/stale_loads.h"
#include "simgpu/checkers/warp_order.h"
#include "simgpu/checkers/written_bytes.h"

namespace simgpu {
namespace {

/// Calls each(lane, first, bytes) for the places of an access: once for all lanes where they are
/// neighbours or the same, and, if that returns false or they are not, lane by lane.
template <typename Each>
void for_each_place(const WarpAccess& access, const std::optional<std::int64_t>& stride,
                    const Each& each) {
  if (stride && (*stride == 0 || *stride == access.bytes)) {
    const std::uint64_t lanes = *stride == 0 ? 1 : kWarpSize;
    if (each(0U, (*access.address)[0], lanes * access.bytes)) return;
  }
  for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    each(lane, (*access.address)[lane], std::uint64_t{access.bytes});
  }
}

/// Of the bytes of a lane's access that nothing has written, those of `used`; all where none has
/// been written. Bit i is byte i.
template <typename Contains>
std::uint16_t unwritten_bytes(std::uint64_t first, std::uint64_t bytes, std::uint16_t used,
                              const Contains& contains) {
  std::uint32_t unwritten = 0;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    if (!contains(first + i, 1)) unwritten |= 1U << i;
  }
  const bool none_written = unwritten == (1U << bytes) - 1;
  return static_cast<std::uint16_t>(none_written ? unwritten : unwritten & used);
}

/// Reads of what `contains` does not hold are passed to `report`, what is written to `add`.
template <typename Report, typename Contains, typename Add>
void check_initialisation(Code code, const WarpAccess& access,
                          const std::optional<std::int64_t>& stride, std::uint64_t block,
                          const AccessFacts& facts, const Report& report, const Contains& contains,
                          const Add& add) {
  if (reads(access.kind)) {
    for_each_place(
        access, stride, [&](std::uint32_t lane, std::uint64_t first, std::uint64_t bytes) {
          if (contains(first, bytes)) return true;
          // A run of lanes is looked at again lane by lane.
          const bool one_lane = bytes == access.bytes;
          if (!one_lane) return false;
          const std::uint16_t unwritten = unwritten_bytes(first, bytes, facts.used_bytes, contains);
          if (unwritten == 0) return true;
          report(finding_at(code, access, block, static_cast<std::uint8_t>(lane), first),
                 unwritten);
          return true;
        });
  }
  if (writes(access.kind)) {
    for_each_place(access, stride, [&](std::uint32_t, std::uint64_t first, std::uint64_t bytes) {
      add(first, bytes);
      return true;
    });
  }
}

}  // namespace

struct BlockCheckers::State {
  State(DeviceMemory& device_memory, std::vector<AccessFacts> facts_by_pc,
        std::size_t most_window_bytes)
      : memory(device_memory), facts(std::move(facts_by_pc)), global_races(most_window_bytes) {
    const auto may_be_stale = [](const AccessFacts& one) { return one.reads_unchanged; };
    if (std::ranges::any_of(facts, may_be_stale)) stale_loads.emplace();
  }

  const AccessFacts& facts_of(std::uint32_t pc) const {
    static constexpr AccessFacts kNone;
    return pc < facts.size() ? facts[pc] : kNone;
  }

  /// Strong accesses order warps, and race with plain ones alone; those that store do as atomics
  /// do.
  template <typename Races>
  void check_races(Races& races_there, const WarpAccess& access, MemorySpace space,
                   const std::optional<std::int64_t>& stride) {
    const bool is_strong = (access.order & kStrong) != 0;
    if (!is_strong && !facts_of(access.pc).meets_atomics) {
      races_there.access(access, stride, order, findings);
      return;
    }
    WarpAccess strong = access;
    strong.meets_atomics = true;
    if (!is_strong) {
      races_there.access(strong, stride, order, findings);
      return;
    }
    if (writes(access.kind)) strong.kind = AccessKind::atomic;
    if ((access.order & kOnMbarrier) == 0) order.strong_access(access, space);
    races_there.access(strong, stride, order, findings);
  }

  /// So many windows of global memory had to be forgotten to make room for an access.
  void note_forgotten(const WarpAccess& access, std::uint64_t windows) {
    if (!unwatched) {
      const auto lane = static_cast<std::uint8_t>(std::countr_zero(access.mask));
      unwatched = finding_at("RL0615", access, block, lane, (*access.address)[lane]);
      unwatched->occurrences = 0;
    }
    unwatched->occurrences += windows;
  }

  DeviceMemory& memory;
  std::vector<AccessFacts> facts;  ///< by pc
  std::uint64_t block = 0;
  std::uint32_t warps = 0;
  std::uint32_t local_bytes = 0;
  bool local_ready = false;
  WarpOrder order;
  MemoryRaces races;
  GlobalRaces global_races;
  std::optional<StaleLoads> stale_loads;  ///< where the kernel has loads that may be
  WrittenBytes shared;
  WrittenBytes local;  ///< of all threads, one after the other
  FindingList findings;
  std::optional<RawFinding> unwatched;  ///< where races were not looked for, once for the block
  std::vector<Unwritten> unwritten;     ///< by the last access: one at most
};

BlockCheckers::BlockCheckers(DeviceMemory& memory, std::vector<AccessFacts> facts,
                             std::size_t most_window_bytes)
    : state_(std::make_unique<State>(memory, std::move(facts), most_window_bytes)) {}
BlockCheckers::~BlockCheckers() = default;

void BlockCheckers::listen(AccessListener* listener) {
  listener_ = listener;
  state_->findings.listen(listener);
}

void BlockCheckers::begin_block(std::uint64_t block, std::uint32_t shared_bytes,
                                std::uint32_t warps, std::uint32_t local_bytes_per_thread) {
  State& state = *state_;
  state.block = block;
  state.warps = warps;
  state.local_bytes = local_bytes_per_thread;
  state.local_ready = false;
  if (state.order.used_up()) state.global_races.forget_all();
  state.global_races.begin_block(block, warps);
  if (state.stale_loads) state.stale_loads->begin_block(block);
  state.races.begin_block(block, shared_bytes, state.order);
  state.order.begin_block(warps);
  state.shared.reset(shared_bytes);
}

/// A load's value may be dropped, what an atomic reads is used.
void BlockCheckers::note_unwritten(AccessKind kind, RawFinding finding, std::uint16_t bytes) {
  std::vector<Unwritten>& unwritten = state_->unwritten;
  finding.unwritten_first = static_cast<std::uint8_t>(std::countr_zero(bytes));
  finding.unwritten_count = static_cast<std::uint8_t>(std::popcount(bytes));
  if (kind != AccessKind::load) return state_->findings.add(finding);
  if (unwritten.empty()) {
    unwritten.push_back({finding, {}});
    has_unwritten_ = true;
  } else {
    ++unwritten.front().finding.occurrences;
  }
  unwritten.front().bytes[finding.lane] = bytes;
}

std::vector<BlockCheckers::Unwritten> BlockCheckers::take_unwritten() {
  has_unwritten_ = false;
  return std::exchange(state_->unwritten, {});
}

void BlockCheckers::add_unwritten() {
  for (const Unwritten& unwritten : take_unwritten()) state_->findings.add(unwritten.finding);
}

/// An address that is computed from an array's leaves it, though not the block's shared memory.
void BlockCheckers::check_array(const WarpAccess& access, const AccessFacts& facts,
                                const std::optional<std::int64_t>& stride) {
  const auto inside = [&](std::uint64_t address) {
    return address >= facts.array_begin && address + access.bytes <= facts.array_end;
  };
  if (stride && inside(access.address->front()) && inside(access.address->back())) return;
  for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint8_t>(std::countr_zero(lanes));
    const std::uint64_t address = (*access.address)[lane];
    if (!inside(address)) {
      state_->findings.add(finding_at("RL0202", access, state_->block, lane, address));
    }
  }
}

void BlockCheckers::shared(const WarpAccess& access) {
  if (has_unwritten_) add_unwritten();
  if (listener_ != nullptr) listener_->accessed(MemorySpace::shared, access);
  State& state = *state_;
  const std::optional<std::int64_t> stride = constant_stride(access);
  const AccessFacts& facts = state.facts_of(access.pc);
  if (facts.array_end != 0) check_array(access, facts, stride);
  check_initialisation(
      "RL0206", access, stride, state.block, facts,
      [&](const RawFinding& finding, std::uint16_t unwritten) {
        note_unwritten(access.kind, finding, unwritten);
      },
      [&](std::uint64_t first, std::uint64_t bytes) { return state.shared.contains(first, bytes); },
      [&](std::uint64_t first, std::uint64_t bytes) { state.shared.add(first, bytes); });
  state.check_races(state.races, access, MemorySpace::shared, stride);
}

void BlockCheckers::copy_done(const WarpAccess& access) {
  if (listener_ != nullptr) listener_->copy_arrived(access);
  state_->races.copy_done(access, state_->order);
}

/// Reading an element of global memory that nothing has written is a fault by itself; of an element
/// that is written in part, as a vector at the end of a row, the other part may be dropped.
void BlockCheckers::global(const WarpAccess& access) {
  if (has_unwritten_) add_unwritten();
  if (listener_ != nullptr) listener_->accessed(MemorySpace::global, access);
  State& state = *state_;
  const std::optional<std::int64_t> stride = constant_stride(access);
  check_initialisation(
      "RL0205", access, stride, state.block, state.facts_of(access.pc),
      [&](const RawFinding& finding, std::uint16_t unwritten) {
        const bool is_whole = unwritten == (1U << access.bytes) - 1;
        note_unwritten(is_whole ? AccessKind::atomic : access.kind, finding, unwritten);
      },
      [&](std::uint64_t first, std::uint64_t bytes) {
        return state.memory.is_initialized(first, bytes);
      },
      [&](std::uint64_t first, std::uint64_t bytes) {
        state.memory.mark_initialized(first, bytes);
      });
  const std::uint64_t forgotten = state.global_races.forgotten_windows();
  state.check_races(state.global_races, access, MemorySpace::global, stride);
  if (state.global_races.forgotten_windows() != forgotten) [[unlikely]] {
    state.note_forgotten(access, state.global_races.forgotten_windows() - forgotten);
  }
  if (!state.stale_loads) return;
  if (writes(access.kind)) {
    state.stale_loads->store(access);
  } else if (state.facts_of(access.pc).reads_unchanged) {
    state.stale_loads->load(access, state.findings);
  }
}

void BlockCheckers::fence(std::uint16_t warp) { state_->order.fence(warp); }

void BlockCheckers::arrive_at(std::uint16_t warp, std::uint32_t place) {
  state_->order.arrive_at(warp, place);
}

void BlockCheckers::end_phase(std::uint32_t place) { state_->order.end_phase(place); }

void BlockCheckers::wait_for_phase(std::uint16_t warp, std::uint32_t place) {
  state_->order.wait_for_phase(warp, place);
}

void BlockCheckers::initialised_shared(std::uint64_t first, std::uint64_t bytes) {
  state_->shared.add(first, bytes);
}

void BlockCheckers::unwritten_shared(std::uint64_t first, std::uint64_t bytes) {
  state_->shared.remove(first, bytes);
}

void BlockCheckers::local(const WarpAccess& access) {
  if (has_unwritten_) add_unwritten();
  if (listener_ != nullptr) listener_->accessed(MemorySpace::local, access);
  State& state = *state_;
  // Few kernels use local memory, so its shadow is made at the first access.
  if (!state.local_ready) {
    state.local.reset(std::uint64_t{state.warps} * kWarpSize * state.local_bytes);
    state.local_ready = true;
  }
  const std::uint64_t warp_first = std::uint64_t{access.warp} * kWarpSize * state.local_bytes;
  for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint8_t>(std::countr_zero(lanes));
    const std::uint64_t offset = (*access.address)[lane];
    const std::uint64_t first = warp_first + std::uint64_t{lane} * state.local_bytes + offset;
    const auto contains = [&](std::uint64_t at, std::uint64_t bytes) {
      return state.local.contains(at, bytes);
    };
    if (access.kind != AccessKind::store && !contains(first, access.bytes)) {
      const std::uint16_t unwritten =
          unwritten_bytes(first, access.bytes, state.facts_of(access.pc).used_bytes, contains);
      if (unwritten != 0) {
        note_unwritten(access.kind, finding_at("RL0208", access, state.block, lane, offset),
                       unwritten);
      }
    }
    if (access.kind != AccessKind::load) state.local.add(first, access.bytes);
  }
}

void BlockCheckers::new_local_variables(std::uint16_t warp, std::uint32_t mask, std::uint32_t first,
                                        std::uint32_t bytes) {
  State& state = *state_;
  if (!state.local_ready) return;
  for (std::uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint64_t>(std::countr_zero(lanes));
    const std::uint64_t thread = std::uint64_t{warp} * kWarpSize + lane;
    state.local.remove(thread * state.local_bytes + first, bytes);
  }
}

void BlockCheckers::absent_source(std::uint16_t warp, std::uint32_t pc, std::uint8_t lane,
                                  std::uint8_t source) {
  const WarpAccess shuffle{.warp = warp, .pc = pc};
  state_->findings.add(finding_at("RL0305", shuffle, state_->block, lane, source));
}

void BlockCheckers::block_barrier() {
  if (listener_ != nullptr) listener_->passed_barrier();
  state_->order.block_barrier();
}

void BlockCheckers::partial_barrier(const std::vector<bool>& warps, std::uint32_t barrier) {
  state_->order.partial_barrier(warps, barrier);
}

void BlockCheckers::arrive(std::uint16_t warp, std::uint32_t barrier) {
  state_->order.arrive(warp, barrier);
}

void BlockCheckers::add(const RawFinding& finding) { state_->findings.add(finding); }

void BlockCheckers::warp_barrier(std::uint16_t warp, std::uint32_t mask) {
  state_->order.warp_barrier(warp, mask);
}

std::vector<RawFinding> BlockCheckers::take_findings() {
  if (has_unwritten_) add_unwritten();
  if (state_->unwatched) state_->findings.add(*std::exchange(state_->unwatched, {}));
  return state_->findings.take();
}

}  // namespace simgpu
