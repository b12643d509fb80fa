#pragma once

#include "simgpu/model/work.h"

namespace simgpu::model {

/// How often the mean warp meets others of its block: at barriers and arrivals at mbarriers, or by
/// waiting for a place in shared memory to change, whichever are more. A wait counts once, however
/// often it looks.
double meetings_of_a_warp(const Work& work);

}  // namespace simgpu::model
