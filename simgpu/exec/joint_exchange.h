#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/exec/warp.h"

/// Exchanges between lanes that execute them at different places of a kernel: a shuffle in each
/// branch of an if. To PTX they are one operation if they are of the same kind and name the same
/// lanes.
namespace simgpu {

/// Of the lanes that wait for an exchange, those groups whose lanes all have whom they need, in
/// these groups or among those that have exited.
std::vector<LaneState*> ready_to_exchange(const LoweredKernel& kernel,
                                          const std::vector<LaneState*>& waiting,
                                          std::uint32_t exited);

/// Does what these groups wait for.
void run_joint_exchange(Warp& warp, const std::vector<LaneState*>& groups);

}  // namespace simgpu
