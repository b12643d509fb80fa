#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/spec/part.h"

namespace rooflab {

/// What a course chooses for all of its parts: labs/course.toml.
struct CourseSpec {
  std::string title;
  /// Which state of the course this is, for students: "2026, week 5"; may be empty.
  std::string version;
  /// The GPUs that students may be graded on: names of files in specs/gpus/.
  std::vector<std::string> gpus;
  /// Graded on where a command names none: "auto", "cuda", "cuda:0", "sim" or "sim:a100".
  std::string device = "auto";
  double hint_cost = 0;  ///< share of a task's points for each hint shown, from 0 to 1
  /// Whether questions that draw numbers ask each student for other ones; else all have the page's.
  bool own_numbers = true;
  /// Of each work log, how many versions a class's grading builds and times again from what the log
  /// kept: the last ones.
  int versions_graded_again = 0;
};

/// Reads labs/course.toml. @throws SpecError naming file, line and remedy.
CourseSpec load_course_spec(const std::filesystem::path& labs);

/// The course, or one that chooses nothing where there is no labs/course.toml.
/// @throws SpecError when there is one that cannot be used
CourseSpec course_spec_or_none(const std::filesystem::path& labs);

/// CourseSpec::hint_cost of it.
double hint_cost_of(const std::filesystem::path& labs);

}  // namespace rooflab
