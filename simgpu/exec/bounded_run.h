#pragma once

#include <functional>

#include "simgpu/exec/launch_context.h"

namespace simgpu {

/// A run in full of a launch that bounds_long_launches. Where it takes more than its budget, the
/// result has `at_least` and whatever counters are known of the part that ran.
using FullRun = std::function<LaunchResult(const LaunchContext&)>;

/// Runs a launch if its budget allows, whole; else as a sampled run would, if that is possible;
/// else tells lower bounds of its counters: from blocks all over the grid, or from as much as ran
/// where blocks may wait for each other or are few. Of a launch that is bounded memory holds what
/// LaunchResult::settled says.
/// @param may_sample whether a sampled run has not been tried already
LaunchResult run_within_budget(const LaunchContext& launch, bool may_sample,
                               const FullRun& run_in_full);

}  // namespace simgpu
