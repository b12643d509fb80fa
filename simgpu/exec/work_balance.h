#pragma once

namespace simgpu {

/// How unevenly the blocks and warps of a launch share its work. What it is by default holds where
/// all do the same.
struct WorkBalance {
  // Of the whole launch's work, what the block with most of it does; 0: no more than any other.
  double heaviest_instructions = 0;  ///< warp instructions
  double heaviest_sectors = 0;       ///< of global memory, asked for by loads, stores and atomics
  double heaviest_wavefronts = 0;    ///< of shared memory
  // The way of a warp: its instructions, and for each load from global memory as many more as its
  // latency has cycles. Both of these are over the mean warp's way.
  double longest_of_block = 1;  ///< of a block's longest warp, in the mean of the blocks
  double longest = 1;           ///< of the launch's longest warp
};

}  // namespace simgpu
