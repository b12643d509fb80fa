#pragma once

#include <string>

#include "grader/batch/outputs/class_results.h"

namespace rooflab {

/// Who has spent slip days so far, as tables [[slip_days.spent]] for the late policy of the next
/// batch; keys of students are written as TOML wants them.
std::string slip_days_toml(const ClassResults& results);

}  // namespace rooflab
