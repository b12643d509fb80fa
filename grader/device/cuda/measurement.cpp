#include "grader/device/cuda/measurement.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "grader/spec/median.h"

namespace rooflab {
namespace {

// What medians of calls with work in them differ by from that of idle calls, beside their events: on
// an H200 in a virtual machine by -55 to +59 us.
constexpr double kToleranceUs = 100;
constexpr double kToleranceFactor = 0.02;

double relative_standard_error(const std::vector<double>& samples) {
  const auto count = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) {
    squares += (sample - mean) * (sample - mean);
  }
  return std::sqrt(squares / (count - 1) / count) / mean;
}

}  // namespace

bool enough(const std::vector<double>& samples_us, std::chrono::duration<double> spent,
            const RepeatRule& rule) {
  if (samples_us.size() >= rule.most || (spent >= rule.budget && !samples_us.empty())) {
    return true;
  }
  return samples_us.size() >= rule.least &&
         relative_standard_error(samples_us) < rule.relative_standard_error;
}

double round_trip_us(const std::vector<ClockedCall>& idle) {
  if (idle.empty()) return 0;
  std::vector<double> beside;
  for (const ClockedCall& call : idle) beside.push_back(call.wall_us - call.event_us);
  return median_of(std::move(beside));
}

bool contradicts(const std::vector<ClockedCall>& calls, double round_trip_us) {
  if (calls.empty()) return false;
  std::vector<double> beside;
  std::vector<double> walls;
  for (const ClockedCall& call : calls) {
    if (!(call.event_us > 0 && call.event_us <= call.wall_us)) return true;
    beside.push_back(call.wall_us - call.event_us);
    walls.push_back(call.wall_us);
  }
  const double tolerance = kToleranceUs + kToleranceFactor * median_of(std::move(walls));
  return median_of(std::move(beside)) > round_trip_us + tolerance;
}

double by_our_clock_us(const ClockedCall& call, double round_trip_us) {
  const double work_us = call.wall_us - round_trip_us;
  const bool possible = call.event_us > 0 && call.event_us <= call.wall_us;
  if (possible) return std::max(work_us, call.event_us);
  // Events that cannot be: nothing of the round trip is given to who makes them up.
  return call.wall_us;
}

bool takes_longer(double time_us, const std::vector<double>& samples_us) {
  constexpr double kFactor = 1.5;
  if (samples_us.empty()) return false;
  return time_us > *std::ranges::max_element(samples_us) &&
         time_us > kFactor * median_of(samples_us);
}

}  // namespace rooflab
