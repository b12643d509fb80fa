#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "grader/cli/next_step.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Every part of the course with the last runs of a submission.
std::vector<PartProgress> course_progress(const Installation& installation,
                                          const std::filesystem::path& submission);

/// The next step with its place, and the commands for it; nothing: that all is done.
/// @param flag names the submission in these commands
void print_next_step(std::ostream& out, const std::optional<NextStep>& step,
                     const std::filesystem::path& submission, const std::string& flag = {});

/// Indented lines of at most 96 characters, the first one after `first`.
void print_wrapped(std::ostream& out, const std::string& first, const std::string& text);

}  // namespace rooflab
