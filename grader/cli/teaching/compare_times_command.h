#pragma once

#include <ostream>

#include "grader/cli/author_options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Times every kernel of the course on a GPU and writes the times, or holds what the time model
/// says now against files of such times. Returns the exit code.
int compare_times_with_model(std::ostream& out, const CompareTimesOptions& options,
                             const Installation& installation);

}  // namespace rooflab
