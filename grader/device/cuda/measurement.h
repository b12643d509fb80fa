#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace rooflab {

/// When repeated measurements may stop.
struct RepeatRule {
  std::size_t least = 10;
  std::size_t most = 100;
  double relative_standard_error = 0.005;  ///< of the mean
  std::chrono::duration<double> budget{30};
};

/// Whether no further sample is needed, after `samples_us` took `spent`.
bool enough(const std::vector<double>& samples_us, std::chrono::duration<double> spent,
            const RepeatRule& rule);

/// One call, by the guest's events and by our own clock, from the request until its outputs are
/// ours.
struct ClockedCall {
  double event_us = 0;
  double wall_us = 0;
  /// What our clock shows of a call beside what its events do: the request and the reply, waking
  /// up, the GPU's change from our context to the guest's and back, and the copies of its outputs.
  double round_trip_us = 0;
};

/// What calls that do nothing take beside their events; their median, or 0 without any.
double beside_events_us(const std::vector<ClockedCall>& idle);

/// A round trip that was seen while a student's code was there, which can stretch it by keeping the
/// GPU or the processors busy: no more than twice the one before, and the tolerance.
double bounded_round_trip_us(double seen_us, double before_us);

/// Whether our clock contradicts the guest's events: a call took longer by it than the events and a
/// round trip explain, or the events are impossible. Of several calls the median tells, for a
/// single one may be disturbed; a guest gains a lie of the tolerance at most.
bool contradicts(const std::vector<ClockedCall>& calls);

/// What calls are taken to have lasted when our clock counts: without the shortest of their round
/// trips, and no less than the events say.
std::vector<double> by_our_clock_us(const std::vector<ClockedCall>& calls);

/// Whether a call took longer than all samples, and half as much again as their median, or more:
/// what a single disturbance rarely does, and what is computed anew instead of found always does.
bool takes_longer(double time_us, const std::vector<double>& samples_us);

}  // namespace rooflab
