#pragma once

#include <vector>

/// How far predictions are from measurements, as the literature on time models gives it.
namespace rooflab::compare_times {

/// A time that was measured and what a model says of it, both above 0, in one unit.
struct TimePair {
  double measured = 0;
  double modelled = 0;
};

/// Mean of |modelled - measured| / measured, in percent. NaN without pairs.
double mean_absolute_percentage_error(const std::vector<TimePair>& pairs);

/// Kendall's tau-b: 1 where the model puts the times into the measured order, -1 where it reverses
/// it. Pairs tied in either count for neither side and shorten the range they are divided by
/// (M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33, 1945). NaN where all
/// times of one side are equal, or there are less than two. Takes the square of their number.
double kendall_tau_b(const std::vector<TimePair>& pairs);

}  // namespace rooflab::compare_times
