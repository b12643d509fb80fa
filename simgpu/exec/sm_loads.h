#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "simgpu/exec/block_weights.h"

namespace simgpu {

/// Deals the blocks of a launch out to multiprocessors as the hardware does: in order, to each SM
/// in turn until all are full, and from then on where a block has ended first. A block is there as
/// long as its longest warp's way, whatever else its SM does.
class SmLoads {
 public:
  /// @param resident_blocks that the whole GPU holds at a time
  SmLoads(int sms, std::uint64_t resident_blocks);

  /// The next block.
  void add(const BlockWeights::Weight& block);
  /// What the SM with most of it has done, of each kind by itself; no way of a warp.
  BlockWeights::Weight busiest() const;

 private:
  /// When a place that was used becomes free, and which: those of one SM lie an SM count apart.
  using Place = std::pair<std::uint64_t, std::uint64_t>;

  Place take_place();

  std::vector<BlockWeights::Weight> sms_;
  std::uint64_t count_of_places_;
  std::uint64_t next_unused_ = 0;  ///< place: free from the start, and so before all that were used
  std::priority_queue<Place, std::vector<Place>, std::greater<>> places_;
};

}  // namespace simgpu
