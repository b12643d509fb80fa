#include "grader/spec/tested.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/contract/test_cases.h"

namespace rooflab {
namespace {

Bounds read_bounds(const toml::table& table, const std::string& name,
                   const std::filesystem::path& file) {
  TableReader reader(table, file, "chosen." + name);
  Bounds bounds{reader.value("low"), reader.value("high")};
  reader.finish();
  const bool are_numbers = !std::holds_alternative<std::string>(bounds.low);
  if (!are_numbers || bounds.low.index() != bounds.high.index() || bounds.high < bounds.low) {
    throw reader.error("low", fmt::format("`low` and `high` of {} are no range", name),
                       "give two integers or two floats, the smaller one first");
  }
  return bounds;
}

}  // namespace

TestedSpec read_tested(const toml::table& table, const std::filesystem::path& file) {
  TableReader reader(table, file, "[task.tested]");
  TestedSpec tested;
  const auto read_most = [&](const char* key, std::int64_t limit, const char* what) {
    const std::int64_t most = reader.integer(key);
    if (most >= 1 && most <= limit) return most;
    throw reader.error(key, fmt::format("`{}` is {}", key, most),
                       fmt::format("allow 1 to {} {}", limit, what));
  };
  tested.most_cases = static_cast<int>(read_most("most_cases", kMostTestCases, "cases"));
  tested.most_elements = read_most("most_elements", kMostElementsOfCase,
                                   "elements, of all arrays of all cases together");
  tested.fixed = reader.values("fixed");
  reader.maybe("chosen", [&](const toml::table& chosen) {
    TableReader own(chosen, file, "chosen");
    for (const auto& [key, node] : chosen) {
      const std::string name(key.str());
      own.maybe(name, [&](const toml::table& bounds) {
        tested.chosen[name] = read_bounds(bounds, name, file);
      });
    }
  });
  reader.finish();
  return tested;
}

void check_tested(const TableReader& reader, const TaskSpec& task) {
  if (task.oracle.empty() || task.tested.most_cases == 0) {
    throw reader.error(
        "tested", fmt::format("task {} does not say what a case may be", task.id),
        "add oracle = \"name\", which knows the tensors of a call, and [task.tested]");
  }
  if (!task.cases.empty() || !task.speeds.empty() || !task.questions.empty()) {
    throw reader.error("kind", fmt::format("the cases of task {} are the student's", task.id),
                       "remove its [[task.case]], [[task.speed]] and [[task.question]]");
  }
  const auto right = std::ranges::find(task.groups, kRightGroup, &GroupSpec::name);
  if (right == task.groups.end() || task.groups.size() < 2) {
    throw reader.error("group", fmt::format("task {} lacks a group", task.id),
                       "add [[task.group]] \"right\" and one for each kind of mistake");
  }
  for (const GroupSpec& group : task.groups) {
    if (group.question.empty() != (group.name == kRightGroup)) {
      throw reader.error(
          "group",
          fmt::format("group \"{}\" of task {} {}", group.name, task.id,
                      group.question.empty() ? "asks nothing" : "asks a question"),
          "give each group but \"right\" a `question`, for whoever misses a mistake");
    }
  }
}

}  // namespace rooflab
