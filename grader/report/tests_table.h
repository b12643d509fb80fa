#pragma once

#include <string>
#include <vector>

#include "grader/spec/result.h"

/// What people read of a student's tests. The names of cases are made safe here.
namespace rooflab {

/// The table in lines: of each case what it refuses, then what all of them catch together, then
/// the questions of those groups of which something passes.
/// @param width of a line
std::vector<std::string> tests_table_lines(const TestsTable& table, std::size_t width);

/// The same as a table.
std::string tests_table_html(const TestsTable& table);

}  // namespace rooflab
