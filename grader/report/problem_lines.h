#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "simgpu/sarif/sarif.h"

namespace rooflab {

/// What the lines of a grading stand between, for problem matchers of --watch: each is a line of
/// its own, which no line of problem_lines() can be.
inline constexpr const char* kProblemsBegin = "rooflab: grading begins";
inline constexpr const char* kProblemsEnd = "rooflab: grading ends";

/// Results as compilers write them, for problem matchers of editors:
/// `file:line:column: error: message [RL0301]`, one a line; the further places of a result follow
/// it as notes of the same code. What has no line stands in the file's first, and what has no place
/// is left out.
/// @param folder that relative files are of, as the lines shall name it: "starter"
std::string problem_lines(const std::vector<simgpu::sarif::Result>& results,
                          const std::filesystem::path& folder);

}  // namespace rooflab
