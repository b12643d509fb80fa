#pragma once

#include <vector>

#include "simgpu/exec/block_sampler.h"

namespace simgpu {

/// The same blocks, in the same order, as a grid of one more axis: where one index along x numbers
/// tiles of two axes, as in tile + tiles * head, those are the axes of what is returned. Finds them
/// by the place along x from which addresses do not move from block to block as before, and runs
/// few blocks. Nothing where there is no such place, or no axis to spare; the likeliest first where
/// several are possible.
/// @throws NotSampled, LaunchFailure
std::vector<Dim3> folded(const Dim3& grid, BlockSampler& sampler);

}  // namespace simgpu
