#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "grader/device/cuda/measurement.h"
#include "grader/device/device.h"

namespace rooflab {

/// One timed call that was not throttled, and what is known of the moment.
struct TakenSample {
  ClockedCall clocked;
  double sm_mhz = 0;  ///< 0: not watched
  std::chrono::steady_clock::time_point at{};
  bool busy_before = false;
  bool not_still = false;
  bool beside_others = false;  ///< another process computed

  bool is_disturbed() const { return busy_before || not_still || beside_others; }
};

/// The samples of one case. Those at a clearly lower clock than the others do not count. Those that
/// something disturbed are taken again, up to a number: where it goes on, it is the machine as it
/// is, and they count after all, and are told.
class SampleSet {
 public:
  explicit SampleSet(const RepeatRule& rule) : rule_(rule) {}

  bool empty() const { return taken_.empty(); }
  void add(const TakenSample& sample) { taken_.push_back(sample); }
  /// Marks what was taken within the last second: NVML is late by as much.
  void mark_beside_others(std::chrono::steady_clock::time_point now);

  /// Whether no further sample is needed, after all of it took `spent`.
  bool enough(std::chrono::duration<double> spent) const;
  /// Those that count.
  std::vector<TakenSample> counted() const;
  /// Fills in how many were slow, and disturbed by what.
  void tell(SamplingRecord& record) const;

 private:
  std::vector<TakenSample> at_common_clock() const;

  RepeatRule rule_;
  std::vector<TakenSample> taken_;
};

/// Whether clocks agree: within 3 %, or not watched. Of no clock at all nothing is known yet.
bool clocks_agree(const std::vector<double>& clocks_mhz);

/// Whether the GPU had to do something else before it did our own work, which takes `idle_us` where
/// nobody else uses it.
bool was_busy(double took_us, double idle_us);

}  // namespace rooflab
