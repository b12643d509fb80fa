#pragma once

#include <string>

#include "grader/spec/result.h"
#include "specs/gpu_spec.h"

namespace rooflab {

/// The section with the roofline of the GPU: every timing of every task, and its target;
/// empty when nothing was timed.
std::string roofline_section(const GradeResult& result, const gpu_spec::GpuSpec& gpu,
                             int heading_level);

/// The section with a bar for every timing; empty when nothing was timed.
std::string latency_section(const GradeResult& result, int heading_level);

}  // namespace rooflab
