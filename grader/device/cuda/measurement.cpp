#include "grader/device/cuda/measurement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grader/spec/median.h"

namespace rooflab {
namespace {

// Recording and waiting for events, waking the guest: what a call costs beside its work and an idle
// round trip, taken generously.
constexpr double kJitterUs = 100;
constexpr double kJitterFactor = 0.1;

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

double believed_us(double event_us, double wall_us, double idle_us) {
  const double at_least = wall_us - 2 * idle_us - kJitterUs - kJitterFactor * wall_us;
  const bool plausible = event_us > 0 && event_us <= wall_us && event_us >= at_least;
  return plausible ? event_us : wall_us;
}

bool takes_longer(double time_us, const std::vector<double>& samples_us) {
  constexpr double kFactor = 1.5;
  if (samples_us.empty()) return false;
  return time_us > *std::ranges::max_element(samples_us) &&
         time_us > kFactor * median_of(samples_us);
}

}  // namespace rooflab
