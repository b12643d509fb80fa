#pragma once

#include "grader/contract/oracle.h"
#include "grader/device/device.h"
#include "grader/diagnose/diagnose.h"
#include "grader/spec/line_cost.h"

namespace rooflab {

/// What the lines of the submission cost in a call, most time first.
SourceCosts line_costs(const RunOutcome& outcome, const DiagnoseContext& context);

}  // namespace rooflab
