#pragma once

#include <optional>
#include <vector>

#include "grader/contract/oracle.h"

/// Mean, standard deviation and median of timed calls, in milliseconds.
namespace rooflab {

/// What the student's function returned beside the mean.
struct Spread {
  double standard_deviation = 0, median = 0;
};

/// Of the calls one by one, in their order: the time of a call's own kernels, and the time from the
/// end of the call before it. What two events around a call show lies between the two.
struct CallTimes {
  std::vector<double> busy, span;
};

double mean_of(const std::vector<double>& times);
/// Of a sample, 0 where there is one call.
double standard_deviation_of(const std::vector<double>& times);
double median_of(std::vector<double> times);

/// Whether a standard deviation or a median says anything of these calls: there is one, or they
/// differ. Calls of one length have whatever the launches add, and no more.
bool has_spread(const CallTimes& calls);

/// The fault in what was returned, or nothing.
/// @param noise of a time, relative: 0 where the device's own records are exact
std::optional<Complaint> wrong_spread(const Spread& got, const CallTimes& calls, double noise);

}  // namespace rooflab
