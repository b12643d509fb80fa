#pragma once

#include "simgpu/replay/recording.h"
#include "simgpu/source/early_returns.h"

namespace simgpu::replay {

/// Gives values the names that they have in the source, where that is certain: arguments of the
/// kernel, types and extents of shared arrays, and what a line assigns to a variable. What is not
/// certain stays without a name.
void name_values(Recording& recording, const SourceText& source);

}  // namespace simgpu::replay
