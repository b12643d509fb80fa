#pragma once

#include "simgpu/exec/kept_stores.h"
#include "simgpu/exec/launch_context.h"

namespace simgpu {

/// Blocks whose registers, shared and local memory this machine has room for, so that deep stacks
/// and many registers do not exhaust it; at least one. What one block may have is bounded by
/// lowering and by the GPU's memory.
std::uint64_t blocks_that_fit(const LaunchContext& launch);

/// Runs all blocks on this thread. They begin in order, but for LaunchContext::first_block, and one
/// ends before the next begins unless it waits for others: then further blocks begin and take turns
/// with it, as many as the GPU holds. Those of a cooperative launch begin together, and those that
/// ask for work by turns. The order of turns follows from what the blocks do alone, so that the
/// result is the same in every run.
/// @param kept gets what each block has stored when it ends; nullptr: nobody asks
LaunchResult run_side_by_side(const LaunchContext& launch, KeptStores* kept = nullptr);

}  // namespace simgpu
