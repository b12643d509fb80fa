#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "simgpu/checkers/block_checkers.h"
#include "simgpu/exec/warp.h"

namespace simgpu {

/// The 16 barriers of the block that runs (bar.*, barrier.*): who has arrived at each without
/// waiting, what its warps have voted, and when it lets those go that wait. That a warp waits is
/// the warp's own state.
class Barriers {
 public:
  static constexpr std::uint32_t kCount = 16;

  /// What bar.red makes of votes.
  struct Reduction {
    std::uint32_t population = 0;
    bool all = true, any = false;
  };

  /// @param checkers nullptr when they are off
  explicit Barriers(BlockCheckers* checkers) : checkers_(checkers) {}

  void begin_block() { barriers_.fill({}); }

  /// A warp comes to a barrier, and goes on behind `in` when that lets it.
  /// @param threads that the barrier waits for, 0 for all of the block
  static const Lowered* wait(Warp& warp, const Lowered* in, std::uint32_t barrier,
                             std::uint32_t threads);
  /// A warp arrives without waiting.
  void arrive(const Warp& warp, std::uint32_t barrier);
  /// Of the lanes `voters`, those of `votes` vote yes; for the next time that the barrier lets go.
  void vote(std::uint32_t barrier, std::uint32_t voters, std::uint32_t votes);
  /// The votes of the last time.
  const Reduction& votes(std::uint32_t barrier) const { return barriers_.at(barrier).collected; }

  /// Lets go those of the block's warps that wait at a barrier to which nobody else has to come.
  /// Whether there were any.
  bool let_go(std::span<Warp> warps);

 private:
  struct Barrier {
    std::uint32_t arrived = 0;       ///< threads that arrived without waiting
    std::uint64_t last_arrival = 0;  ///< time of the last of these
    Reduction collecting{}, collected{};
  };

  bool is_complete(std::span<const Warp> warps, std::uint32_t barrier) const;
  void release(std::span<Warp> warps, std::uint32_t barrier);
  void wait_for_last(std::span<Warp> warps, std::uint32_t barrier);
  void tell_checkers(std::span<const Warp> warps, std::uint32_t barrier);

  BlockCheckers* const checkers_;
  std::array<Barrier, kCount> barriers_{};
};

}  // namespace simgpu
