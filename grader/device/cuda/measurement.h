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

/// The time of a call that the guest says took `event_us` by its events, and that took `wall_us` by
/// our own clock, of which a call that does nothing takes `idle_us`. The guest is believed as long
/// as our clock does not contradict it by more than the jitter of a round trip; else our clock
/// counts.
double believed_us(double event_us, double wall_us, double idle_us);

/// Whether a call took longer than all samples, and half as much again as their median, or more:
/// what a single disturbance rarely does, and what is computed anew instead of found always does.
bool takes_longer(double time_us, const std::vector<double>& samples_us);

}  // namespace rooflab
