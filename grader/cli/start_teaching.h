#pragma once

#include "grader/pipeline/installation.h"

namespace rooflab {

/// Becomes the program that has the commands for those who teach, with the same command line
/// (teaching/README.md). A checkout where it is not built yet builds it.
/// @throws InstallationError where it cannot be had, as in a student kit
[[noreturn]] void start_teaching(const Installation& installation, char** argv);

}  // namespace rooflab
