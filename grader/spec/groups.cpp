#include "grader/spec/groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

bool has_group(const TaskSpec& task, const std::string& name) {
  return std::ranges::find(task.groups, name, &GroupSpec::name) != task.groups.end();
}

/// One for each question that a machine can judge.
std::vector<GroupSpec> groups_of_questions(const TaskSpec& task) {
  std::vector<GroupSpec> groups;
  for (const QuestionSpec& question : task.questions) {
    if (question.kind != QuestionKind::text) groups.push_back({question.id, {}, question.points});
  }
  return groups;
}

/// One for each function that public cases call: a student's copy has no others. None when a case
/// calls no function, or all call the same.
std::vector<GroupSpec> groups_of_functions(const TaskSpec& task) {
  std::vector<GroupSpec> groups;
  for (const CaseSpec& spec : task.cases) {
    const std::string function = function_of(spec);
    if (function.empty()) return {};
    const bool is_new =
        std::ranges::find(groups, function, &GroupSpec::name) == groups.end() && !spec.hidden;
    if (is_new) groups.push_back({function, {}, 0});
  }
  if (groups.size() < 2) return {};
  for (GroupSpec& group : groups) group.points = task.points / static_cast<double>(groups.size());
  return groups;
}

}  // namespace

std::vector<std::string> names_of(const std::vector<GroupSpec>& groups) {
  std::vector<std::string> names;
  for (const GroupSpec& group : groups) names.push_back(group.name);
  return names;
}

std::string function_of(const CaseSpec& spec) {
  const auto found = spec.parameters.find("function");
  if (found == spec.parameters.end()) return {};
  const auto* name = std::get_if<std::string>(&found->second);
  return name == nullptr ? std::string() : *name;
}

std::string default_group(const TaskSpec& task, const CaseSpec& spec) {
  if (const std::string function = function_of(spec); has_group(task, function)) return function;
  return task.groups.size() == 1 ? task.groups.front().name : std::string();
}

void complete_groups(TaskSpec& task) {
  if (task.groups.empty() && task.kind == TaskKind::answers) {
    task.groups = groups_of_questions(task);
  }
  if (task.groups.empty() && task.kind == TaskKind::worklog) {
    task.groups = {
        {kLoggedVersions, "four versions, each with a logged run", task.points / 2},
        {kLogEntries, "each with a hypothesis, a counter and a result", task.points / 2}};
  }
  if (task.groups.empty() && task.kind == TaskKind::values) {
    task.groups = groups_of_functions(task);
  }
  if (task.groups.empty()) task.groups = {{kOnlyGroup, {}, task.points}};
  for (CaseSpec& spec : task.cases) {
    if (spec.group.empty()) spec.group = default_group(task, spec);
  }
  for (SpeedSpec& speed : task.speeds) {
    if (speed.groups.empty()) speed.groups = names_of(task.groups);
  }
}

void read_groups(TableReader& reader, TaskSpec& task) {
  reader.each("group", [&](const toml::table& table) {
    TableReader own(table, reader.file(), "[[task.group]]");
    GroupSpec group;
    group.name = own.text("name");
    own.name(fmt::format("group \"{}\"", group.name));
    group.title = own.text_or("title", "");
    group.points = own.number("points");
    group.question = own.text_or("question", "");
    own.finish();
    if (!is_identifier(group.name)) {
      throw own.error("name", fmt::format("`name` \"{}\" is no identifier", group.name),
                      "use lower-case letters, digits and _");
    }
    if (!(group.points > 0 && group.points <= 1e6)) {
      throw own.error("points", fmt::format("group \"{}\" has {} points", group.name, group.points),
                      "give it points, or leave its cases to another group");
    }
    if (has_group(task, group.name)) {
      throw own.error("name",
                      fmt::format("task {} has two groups named \"{}\"", task.id, group.name),
                      "rename one");
    }
    task.groups.push_back(std::move(group));
  });
}

void require_group(const TableReader& reader, const std::string& at, const TaskSpec& task,
                   const std::string& group) {
  if (has_group(task, group)) return;
  const std::string known = fmt::format("{}", fmt::join(names_of(task.groups), ", "));
  if (group.empty()) {
    throw reader.error(
        at, fmt::format("a case of task {} names no group, and the task has several", task.id),
        fmt::format("add group = \"...\", one of {}", known));
  }
  throw reader.error(at, fmt::format("task {} has no group \"{}\"", task.id, group),
                     known.empty() ? "add [[task.group]] above its cases"
                                   : fmt::format("name one of {}, or add [[task.group]]", known));
}

void check_groups(const TableReader& reader, const TaskSpec& task) {
  double points = 0;
  for (const GroupSpec& group : task.groups) points += group.points;
  if (std::abs(points - task.points) > 1e-9) {
    throw reader.error(
        "points",
        fmt::format("task {} is worth {} points, its groups {}", task.id, task.points, points),
        "make them equal");
  }
  // Groups of a text are questions, or what a log must have; cases of tests are the student's.
  if (is_text(task) || task.kind == TaskKind::tests) return;
  for (const GroupSpec& group : task.groups) {
    const bool has_case = std::ranges::any_of(task.cases, [&](const CaseSpec& spec) {
      return spec.group == group.name && !spec.hidden && spec.peak.empty() && spec.vast_gb == 0;
    });
    if (!has_case) {
      throw reader.error("group",
                         fmt::format("group \"{}\" of task {} has no case that every GPU runs",
                                     group.name, task.id),
                         "give a [[task.case]] without `peak` this group, or remove the group");
    }
  }
}

}  // namespace rooflab
