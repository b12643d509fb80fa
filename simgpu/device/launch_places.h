#pragma once

#include <vector>

#include "simgpu/device/stream_races.h"
#include "simgpu/device/unordered_work.h"
#include "simgpu/exec/engine.h"

/// What a launch touches, beside its log. Loads of `__constant__` variables are in none: all that a
/// kernel names counts as read.
namespace simgpu {

std::vector<StreamRaces::Range> constants_of(const KernelInfo& kernel);

/// Where a launch touched memory, its kernel's constants included.
UnorderedWork::Places with_constants(const UnorderedWork::Places& places, const KernelInfo& kernel);

/// By instruction, atomics whose old values something uses; empty where there is none.
std::vector<bool> drawing_atomics(const KernelInfo& kernel);

/// Of a log, what lies in none of `own`, which a GPU gives each launch by itself.
std::vector<TouchedSector> outside_of(std::vector<TouchedSector> sectors, const ByteRange& own);

}  // namespace simgpu
