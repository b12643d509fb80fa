#include "grader/pipeline/score.h"

#include <algorithm>
#include <cmath>

namespace rooflab {

double rounded_points(double points) { return std::round(points * 100) / 100; }

double speed_share(const SpeedSpec& speed, double efficiency) {
  if (maximum_points(speed) == 0 || !(efficiency > speed.zero_efficiency)) return 0;
  if (speed.is_for_answer) return 1;
  const double share = std::log(efficiency / speed.zero_efficiency) /
                       std::log(speed.full_efficiency / speed.zero_efficiency);
  return std::min(share, 1.0);
}

double speed_points(const SpeedSpec& speed, double efficiency) {
  return rounded_points(speed.points * speed_share(speed, efficiency));
}

double count_points(const CountTarget& target, double count) {
  if (!(count > 0 && count < target.zero)) return 0;
  const double share = std::log(target.zero / count) / std::log(target.zero / target.full);
  return rounded_points(target.points * std::min(share, 1.0));
}

}  // namespace rooflab
