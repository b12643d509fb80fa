#pragma once

#include <ostream>

#include "grader/cli/author_options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Proves that the course holds what it promises, and shows a matrix. Returns the exit code.
int verify_course(std::ostream& out, const VerifyOptions& options,
                  const Installation& installation);

}  // namespace rooflab
