#pragma once

#include <ostream>

#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Packs what a student hands in, and says what is in it. @return the exit code: 1 when there is
/// something that the course would not take, and nothing was written
/// @throws UsageError when it is not clear which part is meant
int hand_in(std::ostream& out, const HandInOptions& options, const Installation& installation);

}  // namespace rooflab
