#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/checkers/access_listener.h"
#include "simgpu/checkers/released_times.h"

namespace simgpu {

/// Which accesses of a block's threads are ordered by synchronisation: one clock for the block, of
/// which each warp knows the time of its last synchronisation. An access carries its warp's time;
/// it is ordered before another warp's access if that warp has synchronised with it since.
class WarpOrder {
 public:
  using Time = ReleasedTimes::Time;

  /// Times grow from block to block; when they are used up, everything recorded must be forgotten.
  bool used_up() const { return now_ > 0xf000'0000U; }
  void restart() { now_ = 0; }

  void begin_block(std::uint32_t warps) {
    warps_.resize(warps);
    block_barrier();
  }

  /// Accesses with a time before this one are ordered for everybody.
  Time interval() const { return interval_; }
  /// No access so far is later.
  Time latest() const { return now_; }
  Time time(std::uint16_t warp) const { return warps_[warp].time; }
  std::size_t warps() const { return warps_.size(); }

  void block_barrier();
  /// Orders the warps that have waited at `barrier`, and those before them that arrived there.
  void partial_barrier(const std::vector<bool>& waiting, std::uint32_t barrier);
  void arrive(std::uint16_t warp, std::uint32_t barrier);
  void warp_barrier(std::uint16_t index, std::uint32_t mask);

  /// A strong access: what its warp releases by it (itself, or by a fence before it) is ordered
  /// before what others do that acquire what they find at the same place. A store takes the place
  /// of what was released there; atomics add to it.
  void strong_access(const WarpAccess& access, MemorySpace space);
  void fence(std::uint16_t warp);

  /// mbarriers, each by its place in shared memory: what those did who have arrived when a phase
  /// ends is ordered before what those do who have waited for its end.
  void arrive_at(std::uint16_t warp, std::uint32_t place);
  void end_phase(std::uint32_t place);
  void wait_for_phase(std::uint16_t warp, std::uint32_t place);

  /// Whether what `lane` of `warp` does now comes after an access at `then` by `other_lane` of
  /// `other_warp`.
  bool ordered(Time then, std::uint16_t other_warp, std::uint8_t other_lane, std::uint16_t warp,
               std::uint8_t lane) const {
    if (then < interval_) return true;
    const Warp& own = warps_[warp];
    if (warp != other_warp) return other_warp < own.seen.size() && then < own.seen[other_warp];
    if (lane == other_lane || then < own.synced) return true;
    return own.lanes != nullptr && then < (*own.lanes)[lane][other_lane];
  }

 private:
  using Lanes = std::array<std::array<Time, kWarpSize>, kWarpSize>;
  struct Warp {
    Time time = 0;
    Time synced = 0;         ///< all lanes are ordered up to here
    std::vector<Time> seen;  ///< by partial barriers: up to when of each other warp
    /// What was ordered before its last fence: up to when of each warp; nullptr without a fence.
    ReleasedTimes::Times fenced;
    /// What was released at places that it has read since its last fence.
    std::vector<Time> observed;
    std::unique_ptr<Lanes>
        lanes;  ///< by warp barriers of some lanes: up to when of each other lane
  };

  /// Up to when of each warp is known to those who have arrived at an mbarrier, and was when its
  /// last phase ended.
  struct Phases {
    std::vector<Time> arrived, ended;
  };

  std::vector<Time> known_to(std::uint16_t warp);
  void acquire(std::uint16_t warp, const std::vector<Time>& times);

  Time now_ = 0;
  Time interval_ = 0;
  std::vector<Warp> warps_;
  std::array<std::vector<Time>, 16> arrived_;  ///< by barrier: up to when of each warp
  ReleasedTimes released_;
  std::map<std::uint32_t, Phases> mbarriers_;
};

}  // namespace simgpu
