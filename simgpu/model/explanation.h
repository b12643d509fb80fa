#pragma once

#include <optional>
#include <string>

#include "simgpu/model/proof.h"
#include "simgpu/report.h"

/// What a predicted time means and what would have to change for it to be shorter. One text for
/// `simgpu run`, its report and the grader.
namespace simgpu {

/// Why a kernel takes as long as it does. Times in microseconds.
struct Explanation {
  std::string limiter;  ///< in words: "shared memory"
  std::string meaning;  ///< a sentence: what the limiter is, and its share of the time
  std::string change;   ///< what usually helps against it
  std::optional<Limiter> next_limiter;  ///< the term that would limit if this one were gone
  Proof proof;                          ///< the counter that proves it
  double most_gain = 1;   ///< how many times faster the kernel could get then, at most
  double exposed_us = 0;  ///< beyond the largest term and the launch: latency that nothing hid
  double waves = 0;       ///< blocks over those that the whole GPU holds at a time
};

/// @param sm_count multiprocessors of the GPU
Explanation explain(const KernelRecord& kernel, int sm_count);

/// The term of what limits a kernel, in microseconds; for the launch the launch itself.
double limiter_us(const TimeBreakdown& time);

/// The kernel's time if its limiter's term fell to `least_us` and all else stayed: the largest of
/// what is left bounds it then. Never more than the time itself.
double time_without_limiter(const TimeBreakdown& time, double least_us);

/// All of it for a terminal: time, limiter, each term, waves, launch. Several lines.
std::string explain_in_words(const KernelRecord& kernel, int sm_count);

}  // namespace simgpu
