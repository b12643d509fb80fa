#pragma once

#include <vector>

#include "simgpu/counters/access_counts.h"
#include "simgpu/model/time_model.h"
#include "simgpu/model/work.h"

namespace simgpu {

/// An instruction's part of a launch's time, and what it is for.
struct InstructionTime {
  double time_us = 0;
  Limiter limiter = Limiter::issue;  ///< most of it
};

/// Shares out the time of a launch, without its overhead, over its instructions. Each term of the
/// time model counts as much as the time would change with it, and is shared by what instructions
/// ask of it: docs/design/lines.md. They add up to the time.
/// @param busy_us all of it, what comes on top of the model's terms included
/// @param accesses of each instruction up to the last that has any
std::vector<InstructionTime> instruction_times(const model::Work& work,
                                               const PredictedTime& predicted, double busy_us,
                                               const AccessCountsByPc& accesses);

}  // namespace simgpu
