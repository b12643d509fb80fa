#pragma once

#include <ostream>

#include "grader/cli/author_options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Writes the skeleton of a new part. Returns the exit code.
int make_part(std::ostream& out, const NewPartOptions& options, const Installation& installation);

}  // namespace rooflab
