#pragma once

#include "grader/cli/options.h"

namespace rooflab {

/// A slip such as `--html gemv.cu` must not cost a file that somebody wrote: an output replaces
/// only what is empty or such an output itself.
/// @throws UsageError before anything is graded
void refuse_foreign_outputs(const Options& options);

}  // namespace rooflab
