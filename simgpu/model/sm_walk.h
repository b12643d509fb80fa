#pragma once

#include <cstdint>
#include <optional>

#include "simgpu/model/work.h"

/// Several warps at once on one SM: what they wait for each other's work, beside their own results.
namespace simgpu::model {

/// Cycles from when so many blocks begin side by side on an SM until the last one ends, by machine
/// code. All warps go the mean warp's way. Each scheduler starts an instruction of one of its warps
/// per cycle, when ptxas and the scoreboards let it and the unit that executes it is free; loads,
/// stores and shuffles of all schedulers go through one. Blocks that begin together stay together,
/// as they do on a GPU. Of a long loop some turns are walked, and the later half of them stands for
/// all others.
/// @param work with machine code
/// @return nothing where even a few turns of its loops are too much to walk
std::optional<double> cycles_of_blocks(const Work& work, std::uint64_t blocks);

}  // namespace simgpu::model
