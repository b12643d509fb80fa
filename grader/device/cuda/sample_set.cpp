#include "grader/device/cuda/sample_set.h"

#include <algorithm>
#include <utility>

#include "grader/spec/median.h"

namespace rooflab {
namespace {

/// Of the median clock of all samples; the power cap alone moves clocks by a few steps of 15 MHz.
constexpr double kSlowClock = 0.95;
/// So many are taken again at most.
constexpr std::ptrdiff_t kMostDisturbed = 30;

std::vector<double> times_us(const std::vector<TakenSample>& samples) {
  std::vector<double> times;
  for (const TakenSample& sample : samples) times.push_back(sample.clocked.event_us);
  return times;
}

std::vector<TakenSample> undisturbed(const std::vector<TakenSample>& samples) {
  std::vector<TakenSample> calm;
  std::ranges::remove_copy_if(samples, std::back_inserter(calm), &TakenSample::is_disturbed);
  return calm;
}

}  // namespace

void SampleSet::mark_beside_others(std::chrono::steady_clock::time_point now) {
  for (TakenSample& sample : taken_) {
    if (now - sample.at <= std::chrono::seconds(1)) sample.beside_others = true;
  }
}

std::vector<TakenSample> SampleSet::at_common_clock() const {
  std::vector<double> clocks;
  for (const TakenSample& sample : taken_) {
    if (sample.sm_mhz > 0) clocks.push_back(sample.sm_mhz);
  }
  if (clocks.empty()) return taken_;
  const double slow_mhz = kSlowClock * median_of(std::move(clocks));
  std::vector<TakenSample> samples;
  for (const TakenSample& sample : taken_) {
    if (!(sample.sm_mhz > 0 && sample.sm_mhz < slow_mhz)) samples.push_back(sample);
  }
  return samples;
}

bool SampleSet::enough(std::chrono::duration<double> spent) const {
  const std::vector<TakenSample> samples = at_common_clock();
  const std::vector<TakenSample> calm = undisturbed(samples);
  if (rooflab::enough(times_us(calm), spent, rule_)) return true;
  const bool is_patient =
      std::ranges::count_if(taken_, &TakenSample::is_disturbed) < kMostDisturbed;
  if (is_patient && spent < rule_.budget) return false;
  return rooflab::enough(times_us(samples), spent, rule_);
}

std::vector<TakenSample> SampleSet::counted() const {
  std::vector<TakenSample> samples = at_common_clock();
  std::vector<TakenSample> calm = undisturbed(samples);
  return calm.size() >= rule_.least ? calm : samples;
}

void SampleSet::tell(SamplingRecord& record) const {
  const auto number = [this](bool TakenSample::*what) {
    return static_cast<int>(std::ranges::count_if(taken_, what));
  };
  record.slow_clock = static_cast<int>(taken_.size() - at_common_clock().size());
  record.busy_before = number(&TakenSample::busy_before);
  record.not_still = number(&TakenSample::not_still);
  record.beside_others = number(&TakenSample::beside_others);
  record.disturbed = static_cast<int>(std::ranges::count_if(counted(), &TakenSample::is_disturbed));
}

bool clocks_agree(const std::vector<double>& clocks_mhz) {
  constexpr double kApart = 0.03;
  if (clocks_mhz.empty()) return false;
  const auto [low, high] = std::ranges::minmax(clocks_mhz);
  return low >= (1 - kApart) * high;
}

bool was_busy(double took_us, double idle_us) {
  // As bounded_round_trip_us allows: twice as long, and what a machine that is busy besides takes.
  constexpr double kToleranceUs = 100;
  return idle_us > 0 && took_us > 2 * idle_us + kToleranceUs;
}

}  // namespace rooflab
