#include "simgpu/checkers/warp_order.h"

#include <bit>
#include <memory>
#include <utility>

namespace simgpu {
namespace {

void merge(std::vector<WarpOrder::Time>& times, const std::vector<WarpOrder::Time>& others) {
  ReleasedTimes::merge(times, others);
}

ReleasedTimes::Times share(std::vector<WarpOrder::Time> times) {
  return std::make_shared<const std::vector<WarpOrder::Time>>(std::move(times));
}

/// Calls visit(place) for each word that the lanes touch, the same one once for lanes in a row.
template <class Visit>
void each_place(const WarpAccess& access, MemorySpace space, Visit visit) {
  constexpr std::uint64_t kWord = 4, kOfShared = std::uint64_t{1} << 63;
  const std::uint64_t of_space = space == MemorySpace::shared ? kOfShared : 0;
  std::uint64_t last = ~std::uint64_t{0};
  for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t address = (*access.address)[std::countr_zero(lanes)];
    if (address == last) continue;
    last = address;
    for (std::uint64_t at = address / kWord; at <= (address + access.bytes - 1) / kWord; ++at) {
      visit(at | of_space);
    }
  }
}

}  // namespace

void WarpOrder::block_barrier() {
  interval_ = ++now_;
  released_.clear();
  mbarriers_.clear();
  for (std::vector<Time>& times : arrived_) times.clear();
  for (Warp& warp : warps_) {
    warp.time = warp.synced = interval_;
    warp.seen.clear();
    warp.fenced = nullptr;
    warp.observed.clear();
    warp.lanes.reset();
  }
}

void WarpOrder::arrive(std::uint16_t warp, std::uint32_t barrier) {
  merge(arrived_.at(barrier), known_to(warp));
}

void WarpOrder::partial_barrier(const std::vector<bool>& taking_part, std::uint32_t barrier) {
  const std::size_t count = std::min(warps_.size(), taking_part.size());
  // Who waited knows afterwards what any of them knew before, and those who arrived.
  std::vector<Time> seen(warps_.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (taking_part[i]) merge(seen, warps_[i].seen);
  }
  merge(seen, arrived_.at(barrier));
  arrived_[barrier].clear();
  const Time now = ++now_;
  for (std::size_t i = 0; i < count; ++i) {
    if (taking_part[i]) seen[i] = now;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!taking_part[i]) continue;
    warps_[i].seen = seen;
    warps_[i].time = warps_[i].synced = now;
    warps_[i].lanes.reset();
  }
}

void WarpOrder::warp_barrier(std::uint16_t index, std::uint32_t mask) {
  Warp& warp = warps_[index];
  warp.time = ++now_;
  if (mask == 0xffffffffU) {
    warp.synced = warp.time;
    warp.lanes.reset();
    return;
  }
  if (warp.lanes == nullptr) warp.lanes = std::make_unique<Lanes>();
  Lanes& lanes = *warp.lanes;
  std::array<Time, kWarpSize> seen{};
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    for (unsigned other = 0; other < kWarpSize; ++other) {
      seen[other] = std::max(seen[other], lanes[lane][other]);
    }
  }
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane & 1U) != 0) seen[lane] = warp.time;
  }
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane & 1U) != 0) lanes[lane] = seen;
  }
}

/// Ends what the warp did so far: up to when of each warp it is ordered, this one included.
std::vector<WarpOrder::Time> WarpOrder::known_to(std::uint16_t index) {
  Warp& warp = warps_[index];
  warp.time = ++now_;
  std::vector<Time> times = warp.seen;
  times.resize(warps_.size(), 0);
  times[index] = warp.time;
  return times;
}

void WarpOrder::acquire(std::uint16_t index, const std::vector<Time>& times) {
  if (times.empty()) return;
  Warp& warp = warps_[index];
  merge(warp.seen, times);
  // Lanes of one warp release and acquire together where all of them execute the instruction.
  warp.synced = std::max(warp.synced, times[index]);
}

void WarpOrder::arrive_at(std::uint16_t warp, std::uint32_t place) {
  merge(mbarriers_[place].arrived, known_to(warp));
}

void WarpOrder::end_phase(std::uint32_t place) {
  Phases& phases = mbarriers_[place];
  phases.ended = phases.arrived;
}

void WarpOrder::wait_for_phase(std::uint16_t warp, std::uint32_t place) {
  if (const auto known = mbarriers_.find(place); known != mbarriers_.end()) {
    acquire(warp, known->second.ended);
  }
}

void WarpOrder::strong_access(const WarpAccess& access, MemorySpace space) {
  if (reads(access.kind) && !released_.empty()) {
    std::vector<Time> found;
    each_place(access, space, [&](std::uint64_t place) { released_.add_to(found, place); });
    if ((access.order & kAcquires) != 0) {
      acquire(access.warp, found);
    } else {
      merge(warps_[access.warp].observed, found);
    }
  }
  if (!writes(access.kind)) return;
  ReleasedTimes::Times times = warps_[access.warp].fenced;
  if ((access.order & kReleases) != 0) times = share(known_to(access.warp));
  if (access.kind == AccessKind::store) {
    each_place(access, space, [&](std::uint64_t place) { released_.set(place, times); });
  } else if (times != nullptr) {
    each_place(access, space, [&](std::uint64_t place) { released_.merge(place, times); });
  }
}

void WarpOrder::fence(std::uint16_t index) {
  acquire(index, warps_[index].observed);
  warps_[index].observed.clear();
  warps_[index].fenced = share(known_to(index));
}

}  // namespace simgpu
