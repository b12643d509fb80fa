#pragma once

#include <functional>

#include "grader/cli/options.h"

namespace rooflab {

/// A program of the grader's command line: has `run` do what it asks for, and says what `run`
/// throws.
/// @return the exit status
int run_program(int argc, char** argv, const std::function<int(Options)>& run);

}  // namespace rooflab
