#pragma once

#include <ostream>

#include "grader/cli/author_options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Shows what every timed case asks for on each GPU that its part's targets.toml has, and what that
/// lacks of the course's GPUs; with --measure it measures first what is missing of those of
/// specs/gpus. Returns the exit code.
int course_targets(std::ostream& out, const TargetsOptions& options,
                   const Installation& installation);

}  // namespace rooflab
