#include "grader/pipeline/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/pipeline/counts.h"
#include "grader/pipeline/score.h"
#include "grader/spec/median.h"
#include "simgpu/time_band.h"

namespace rooflab {
namespace {

/// Half the distance between the quartiles: half of the samples lie within the median plus or minus
/// this.
double half_quartile_range(std::vector<double> samples) {
  std::ranges::sort(samples);
  return (samples[samples.size() * 3 / 4] - samples[samples.size() / 4]) / 2;
}

Measured measured_by(const RunOutcome& outcome) {
  const Interval interval = interval_of_median(outcome.samples_us);
  const SamplingRecord& sampling = *outcome.sampling;
  return {.samples = static_cast<int>(outcome.samples_us.size()),
          .low_us = interval.low,
          .high_us = interval.high,
          .dropped = sampling.dropped,
          .contradicted = sampling.contradicted,
          .clocks_watched = sampling.clocks_watched,
          .clock_mhz = sampling.sm_mhz,
          .slow_clock = sampling.slow_clock,
          .busy_before = sampling.busy_before,
          .not_still = sampling.not_still,
          .beside_others = sampling.beside_others,
          .disturbed = sampling.disturbed,
          .users_known = sampling.users_known,
          .other_users = sampling.other_users};
}

}  // namespace

Interval interval_of_median(std::vector<double> samples) {
  constexpr std::size_t kFewest = 6;  // 2 / 2^6 < 0.05: all of fewer may lie on one side
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  const std::size_t count = samples.size();
  if (count < kFewest) {
    const double range = samples.back() - samples.front();
    const double beyond = count == 1 ? samples.front() / 10 : range;
    return {std::max(samples.front() - beyond, 0.0), samples.back() + beyond};
  }
  // How many samples lie below the median is binomial: the chance of `left` or fewer may be 2.5 %.
  constexpr double kTail = 0.025;
  double chance = std::pow(0.5, static_cast<double>(count));
  double sum = chance;
  std::size_t left = 0;
  while (sum <= kTail) {
    chance *= static_cast<double>(count - left) / static_cast<double>(left + 1);
    ++left;
    sum += chance;
  }
  return {samples[left - 1], samples[count - left]};
}

double points_in_doubt(const Timing& timing, const SpeedSpec& speed) {
  if (!timing.measured || !(timing.measured->low_us > 0)) {
    return timing.measured ? maximum_points(speed) : 0;
  }
  const auto share = [&](double time_us) {
    return speed_share(speed, timing.roofline_us / time_us);
  };
  return maximum_points(speed) * (share(timing.measured->low_us) - share(timing.measured->high_us));
}

bool is_too_noisy(const Timing& timing, const SpeedSpec& speed) {
  constexpr double kMostDoubtful = 0.05;
  return points_in_doubt(timing, speed) > kMostDoubtful * maximum_points(speed);
}

std::string note_of_disturbed(const Timing& timing) {
  if (!timing.measured || timing.measured->disturbed == 0) return {};
  const Measured& by = *timing.measured;
  std::string note =
      fmt::format("{} of {} samples were disturbed, and nothing better was to be had", by.disturbed,
                  by.samples);
  if (by.busy_before > 0) {
    note += fmt::format(
        "; before {} calls the GPU was busy while the code was stopped: a kernel that it left "
        "running, or another process",
        by.busy_before);
  }
  if (by.not_still > 0) {
    note += fmt::format("; before {} calls the code ran although it was stopped", by.not_still);
  }
  if (by.beside_others > 0) {
    note += fmt::format("; beside {} another process computed", by.beside_others);
  }
  if (!by.other_users.empty()) note += "; others on this GPU: " + in_words(by.other_users);
  return note;
}

Timing timing_of(const RunOutcome& outcome, const SpeedSpec& speed, const Work& work,
                 const Roofline& roofline) {
  Timing timing;
  timing.time_us =
      outcome.samples_us.empty() ? outcome.activity.elapsed_us : median_of(outcome.samples_us);
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
  if (outcome.sampling && !outcome.samples_us.empty()) timing.measured = measured_by(outcome);
  if (!outcome.sampling) timing.modelled = simgpu::band_of_call(outcome.activity);
  add_counts(outcome, speed, timing);
  if (const auto* kernel = slowest_kernel(outcome.activity)) {
    if (kernel->time.limiter) timing.limiter = simgpu::name_of(*kernel->time.limiter);
    timing.terms = simgpu::by_name(kernel->time.terms);
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
