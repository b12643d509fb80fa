#pragma once

#include <string>

#include "grader/batch/outputs/class_results.h"
#include "grader/batch/outputs/write_outputs.h"
#include "specs/gpu_spec.h"

namespace rooflab {

/// The class for its instructor: what was handed in, how the points are spread, what went wrong
/// most often, everybody on the roofline, and what somebody should look at. It names everybody: it
/// is not for students.
std::string class_page(const ClassResults& results, const gpu_spec::GpuSpec& gpu,
                       const OutputOptions& options);

}  // namespace rooflab
