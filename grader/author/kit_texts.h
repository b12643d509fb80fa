#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/spec/course_spec.h"
#include "grader/spec/part.h"

/// Texts of a student kit that depend on which parts are in it.
namespace rooflab {

/// labs/course.toml of a kit: that of the course with the kit's parts and their dates alone.
/// @throws SpecError when the file cannot be read
std::string kit_course_toml(const std::filesystem::path& file, const std::vector<int>& parts);

/// The text with its marks filled in: @first_part@, @first_task@, @first_folder@ and @first_page@
/// for where to begin; @example_part@, @example_folder@ and @example_task@ for a kernel to show
/// commands with; @table_of_parts@, with dates where the course has some; @hand_in@, its
/// instructions.
/// @param parts of the kit, ascending, at least one
std::string fill_kit_text(std::string text, const CourseSpec& course,
                          const std::vector<PartSpec>& parts);

}  // namespace rooflab
