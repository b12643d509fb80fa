#pragma once

#include "grader/device/device.h"
#include "grader/pipeline/roofline.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"

namespace rooflab {

/// The timing of a timed run against its roofline.
Timing timing_of(const RunOutcome& outcome, const SpeedSpec& speed, const Work& work,
                 const Roofline& roofline);

/// True when no GPU of this kind can have done the work in that time. Measured times get 5 % of
/// grace, since a clock may run above the data sheet's.
bool is_below_floor(const Timing& timing, bool measured);

/// The launch that took most of the time, all launches of its kernel together; nullptr when nothing
/// was launched.
const simgpu::KernelRecord* slowest_kernel(const simgpu::Activity& activity);

}  // namespace rooflab
