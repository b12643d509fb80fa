#pragma once

#include <optional>

#include "simgpu/exec/launch_context.h"

namespace simgpu {

/// Runs as many blocks of a grid as tell what the others do, for counters and time; the others do
/// not run, and what they would have stored stays as it was. Of the blocks that are only run to see
/// that they do what was told, LaunchContext::secret decides which they are. nullopt when the
/// blocks do not tell, or nothing is gained: memory is then as it was before, and the launch must
/// be run in full.
std::optional<LaunchResult> run_sampled(const LaunchContext& launch);

}  // namespace simgpu
