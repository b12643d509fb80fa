#include "grader/pipeline/score.h"

#include <algorithm>
#include <cmath>

#include "simgpu/arith/elementary.h"

namespace rooflab {

namespace arith = simgpu::arith;

double rounded_points(double points) { return std::round(points * 100) / 100; }

double speed_share(const SpeedSpec& speed, double efficiency) {
  if (maximum_points(speed) == 0 || !(efficiency > speed.zero_efficiency)) return 0;
  if (speed.is_for_answer) return 1;
  const double share = arith::log2_f64(efficiency / speed.zero_efficiency) /
                       arith::log2_f64(speed.full_efficiency / speed.zero_efficiency);
  return std::min(share, 1.0);
}

double speed_points(const SpeedSpec& speed, double efficiency) {
  return rounded_points(speed.points * speed_share(speed, efficiency));
}

double count_points(const CountTarget& target, double count) {
  if (!(count > 0 && count < target.zero)) return 0;
  const double share =
      arith::log2_f64(target.zero / count) / arith::log2_f64(target.zero / target.full);
  return rounded_points(target.points * std::min(share, 1.0));
}

}  // namespace rooflab
