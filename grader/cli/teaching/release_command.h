#pragma once

#include <ostream>

#include "grader/cli/author_options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Writes the student kit. Returns the exit code.
int make_kit(std::ostream& out, const ReleaseOptions& options, const Installation& installation);

}  // namespace rooflab
