#pragma once

#include <ostream>

#include "grader/pipeline/installation.h"

namespace rooflab {

/// What `grader` alone says: where the student is, and what is next. Returns the exit code.
int welcome(std::ostream& out, const Installation& installation);

}  // namespace rooflab
