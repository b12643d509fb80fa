#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "grader/spec/course_spec.h"
#include "grader/spec/part.h"
#include "grader/spec/toml_reader.h"

/// Which parts a course has, and where.
namespace rooflab {
namespace {

std::vector<std::filesystem::path> part_folders(const std::filesystem::path& labs) {
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(labs, error)) {
    if (std::filesystem::exists(entry.path() / "part.toml", error)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

int number_of(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "part.toml";
  const toml::table table = parse_toml(file);
  TableReader reader(table, file, "part");
  const std::int64_t number = reader.integer("number");
  return static_cast<int>(std::clamp<std::int64_t>(number, std::numeric_limits<int>::min(),
                                                   std::numeric_limits<int>::max()));
}

[[noreturn]] void refuse_unknown_part(const std::filesystem::path& labs, int number,
                                      const std::vector<int>& known, bool left_out) {
  if (known.empty()) {
    throw SpecError(fmt::format(
        "{}: no part is found there; restore the folder labs/ of the checkout", labs.string()));
  }
  throw UnknownPart(fmt::format("there is no part {}{}; the parts are {}", number,
                                left_out ? " in this course (`parts` of labs/course.toml)" : "",
                                fmt::join(known, ", ")));
}

/// The parts of the course among those that there are.
std::vector<int> numbers_of(const CourseSpec& course, const PartFolders& found) {
  if (course.parts) return *course.parts;
  std::vector<int> numbers;
  for (const auto& [number, folder] : found.parts) numbers.push_back(number);
  return numbers;
}

/// With a list in course.toml no folder matters that it leaves out, which a broken one may be.
std::vector<int> numbers_or_error(const CourseSpec& course, const PartFolders& found) {
  if (!course.parts && found.broken) throw SpecError(*found.broken);
  return numbers_of(course, found);
}

/// A part whose questions draw nothing but the page's own numbers, where the course wants that.
PartSpec read_part_of_course(const CourseSpec& course, const std::filesystem::path& folder,
                             const std::filesystem::path& solutions) {
  PartSpec part = read_part_folder(folder, solutions);
  if (course.own_numbers) return part;
  for (TaskSpec& task : part.tasks) {
    for (QuestionSpec& question : task.questions) {
      for (Draw& draw : question.draws) draw.values = {draw.page};
    }
  }
  return part;
}

}  // namespace

PartFolders find_part_folders(const std::filesystem::path& labs) {
  PartFolders found;
  for (const auto& folder : part_folders(labs)) {
    try {
      const int number = number_of(folder);
      if (!found.parts.try_emplace(number, folder).second) {
        throw SpecError(fmt::format("{}: part {} is also in {}; give one another number",
                                    (folder / "part.toml").string(), number,
                                    found.parts[number].string()));
      }
    } catch (const SpecError& error) {
      found.broken = error;
    }
  }
  return found;
}

std::vector<PartSpec> load_parts(const std::filesystem::path& labs,
                                 const std::filesystem::path& solutions) {
  const CourseSpec course = course_spec_or_none(labs);
  const PartFolders found = find_part_folders(labs);
  std::vector<PartSpec> parts;
  for (const int number : numbers_or_error(course, found)) {
    parts.push_back(read_part_of_course(course, found.parts.at(number), solutions));
  }
  return parts;
}

PartSpec load_part(const std::filesystem::path& labs, const std::filesystem::path& solutions,
                   int number) {
  const CourseSpec course = course_spec_or_none(labs);
  const PartFolders found = find_part_folders(labs);
  const std::vector<int> known = numbers_of(course, found);
  const auto folder = found.parts.find(number);
  if (std::ranges::find(known, number) == known.end()) {
    // A broken neighbour must not keep this part from being graded, but it may be the one that is
    // asked for.
    if (!course.parts && found.broken) throw SpecError(*found.broken);
    refuse_unknown_part(labs, number, known, folder != found.parts.end());
  }
  return read_part_of_course(course, folder->second, solutions);
}

std::vector<int> list_parts(const std::filesystem::path& labs) {
  return numbers_or_error(course_spec_or_none(labs), find_part_folders(labs));
}

}  // namespace rooflab
