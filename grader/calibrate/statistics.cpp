#include "grader/calibrate/statistics.h"

#include <algorithm>
#include <cmath>

namespace rooflab {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - std::floor(place)) * (values[above] - values[below]);
}

TimeStatistics statistics_of(const std::vector<Sample>& samples) {
  TimeStatistics result;
  std::vector<double> times_us;
  std::vector<double> clocks_mhz;
  for (const Sample& sample : samples) {
    if (is_throttled(sample) || !(sample.time_us > 0)) {
      ++result.dropped;
      continue;
    }
    times_us.push_back(sample.time_us);
    if (sample.sm_mhz > 0) clocks_mhz.push_back(static_cast<double>(sample.sm_mhz));
  }
  result.counted = static_cast<int>(times_us.size());
  result.median_us = quantile(times_us, 0.5);
  result.first_quartile_us = quantile(times_us, 0.25);
  result.third_quartile_us = quantile(times_us, 0.75);
  result.sm_mhz = quantile(clocks_mhz, 0.5);
  return result;
}

}  // namespace rooflab
