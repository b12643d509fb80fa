#pragma once

#include "grader/spec/part.h"

namespace rooflab {

/// To a hundredth of a point, as every report has them.
double rounded_points(double points);

/// The share of a timed case's points that an efficiency earns: none at zero_efficiency, all at
/// full_efficiency, linear in log(efficiency) between. One that is no number earns none. Where
/// speed tells nothing (SpeedSpec::is_for_answer), any efficiency that is known earns all.
double speed_share(const SpeedSpec& speed, double efficiency);

/// Points for the time of a timed case, rounded to a hundredth.
double speed_points(const SpeedSpec& speed, double efficiency);

/// Points for a count: all at `full` or below, none at `zero` or above, linear in log(count)
/// between, rounded to a hundredth. What is not above zero, or no number, earns none.
double count_points(const CountTarget& target, double count);

}  // namespace rooflab
