#include "grader/pipeline/score.h"

#include <algorithm>
#include <cmath>

namespace rooflab {

double speed_points(const SpeedSpec& speed, double efficiency) {
  if (speed.points == 0) return 0;
  if (!(efficiency > speed.zero_efficiency)) return 0;
  const double share = std::log(efficiency / speed.zero_efficiency) /
                       std::log(speed.full_efficiency / speed.zero_efficiency);
  return std::round(std::min(share, 1.0) * speed.points * 100) / 100;
}

double maximum_points(const TaskSpec& task) {
  double points = task.points;
  for (const SpeedSpec& speed : task.speeds) points += speed.points;
  return points;
}

}  // namespace rooflab
