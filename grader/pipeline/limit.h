#pragma once

#include <string>

#include "grader/contract/oracle.h"
#include "grader/spec/result.h"
#include "simgpu/report.h"

namespace rooflab {

/// What bounds a call: launches where the kernels themselves take less than half of its time, else
/// what limits the kernel that takes most of it. A term falls to its least where the work of the
/// case says what that is (bytes across DRAM and L2, arithmetic), else to nothing. Empty when the
/// device told no terms.
/// Kernels that ran side by side account for their parts of the call's time, and no change brings
/// it below the roofline.
/// @param roofline_us of the case
/// @param call_us the call's time
/// @param sm_count multiprocessors of the GPU
/// @param may_use_graphs whether the task allows them
Limit limit_of(const simgpu::Activity& activity, const Work& work, double roofline_us,
               double call_us, int sm_count, bool may_use_graphs = true);

/// The limit in a few sentences: what, what it costs, the counter that proves it, what helps, what
/// that would bring. Empty when there is none. That nothing is to be gained is said only of a call
/// with full marks, or where there are none.
/// @param timing the call's time and what is asked of it
std::string advice_of(const Limit& limit, const Timing& timing);

}  // namespace rooflab
