#pragma once

#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Grades once, or with --watch again after each save; writes the reports that were asked for.
/// @return 0 when every task passed, 1 when some did not, 3 after a fault of the grader
int run_grade(const Options& options, const Installation& installation);

}  // namespace rooflab
