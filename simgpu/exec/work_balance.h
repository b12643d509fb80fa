#pragma once

#include <array>

namespace simgpu {

/// How unevenly the blocks and warps of a launch share its work. What it is by default holds where
/// all do the same.
struct WorkBalance {
  // Of the whole launch's work, what the SM with most of it does, which is no less than the
  // heaviest block; 0: no more than any other.
  double busiest_instructions = 0;  ///< warp instructions
  double busiest_sectors = 0;       ///< of global memory, asked for by loads, stores and atomics
  double busiest_wavefronts = 0;    ///< of shared memory
  // Of the whole launch's warp instructions, those of every fourth warp of a block, from the first,
  // the second … on: each scheduler of an SM has such warps.
  std::array<double, 4> by_scheduler = {0.25, 0.25, 0.25, 0.25};
  double busiest_scheduler = 0.25;  ///< the same of each block's busiest scheduler
  // The way of a warp: its instructions, and for each load from global memory as many more as its
  // latency has cycles. Both of these are over the mean warp's way.
  double longest_of_block = 1;  ///< of a block's longest warp, in the mean of the blocks
  double longest = 1;           ///< of the launch's longest warp
};

}  // namespace simgpu
