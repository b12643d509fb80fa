#pragma once

#include "grader/diagnose/diagnose.h"
#include "simgpu/report.h"

namespace rooflab {

/// Work that is not ordered with the stream that its function is given: simgpu's finding of it.
inline constexpr Code kOffTheStream = "RL0325";

/// The story of such a finding. It stands at the launch, copy or fill in the student's source,
/// where the source tells which one that is; else at the access of the kernel.
Diagnostic explain_off_the_stream(const simgpu::Finding& finding, const DiagnoseContext& context);

}  // namespace rooflab
