#pragma once

#include <ostream>

namespace rooflab {

/// What `grader` alone says: where the student is, and what is next. Finds the installation by
/// itself, since there may be none. Returns the exit code.
int welcome(std::ostream& out);

}  // namespace rooflab
