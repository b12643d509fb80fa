#pragma once

#include <cstdint>

#include "simgpu/checkers/block_checkers.h"
#include "simgpu/exec/block_position.h"
#include "simgpu/exec/warp.h"

namespace simgpu {

/// Instructions that wait for other lanes of the warp (required_lanes.h), as since Volta: those go
/// on by themselves until they have come to such an instruction too, or have exited. Tells the
/// checkers of lanes that come to none. What lanes wait for is their own state.
class LaneWaits {
 public:
  /// @param checkers nullptr when they are off
  LaneWaits(const LoweredKernel& kernel, BlockCheckers* checkers, const BlockPosition& position);

  /// The lanes that have the turn have come to an instruction that needs others. Whether they have
  /// become part of another group that waits there.
  bool wait(Warp& warp, const LaneWait& wait);
  /// Whether the group that waits may try its instruction again.
  bool may_go_on(Warp& warp);
  /// When all lanes of the warp wait, and none for what another one does: CUDA leaves open what
  /// becomes of that. They go on as on GPUs since Volta, each with those that are there.
  void end_if_all_wait(Warp& warp);

 private:
  void part_missing_lanes(Warp& warp);
  bool exchange_jointly(Warp& warp);
  void note_skip(Warp& warp, std::uint32_t lanes, std::uint32_t next);
  void mark_skipped(Warp& warp, std::uint32_t lanes, std::uint32_t next);
  RawFinding lane_finding(const Warp& warp, const LaneWait& wait, std::uint32_t absent) const;
  void report_skipped(const Warp& warp, std::uint32_t lanes);
  void report_missing(Warp& warp, const LaneState& state);
  bool is_unaligned(const LaneWait& wait) const;

  const LoweredKernel& kernel_;
  BlockCheckers* const checkers_;
  const BlockPosition& position_;
  const bool leaves_by_exit_;  ///< nvcc spells a return `ret`, assembly may not
};

}  // namespace simgpu
