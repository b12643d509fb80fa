#pragma once

#include <cstdint>
#include <optional>

#include "simgpu/exec/launch_context.h"

namespace simgpu {

/// What one block of a grid asks DRAM for, in the mean.
struct DramOfBlock {
  double read_bytes = 0, write_bytes = 0;
};

/// The length of a window: blocks that ask L2 for 1.3 times as much as it holds, if each asks for
/// so many sectors.
std::uint64_t blocks_of_window(const gpu_spec::GpuSpec& gpu, double sectors_of_block);

/// Runs consecutive blocks, of which the first four fifths fill L2, and tells what the others ask
/// DRAM for. That is how it goes on, while blocks out of order tell only what is read for the first
/// time. Where they do not fill it, since others of the grid ask for more, it is what all of them
/// ask for. Memory is left changed.
/// @returns nothing where the budget is not enough, or not all that a block asks for is known
/// @throws LaunchFailure when a block fails by anything else than that it takes too long
std::optional<DramOfBlock> dram_of_window(const LaunchContext& launch, std::uint64_t first,
                                          std::uint64_t blocks);

}  // namespace simgpu
