#include "simgpu/checkers/warp_order.h"

namespace simgpu {
namespace {

/// The later one of each warp's times.
void merge(std::vector<WarpOrder::Time>& times, const std::vector<WarpOrder::Time>& others) {
  if (times.size() < others.size()) times.resize(others.size(), 0);
  for (std::size_t i = 0; i < others.size(); ++i) times[i] = std::max(times[i], others[i]);
}

}  // namespace

void WarpOrder::block_barrier() {
  interval_ = ++now_;
  published_.clear();
  mbarriers_.clear();
  for (std::vector<Time>& times : arrived_) times.clear();
  for (Warp& warp : warps_) {
    warp.time = warp.synced = interval_;
    warp.seen.clear();
    warp.fenced.clear();
    warp.observed = false;
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

void WarpOrder::strong_access(std::uint16_t index, bool reads, bool writes, std::uint8_t order) {
  if (reads && (order & kAcquires) != 0) {
    acquire(index, published_);
  } else if (reads) {
    warps_[index].observed = true;
  }
  if (!writes) return;
  if ((order & kReleases) != 0) {
    merge(published_, known_to(index));
  } else if (!warps_[index].fenced.empty()) {
    merge(published_, warps_[index].fenced);
  }
}

void WarpOrder::fence(std::uint16_t index) {
  if (warps_[index].observed) acquire(index, published_);
  warps_[index].observed = false;
  warps_[index].fenced = known_to(index);
}

}  // namespace simgpu
