#pragma once

#include <string>

#include "grader/pipeline/installation.h"

namespace rooflab {

/// Has the build tree make a target that scripts/demo leaves out, when somebody first asks for it.
/// Says so, and shows on standard error what the build says.
/// @param what as in "building Part 3, once"
/// @throws InstallationError where there is nothing to build from (a student kit), or the build
/// fails
void build_now(const Installation& installation, const std::string& target,
               const std::string& what);

/// Builds a part whose oracles a checkout does not have yet.
void build_part_now(const Installation& installation, int part);

}  // namespace rooflab
