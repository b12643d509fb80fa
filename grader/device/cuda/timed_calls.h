#pragma once

#include <optional>
#include <random>

#include "grader/device/cuda/clock_watch.h"
#include "grader/device/cuda/gpu_users.h"
#include "grader/device/cuda/measurement.h"
#include "grader/device/cuda/placement.h"
#include "grader/device/cuda/sample.h"
#include "grader/device/cuda/sample_set.h"
#include "grader/device/device.h"
#include "grader/device/guest_process.h"

namespace rooflab {

/// Whether a call came back as it should, without an error of CUDA.
bool came_back(const std::optional<Reply>& reply);

/// The repeated calls of a timed run, in one guest: warm-up, samples until they are steady, and
/// then the same call with inputs that the guest has not seen. docs/design/measuring.md says why
/// each is done as it is.
class TimedCalls {
 public:
  /// @param bystander a guest without a student's code: its calls tell what a round trip takes
  TimedCalls(GuestProcess& guest, GuestProcess& bystander, const Placement& placement,
             const RunRequest& request, const ClockWatch& watch);

  /// Fills in samples, outputs, drawn outputs and fresh calls; what was filled in counts only if
  /// the call came back.
  /// @return the last reply; it is not that of a call that came back when one did not.
  /// @throws DeviceError when the GPU was throttled all the time.
  std::optional<Reply> run(RunOutcome& outcome);

 private:
  using Clock = std::chrono::steady_clock;
  struct Timed {
    std::optional<Reply> reply;
    ClockedCall clocked;
    Sample sample;
    double prepared_us = 0;  ///< what Placement::prepare returned
    bool was_still = true;   ///< the guest, until its call
  };
  struct Idle {
    ClockedCall clocked;
    double prepared_us = 0;
  };

  Idle make_idle();
  void measure_round_trip();
  Timed make(const Problem& contents, RunOutcome& outcome);
  TakenSample taken(const Timed& timed) const;
  void tell(const SampleSet& samples, RunOutcome& outcome);
  std::optional<Reply> warm_up(RunOutcome& outcome);
  std::optional<Reply> sample(RunOutcome& outcome);
  std::optional<Reply> with_fresh_inputs(RunOutcome& outcome);

  GuestProcess& guest_;
  GuestProcess& bystander_;
  const Placement& placement_;
  const RunRequest& request_;
  const ClockWatch& watch_;
  Call call_;
  Clock::time_point begin_;
  std::chrono::duration<double> budget_;  ///< for the samples
  double round_trip_us_ = 0;              ///< before the student's library was loaded
  double idle_us_ = 0;                    ///< to prepare a call, likewise
  GpuUsers users_;
  std::mt19937_64 random_;
  std::optional<Problem> first_fresh_;
};

}  // namespace rooflab
