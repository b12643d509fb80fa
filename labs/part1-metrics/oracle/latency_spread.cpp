#include "labs/part1-metrics/oracle/latency_spread.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/refusal.h"

namespace rooflab {
namespace {

/// Two events may add this to a call, in milliseconds, and a float rounds.
constexpr double kEvents = 0.002;
constexpr double kRounding = 0.01;

double sum_of_squares(const std::vector<double>& times) {
  const double mean = mean_of(times);
  return std::transform_reduce(times.begin(), times.end(), 0.0, std::plus<>(),
                               [&](double time) { return (time - mean) * (time - mean); });
}

double mean_distance(const std::vector<double>& times) {
  const double mean = mean_of(times);
  return std::transform_reduce(times.begin(), times.end(), 0.0, std::plus<>(),
                               [&](double time) { return std::abs(time - mean); }) /
         static_cast<double>(times.size());
}

std::vector<double> sorted(std::vector<double> times) {
  std::ranges::sort(times);
  return times;
}

bool is_standard_deviation(double got, const CallTimes& calls, double noise) {
  const double slack = kEvents + noise * mean_of(calls.busy);
  return std::ranges::any_of(
      std::initializer_list<const std::vector<double>*>{&calls.busy, &calls.span},
      [&](const std::vector<double>* times) {
        const double right = standard_deviation_of(*times);
        return std::abs(got - right) <= (kRounding + noise) * right + slack;
      });
}

bool is_median(double got, const CallTimes& calls, double noise) {
  const double slack = kRounding + noise;
  return got >= (1 - slack) * median_of(calls.busy) &&
         got <= (1 + slack) * median_of(calls.span) + kEvents;
}

Complaint explain_standard_deviation(double got, const std::vector<double>& times) {
  const auto n = static_cast<double>(times.size());
  const double right = standard_deviation_of(times);
  const Evidence evidence{
      message("; for these ", times.size(), " calls it should be ", right, " ms, not ", got)};
  constexpr const char* kFormula =
      "add up the squares of the distances from the mean, divide by n - 1, take the root";
  if (times.size() == 1) {
    return {"RL0439",
            "the standard deviation of a single call is 0, and n - 1 is nothing to divide by" +
                evidence,
            "return 0 where n_repeat is 1"};
  }
  const double squares = sum_of_squares(times);
  const std::vector<Slip> slips = {
      {std::sqrt(squares / n), "RL0439", "the sum of squares is divided by n, not by n - 1",
       "the mean comes from the same calls, which leaves n - 1 independent distances from it"},
      {squares / (n - 1), "RL0439", "this is the variance: the root is missing", kFormula},
      {squares / n, "RL0439", "this is the mean square: the root is missing", kFormula},
      {std::sqrt(squares), "RL0439", "the sum of squares is not divided by n - 1", kFormula},
      {right / std::sqrt(n), "RL0439", "this is the standard error of the mean",
       "the standard deviation says how far one call lies from the mean: it is not divided by the "
       "root of n"},
      {mean_distance(times), "RL0439", "this is the mean distance from the mean", kFormula},
      {0, "RL0439", "the standard deviation is 0, and the calls differ in length", kFormula}};
  if (auto complaint = explained(got, kRounding, slips, evidence)) return *complaint;
  return {"RL0407", "the standard deviation is wrong" + evidence, kFormula};
}

Complaint explain_median(double got, const std::vector<double>& times) {
  const std::size_t half = times.size() / 2;
  const std::vector<double> in_order = sorted(times);
  const Evidence evidence{message("; it should be ", median_of(times), " ms, not ", got)};
  constexpr const char* kAdvice =
      "sort the times; take the one in the middle, or the mean of the two in the middle";
  std::vector<Slip> slips = {{mean_of(times), "RL0439", "the median is the mean", kAdvice}};
  const Sentence unsorted("the times are not in order: this is what came halfway");
  if (times.size() % 2 == 0) {
    slips.push_back({(times[half - 1] + times[half]) / 2, "RL0439", unsorted, kAdvice});
    const Sentence one(
        "this is one of the two middle ones; the median of an even number of calls is their mean");
    slips.push_back({in_order[half], "RL0439", one, kAdvice});
    slips.push_back({in_order[half - 1], "RL0439", one, kAdvice});
  }
  slips.push_back({times[half], "RL0439", unsorted, kAdvice});
  slips.push_back({in_order.front(), "RL0439", "this is the shortest call", kAdvice});
  slips.push_back({in_order.back(), "RL0439", "this is the longest call", kAdvice});
  if (auto complaint = explained(got, kRounding, slips, evidence)) return *complaint;
  return {"RL0407", "the median is wrong" + evidence, kAdvice};
}

}  // namespace

double mean_of(const std::vector<double>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

double standard_deviation_of(const std::vector<double>& times) {
  if (times.size() < 2) return 0;
  return std::sqrt(sum_of_squares(times) / static_cast<double>(times.size() - 1));
}

double median_of(std::vector<double> times) {
  const auto middle = [&](std::size_t place) {
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(place));
    return times[place];
  };
  return (middle((times.size() - 1) / 2) + middle(times.size() / 2)) / 2;
}

bool has_spread(const CallTimes& calls) {
  constexpr double kDiffers = 0.05;
  const auto [least, most] = std::ranges::minmax(calls.busy);
  return calls.busy.size() == 1 || most > (1 + kDiffers) * least;
}

std::optional<Complaint> wrong_spread(const Spread& got, const CallTimes& calls, double noise) {
  if (!is_standard_deviation(got.standard_deviation, calls, noise)) {
    return explain_standard_deviation(got.standard_deviation, calls.busy);
  }
  if (!is_median(got.median, calls, noise)) return explain_median(got.median, calls.busy);
  return std::nullopt;
}

}  // namespace rooflab
