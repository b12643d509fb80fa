#include "grader/pipeline/timing.h"

#include <algorithm>
#include <limits>

#include "grader/pipeline/counts.h"
#include "grader/pipeline/score.h"

namespace rooflab {
namespace {

double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t half = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

/// Half the distance between the quartiles: half of the samples lie within the median plus or minus
/// this.
double half_quartile_range(std::vector<double> samples) {
  std::ranges::sort(samples);
  return (samples[samples.size() * 3 / 4] - samples[samples.size() / 4]) / 2;
}

}  // namespace

Timing timing_of(const RunOutcome& outcome, const SpeedSpec& speed, const Work& work,
                 const Roofline& roofline) {
  Timing timing;
  timing.time_us =
      outcome.samples_us.empty() ? outcome.activity.elapsed_us : median(outcome.samples_us);
  timing.spread_us = outcome.samples_us.size() > 1 ? half_quartile_range(outcome.samples_us) : 0;
  timing.roofline_us = roofline.time_us;
  timing.floor_us = roofline.floor_us;
  timing.efficiency = timing.time_us > 0 ? roofline.time_us / timing.time_us : 0;
  if (speed.points > 0) {
    timing.zero_efficiency = speed.zero_efficiency;
    timing.target_efficiency = speed.full_efficiency;
    timing.points = speed_points(speed, timing.efficiency);
    timing.max_points = speed.points;
  }
  timing.bound = roofline.bound;
  timing.flops = total_flops(work);
  timing.bytes = work.compulsory_bytes;
  timing.peak = speed.peak;
  timing.name = speed.name;
  timing.sampled = outcome.sampled;
  add_counts(outcome, speed, timing);
  if (const auto* kernel = slowest_kernel(outcome.activity)) {
    timing.limiter = kernel->time.limiter;
    timing.terms = kernel->time.terms;
  }
  return timing;
}

bool is_below_floor(const Timing& timing, bool measured) {
  const double grace = measured ? 0.95 : 1 - 1e-6;
  return !(timing.time_us >= timing.floor_us * grace);
}

const simgpu::KernelRecord* slowest_kernel(const simgpu::Activity& activity) {
  std::map<std::string, double> total_us;
  for (const auto& kernel : activity.kernels) total_us[kernel.name] += kernel.time.total_us;
  const simgpu::KernelRecord* slowest = nullptr;
  for (const auto& kernel : activity.kernels) {
    if (slowest == nullptr || total_us[kernel.name] > total_us[slowest->name]) slowest = &kernel;
  }
  return slowest;
}

}  // namespace rooflab
