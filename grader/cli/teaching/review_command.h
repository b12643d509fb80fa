#pragma once

#include <ostream>

#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Serves the pages to review a graded class by, until it is interrupted. @return 0
/// @throws UsageError where there is no graded class, or the port cannot be had
int review_class(std::ostream& out, const ReviewOptions& options, const Installation& installation);

}  // namespace rooflab
