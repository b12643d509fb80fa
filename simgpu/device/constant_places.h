#pragma once

#include <vector>

#include "simgpu/device/stream_races.h"
#include "simgpu/device/unordered_work.h"
#include "simgpu/exec/engine.h"

/// Loads of `__constant__` variables are in no log: all that a kernel names counts as read.
namespace simgpu {

std::vector<StreamRaces::Range> constants_of(const KernelInfo& kernel);

/// Where a launch touched memory, its kernel's constants included.
UnorderedWork::Places with_constants(const UnorderedWork::Places& places, const KernelInfo& kernel);

}  // namespace simgpu
