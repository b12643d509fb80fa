#pragma once

#include <ostream>

#include "grader/cli/author_options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Measures the peaks of a GPU and writes them as a specification. Returns the exit code.
int calibrate_gpu(std::ostream& out, const CalibrateOptions& options,
                  const Installation& installation);

}  // namespace rooflab
