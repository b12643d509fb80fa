#pragma once

#include <string>
#include <vector>

#include "grader/spec/result.h"

/// What people read of a work log. All of a student's words are made safe here.
namespace rooflab {

/// "gemm_registers in 4 versions: 664 us -> 176 us, 3.8x faster"
std::string work_log_words(const WorkLog& log);

/// The whole log as lines: of each version the time and what limits it, then what was expected,
/// what the counter did and what the student says came of it.
/// @param width of a line
std::vector<std::string> work_log_lines(const WorkLog& log, std::size_t width);

/// The same as one text, for the people who give points for it.
std::string work_log_text(const WorkLog& log);

/// The same as a table.
std::string work_log_html(const WorkLog& log);

}  // namespace rooflab
