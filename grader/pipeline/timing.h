#pragma once

#include <string>
#include <vector>

#include "grader/device/device.h"
#include "grader/pipeline/roofline.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"

namespace rooflab {

/// The timing of a timed run against its roofline.
Timing timing_of(const RunOutcome& outcome, const SpeedSpec& speed, const Work& work,
                 const Roofline& roofline);

/// What the median of measured samples lies between with 95 % confidence, whatever their
/// distribution: two of the samples, by their order. Fewer than six cannot tell: then it is their
/// range, as much again on either side, and a tenth of the time where there is one.
struct Interval {
  double low = 0;
  double high = 0;
};
Interval interval_of_median(std::vector<double> samples);

/// The points of a timed case that its noise decides: what the ends of its time's interval differ
/// by. 0 for a modelled time.
double points_in_doubt(const Timing& timing, const SpeedSpec& speed);

/// Whether these are too many to give any: more than a twentieth of those that the case has.
bool is_too_noisy(const Timing& timing, const SpeedSpec& speed);

/// What a person should know of a time whose samples something disturbed before the call, so often
/// that they had to count: a kernel that the student's code left running does that, and so do other
/// users of the GPU. Empty when there is nothing.
std::string note_of_disturbed(const Timing& timing);

/// True when no GPU of this kind can have done the work in that time. Measured times get 5 % of
/// grace, since a clock may run above the data sheet's.
bool is_below_floor(const Timing& timing, bool measured);

/// The launch that took most of the time, all launches of its kernel together; nullptr when nothing
/// was launched.
const simgpu::KernelRecord* slowest_kernel(const simgpu::Activity& activity);

}  // namespace rooflab
