#pragma once

namespace simgpu {

/// How unevenly the blocks and warps of a launch share its work. What it is by default holds where
/// all do the same.
struct WorkBalance {
  // Of the whole launch's work, what the block with most of it does; 0: no more than any other.
  double heaviest_instructions = 0;  ///< warp instructions
  double heaviest_sectors = 0;       ///< of global memory, asked for by loads, stores and atomics
  double heaviest_wavefronts = 0;    ///< of shared memory
  // Ways of warps are instructions, and loads from global memory for
  // as many as their latency has cycles.
  double longest_of_block =
      1;               ///< way of a block's longest warp, in the mean, over the mean warp's
  double longest = 1;  ///< way of the launch's longest warp over the mean warp's
};

}  // namespace simgpu
