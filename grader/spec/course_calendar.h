#pragma once

#include <filesystem>

#include "grader/spec/course_spec.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {

/// Reads `parts` and [calendar.part1] of course.toml, and holds them against the folders of `labs`.
/// @throws SpecError naming file, line and remedy
void read_parts_and_calendar(TableReader& reader, const std::filesystem::path& labs,
                             CourseSpec& course);

}  // namespace rooflab
