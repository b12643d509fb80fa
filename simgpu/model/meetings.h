#pragma once

#include <span>

#include "simgpu/model/loop_nest.h"
#include "simgpu/model/work.h"

namespace simgpu::model {

/// How often the mean of `warps` warps meets others of its block: at barriers and arrivals at
/// mbarriers, or by waiting for a place in shared memory to change, whichever are more. A wait
/// counts once, however often it looks.
/// @param polls those of the program
double meetings_of_a_warp(const Work& work, std::span<const Loop> polls, double warps);

}  // namespace simgpu::model
