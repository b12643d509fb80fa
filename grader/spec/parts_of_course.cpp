#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

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

[[noreturn]] void refuse_twin(const std::filesystem::path& labs, int number) {
  throw SpecError(
      fmt::format("{}: two folders hold part {}; give one another number", labs.string(), number));
}

[[noreturn]] void refuse_unknown_part(const std::filesystem::path& labs, int number,
                                      const std::map<int, std::filesystem::path>& parts) {
  std::string known;
  for (const auto& [existing, folder] : parts) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", existing);
  }
  if (known.empty()) {
    throw SpecError(fmt::format(
        "{}: no part is found there; restore the folder labs/ of the checkout", labs.string()));
  }
  throw UnknownPart(fmt::format("there is no part {}; the parts are {}", number, known));
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

std::vector<PartSpec> load_parts(const std::filesystem::path& labs,
                                 const std::filesystem::path& solutions) {
  const CourseSpec course = course_spec_or_none(labs);
  std::vector<PartSpec> parts;
  for (const auto& folder : part_folders(labs))
    parts.push_back(read_part_of_course(course, folder, solutions));
  std::ranges::sort(parts, {}, &PartSpec::number);
  const auto twice = std::ranges::adjacent_find(parts, {}, &PartSpec::number);
  if (twice != parts.end()) refuse_twin(labs, twice->number);
  return parts;
}

PartSpec load_part(const std::filesystem::path& labs, const std::filesystem::path& solutions,
                   int number) {
  // A broken neighbour must not keep this part from being graded, but it may be the one that is
  // asked for.
  std::optional<SpecError> broken;
  std::map<int, std::filesystem::path> parts;
  for (const auto& folder : part_folders(labs)) {
    try {
      const int found = number_of(folder);
      if (!parts.try_emplace(found, folder).second) {
        throw SpecError(fmt::format("{}: part {} is also in {}; give one another number",
                                    (folder / "part.toml").string(), found, parts[found].string()));
      }
    } catch (const SpecError& error) {
      broken = error;
    }
  }
  const auto found = parts.find(number);
  if (found == parts.end()) {
    if (broken) throw SpecError(*broken);
    refuse_unknown_part(labs, number, parts);
  }
  return read_part_of_course(course_spec_or_none(labs), found->second, solutions);
}

std::vector<int> list_parts(const std::filesystem::path& labs) {
  std::vector<int> numbers;
  for (const auto& folder : part_folders(labs)) numbers.push_back(number_of(folder));
  std::ranges::sort(numbers);
  const auto twice = std::ranges::adjacent_find(numbers);
  if (twice != numbers.end()) refuse_twin(labs, *twice);
  return numbers;
}

}  // namespace rooflab
