#pragma once

#include <string>

#include "simgpu/report.h"

/// What a predicted time means and what would have to change for it to be shorter. One text for
/// `simgpu run`, its report and the grader.
namespace simgpu {

/// Why a kernel takes as long as it does. Times in microseconds.
struct Explanation {
  std::string limiter;       ///< in words: "shared memory"
  std::string meaning;       ///< a sentence: what the limiter is, and its share of the time
  std::string change;        ///< what usually helps against it
  std::string next_limiter;  ///< key of the term that would limit if this one were gone; or empty
  double most_gain = 1;      ///< how many times faster the kernel could get then, at most
  double exposed_us = 0;     ///< beyond the largest term and the launch: latency that nothing hid
  double waves = 0;          ///< blocks over those that the whole GPU holds at a time
};

/// @param sm_count multiprocessors of the GPU
Explanation explain(const KernelRecord& kernel, int sm_count);

/// "limited by shared memory (812 of 1020 us): …; without it fp32 arithmetic would limit, up
/// to 2.3x faster (modelled)". Empty when the device told no terms.
std::string advice_for(const TimeBreakdown& time);

/// All of it for a terminal: time, limiter, each term, waves, launch. Several lines.
std::string explain_in_words(const KernelRecord& kernel, int sm_count);

}  // namespace simgpu
