#pragma once

#include <vector>

#include "simgpu/model/work.h"

namespace simgpu::model {

/// Cycles that the mean warp needs for its way through the kernel if it never waits for other
/// warps. Within straight code, up to a barrier, instructions start as soon as their operands are
/// there, one per cycle: the assembler moves loads ahead of what uses them. What a stretch of code
/// leaves under way is waited for where it is used, in whichever stretch that is. A loop is
/// followed once as it is entered and once as it follows itself, which stands for all further
/// turns; what is executed less than once in a turn counts with that part of its time. While a warp
/// is suspended it does nothing.
double warp_cycles(const Work& work);

/// How long blocks take when they wait for nothing but their own results.
struct BlockCycles {
  double mean = 0;
  double longest = 0;  ///< the longest of the launch
  /// Share of this during which a block's warps all wait, because they meet each other. The warps
  /// that meet most often tell, whatever others do beside them.
  double stalled = 0;
};

/// A block takes as long as its longest warp, each way being followed like the mean warp's. Where
/// warps take turns it takes as long as all that wait for each other.
/// @param mean_warp warp_cycles(): where the ways of the warps are not known it is every warp's
BlockCycles block_cycles(const Work& work, double mean_warp);

/// For which instructions the longest warp of a block waits: of each, a share of its time. An
/// instruction that issues while nothing is waited for is waited for itself.
/// @param of_longest_block the launch's longest block; else the mean of all blocks
std::vector<double> waited_for(const Work& work, bool of_longest_block);

}  // namespace simgpu::model
