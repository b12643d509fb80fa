#pragma once

#include <ostream>

#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// The next hint of a task: for the function or question that was named; else, once, for the
/// mistake of the last run; else for the function or question that failed first in the last run and
/// has hints of its own, else for the task as a whole. What was shown is kept in the submission's
/// folder of the part. Returns the exit code.
/// @throws UsageError
int show_hint(std::ostream& out, const Options& options, const Installation& installation);

}  // namespace rooflab
