#pragma once

#include "grader/spec/part.h"

namespace rooflab {

/// Speed points: none at zero_efficiency, all at full_efficiency, linear in log(efficiency)
/// between, rounded to a hundredth. An efficiency that is no number earns none.
double speed_points(const SpeedSpec& speed, double efficiency);

/// The most that a task can give: its points and those for speed.
double maximum_points(const TaskSpec& task);

}  // namespace rooflab
