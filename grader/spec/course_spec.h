#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/spec/moment.h"
#include "grader/spec/part.h"

namespace rooflab {

/// When a part opens and is due, as far as the course says so.
struct PartDates {
  std::optional<Moment> opens = {};
  std::optional<Moment> due = {};

  /// A part without a date of its opening is open always.
  bool is_open(std::int64_t seconds) const { return !opens || opens->seconds <= seconds; }
};

/// What a course chooses for all of its parts: labs/course.toml.
struct CourseSpec {
  std::string title;
  /// Which state of the course this is, for students: "2026, week 5"; may be empty.
  std::string version;
  /// The parts of the course, ascending; nothing where all that there are belong to it.
  std::optional<std::vector<int>> parts = {};
  std::map<int, PartDates> calendar = {};  ///< of the parts that have dates
  /// How and where students hand in, in a sentence or two; may be empty.
  std::string hand_in;
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

/// The dates of a part; none where the calendar does not have it.
PartDates dates_of(const CourseSpec& course, int part);

/// "due 2027-02-15 23:59 +01:00", "opens 2027-02-01 08:00 +01:00, due …" before it opens; empty
/// without dates.
std::string dates_in_words(const PartDates& dates, std::int64_t now);

/// The folders of labs/ that are parts, whether the course lists them or not, by their numbers.
struct PartFolders {
  std::map<int, std::filesystem::path> parts;
  std::optional<SpecError> broken = {};  ///< of one whose number cannot be read, or is another's
};
PartFolders find_part_folders(const std::filesystem::path& labs);

/// CourseSpec::hint_cost of it.
double hint_cost_of(const std::filesystem::path& labs);

}  // namespace rooflab
