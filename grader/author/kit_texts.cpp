#include "grader/author/kit_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "grader/author/kit_files.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

/// Where commands of the kit's README show how a kernel is graded.
struct Example {
  const PartSpec* part = nullptr;
  std::string task;
};

/// The task that shows most: a kernel in which students' first mistakes are, else any kernel.
Example example_in(const std::vector<PartSpec>& parts) {
  constexpr std::string_view kFavourite = "gemm_tiled";
  Example example{&parts.back(), parts.back().tasks.empty() ? "" : parts.back().tasks.front().id};
  bool is_kernel = false;
  for (const PartSpec& part : parts) {
    for (const TaskSpec& task : part.tasks) {
      if (task.id == kFavourite) return {&part, task.id};
      if (is_kernel || task.kind != TaskKind::kernel) continue;
      example = {&part, task.id};
      is_kernel = true;
    }
  }
  return example;
}

std::string table_of_parts(const CourseSpec& course, const std::vector<PartSpec>& parts) {
  const auto has = [&](const auto& date) {
    return std::ranges::any_of(parts, [&](const PartSpec& part) {
      return (dates_of(course, part.number).*date).has_value();
    });
  };
  const bool opens = has(&PartDates::opens);
  const bool due = has(&PartDates::due);
  std::string table = fmt::format("| part | read |{}{}\n|---|---|{}{}\n", opens ? " opens |" : "",
                                  due ? " due |" : "", opens ? "---|" : "", due ? "---|" : "");
  for (const PartSpec& part : parts) {
    const PartDates dates = dates_of(course, part.number);
    const auto cell = [](bool wanted, const std::optional<Moment>& moment) {
      return wanted ? fmt::format(" {} |", moment ? text_of(*moment) : "") : std::string();
    };
    table +=
        fmt::format("| {0} {1} | [handouts/{2}.md](handouts/{2}.md) |{3}{4}\n", part.number,
                    part.title, part.directory, cell(opens, dates.opens), cell(due, dates.due));
  }
  table.pop_back();
  return table;
}

}  // namespace

std::string kit_course_toml(const std::filesystem::path& file, const std::vector<int>& parts) {
  toml::table course = parse_toml(file);
  toml::array numbers;
  for (const int part : parts) numbers.push_back(part);
  course.insert_or_assign("parts", std::move(numbers));
  if (toml::table* calendar = course["calendar"].as_table()) {
    std::set<std::string> names;
    for (const int part : parts) names.insert(fmt::format("part{}", part));
    for (auto entry = calendar->begin(); entry != calendar->end();) {
      entry = names.contains(std::string(entry->first.str())) ? std::next(entry)
                                                              : calendar->erase(entry);
    }
  }
  std::ostringstream text;
  text << "# What the course chose, as `grader release` found it.\n" << course << '\n';
  return text.str();
}

std::string fill_kit_text(std::string text, const CourseSpec& course,
                          const std::vector<PartSpec>& parts) {
  const PartSpec& first = parts.front();
  const Example example = example_in(parts);
  const std::map<std::string, std::string> values = {
      {"@first_part@", std::to_string(first.number)},
      {"@first_task@", first.tasks.empty() ? "" : first.tasks.front().id},
      {"@first_folder@", first.directory},
      {"@first_page@", "handouts/" + first.directory + ".md"},
      {"@example_part@", std::to_string(example.part->number)},
      {"@example_folder@", example.part->directory},
      {"@example_task@", example.task},
      {"@table_of_parts@", table_of_parts(course, parts)},
      {"@hand_in@",
       course.hand_in.empty() ? "How and where, your instructor tells you." : course.hand_in}};
  for (const auto& [mark, value] : values) {
    for (std::size_t at = text.find(mark); at != std::string::npos;
         at = text.find(mark, at + value.size())) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

}  // namespace rooflab
