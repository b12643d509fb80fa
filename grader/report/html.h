#pragma once

#include <string>

#include "grader/spec/result.h"
#include "specs/gpu_spec.h"

namespace rooflab {

/// The report as one self-contained HTML file (no scripts, no external files): scores, stories,
/// roofline, latency chart, what limits each kernel. Everything from the submission is escaped.
std::string to_html(const GradeResult& result, const gpu_spec::GpuSpec& gpu);

}  // namespace rooflab
