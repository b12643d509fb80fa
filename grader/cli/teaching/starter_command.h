#pragma once

#include <ostream>

#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

int make_starter(std::ostream& out, const Options& options, const Installation& installation);

}  // namespace rooflab
