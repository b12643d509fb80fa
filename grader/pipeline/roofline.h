#pragma once

#include <string>

#include "grader/contract/problem.h"
#include "specs/gpu_spec.h"

namespace rooflab {

/// The least time that a GPU needs for some work, and what bounds it. docs/design/targets.md
/// derives it.
struct Roofline {
  double compute_us = 0;  ///< the slowest type's FLOPs at that type's peak
  double memory_us = 0;   ///< compulsory bytes at DRAM bandwidth
  double launch_us = 0;   ///< one launch
  double time_us = 0;     ///< max(compute, memory) + launch: what efficiency is measured against
  double floor_us = 0;    ///< below this a time cannot be real, whatever the caches hold
  /// The same for any arithmetic: all FLOPs at the fastest peak of any type. Between the two a
  /// time is that of another type than the case's, or of an algorithm with fewer operations.
  double lowest_floor_us = 0;
  std::string bound;  ///< "compute", "memory" or "launch": the largest of the three
};

/// A case's work asks for a peak that the GPU does not have: a fault of the part or the GPU's
/// specification.
class RooflineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @param gpu by its data sheet
/// @param peaks the same with the peaks that the roofline goes by: `gpu` itself, or calibrated
/// ones.
///     The floor takes the faster of both.
/// @throws RooflineError
Roofline roofline_of(const Work& work, const gpu_spec::GpuSpec& gpu,
                     const gpu_spec::GpuSpec& peaks);
/// By the data sheet alone.
inline Roofline roofline_of(const Work& work, const gpu_spec::GpuSpec& gpu) {
  return roofline_of(work, gpu, gpu);
}

/// Sum of the FLOPs of all types.
double total_flops(const Work& work);

}  // namespace rooflab
