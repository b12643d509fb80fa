#pragma once

#include <vector>

#include "grader/device/cuda/sample.h"

namespace rooflab {

/// What samples of one time come to.
struct TimeStatistics {
  double median_us = 0;
  double first_quartile_us = 0;
  double third_quartile_us = 0;
  int counted = 0;
  int dropped = 0;    ///< taken while the GPU was throttled
  double sm_mhz = 0;  ///< median clock of the samples that count; 0: not watched
};

/// The value below which a share `q` of the values lies, between neighbours by their distance.
/// 0 when there is none.
double quantile(std::vector<double> values, double q);

/// Throttled samples, and those whose time is not above 0, do not count.
TimeStatistics statistics_of(const std::vector<Sample>& samples);

}  // namespace rooflab
