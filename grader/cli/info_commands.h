#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"

/// Commands that grade nothing. Each returns the exit code.
namespace rooflab {

/// The part that has this task, for a command line that names no part.
/// @throws UsageError when none has it, or several
int part_of_task(const Installation& installation, const std::string& task);

int list_all_parts(std::ostream& out, const Installation& installation);
int show_tasks(std::ostream& out, const Options& options, const Installation& installation);
/// The codes that have a page, sorted.
std::vector<std::string> known_codes(const Installation& installation);
int explain_code(std::ostream& out, const Options& options, const Installation& installation);
/// Writes the handouts of the course's parts into a folder, without what leads to other parts.
int write_pages(std::ostream& out, const std::string& folder, const Installation& installation);

}  // namespace rooflab
