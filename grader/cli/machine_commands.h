#pragma once

#include <ostream>

#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"

/// Commands about machines and GPUs. Each returns the exit code.
namespace rooflab {

/// What grading needs, whether it is there, and what to do where not; 3 when something needed is
/// missing.
int examine_machine(std::ostream& out, const Installation& installation);
/// Peaks and ridge points of all GPUs, or of one with the rooflines of every timed task.
int show_rooflines(std::ostream& out, const Options& options, const Installation& installation);

}  // namespace rooflab
