#include "grader/batch/regrade_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <sstream>

#include "grader/batch/batch_folder.h"
#include "grader/batch/course_versions.h"
#include "grader/report/text.h"
#include "grader/spec/similar_name.h"

namespace rooflab {
namespace {

[[noreturn]] void refuse(const std::string& words, const std::string& why) {
  throw BatchError(fmt::format("--regrade {}: {}", one_line(words), why));
}

/// One of `known`, or an error that names them.
void require_one_of(const std::string& words, const char* what, const std::string& name,
                    const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) != known.end()) return;
  refuse(words, fmt::format("there is no {} {}{}; there are {}", what, one_line(name),
                            did_you_mean(name, known), fmt::join(known, ", ")));
}

std::vector<std::string> parts_of(const Course& course) {
  std::vector<std::string> parts;
  for (const PartSpec& part : course.parts) parts.push_back(std::to_string(part.number));
  return parts;
}

std::vector<std::string> tasks_of(const Course& course) {
  std::vector<std::string> tasks;
  for (const PartSpec& part : course.parts) {
    std::ranges::transform(part.tasks, std::back_inserter(tasks), &TaskSpec::id);
  }
  return tasks;
}

std::vector<std::string> split(const std::string& words) {
  std::vector<std::string> pieces;
  std::istringstream text(words);
  for (std::string piece; std::getline(text, piece, ',');) pieces.push_back(piece);
  return pieces;
}

const TaskLine* task_of(const GradeToChoose& grade, const std::string& id) {
  const std::vector<TaskLine>& tasks = grade.tasks();
  const auto task = std::ranges::find(tasks, id, &TaskLine::id);
  return task == tasks.end() ? nullptr : &*task;
}

}  // namespace

RegradeRules::RegradeRules(const std::vector<std::string>& words, const Course& course) {
  for (const std::string& one : words) rules_.push_back(rule_of(one, course));
}

/// A name may have commas and equal signs in it, and a student may choose it: whatever begins like
/// a condition is one, and `student=` names everybody.
RegradeRules::Rule RegradeRules::rule_of(const std::string& words, const Course& course) {
  const std::vector<std::string> pieces = split(words);
  if (pieces.empty()) refuse(words, fmt::format("write {}", kRegradeRules));
  Rule rule{.words = words, .conditions = {condition_of(pieces.front(), course)}};
  const bool is_name =
      rule.conditions.front().kind == Kind::student && !pieces.front().starts_with("student=");
  if (is_name) {
    rule.conditions.front().value = words;
  } else {
    for (const std::string& piece : pieces | std::views::drop(1)) {
      rule.conditions.push_back(condition_of(piece, course));
    }
  }
  rule.sees_names = std::ranges::none_of(
      rule.conditions, [](const Condition& one) { return one.kind == Kind::student; });
  return rule;
}

RegradeRules::Condition RegradeRules::condition_of(const std::string& words, const Course& course) {
  static const std::map<std::string, Kind> kinds = {
      {"student", Kind::student}, {"part", Kind::part}, {"task", Kind::task},
      {"lost", Kind::lost},       {"code", Kind::code}, {"version", Kind::version}};
  if (words == "failed") return {Kind::failed, ""};
  if (words == "changed") return {Kind::changed, ""};
  const std::size_t mark = words.find('=');
  const auto kind = kinds.find(words.substr(0, mark));
  if (mark == std::string::npos || kind == kinds.end()) return {Kind::student, words};
  const Condition condition{kind->second, words.substr(mark + 1)};
  check(condition, words, course);
  return condition;
}

void RegradeRules::check(const Condition& condition, const std::string& words,
                         const Course& course) {
  switch (condition.kind) {
    case Kind::part:
      return require_one_of(words, "part", condition.value, parts_of(course));
    case Kind::task:
    case Kind::lost:
      return require_one_of(words, "task", condition.value, tasks_of(course));
    case Kind::version:
      return require_one_of(words, "version", condition.value,
                            {std::begin(kVersioned), std::end(kVersioned)});
    case Kind::code:
      if (simgpu::Code::parse(condition.value)) return;
      refuse(words, "there is no such code; write one of docs/design/codes.md, as in code=RL0305");
    case Kind::student:
    case Kind::failed:
    case Kind::changed:
      return;
  }
}

bool RegradeRules::fits(const Condition& condition, const GradeToChoose& grade) {
  switch (condition.kind) {
    case Kind::student:
      return std::ranges::find(grade.names, condition.value) != grade.names.end();
    case Kind::failed:
      return grade.grading.state == GradingState::fault;
    case Kind::changed:
      return grade.grading.subject != grade.wanted;
    case Kind::part:
      return std::to_string(grade.wanted.part) == condition.value;
    case Kind::task:
      return task_of(grade, condition.value) != nullptr;
    case Kind::lost: {
      const TaskLine* task = task_of(grade, condition.value);
      return task != nullptr && task->score < task->max_score;
    }
    case Kind::code:
      return std::ranges::any_of(grade.tasks(), [&](const TaskLine& task) {
        return std::ranges::find(task.codes, condition.value) != task.codes.end();
      });
    case Kind::version:
      return differs_in(grade.grading.subject.versions, grade.wanted.versions, condition.value);
  }
  return false;
}

void RegradeRules::see(const std::vector<std::string>& names) {
  for (Rule& rule : rules_) {
    rule.sees_names =
        rule.sees_names || std::ranges::any_of(rule.conditions, [&](const auto& one) {
          return one.kind == Kind::student && std::ranges::find(names, one.value) != names.end();
        });
  }
}

Regrade RegradeRules::decide(const GradeToChoose& grade) {
  Regrade decision = Regrade::no;
  for (Rule& rule : rules_) {
    const bool chosen = std::ranges::all_of(rule.conditions,
                                            [&](const Condition& one) { return fits(one, grade); });
    if (!chosen) continue;
    rule.has_chosen = true;
    const bool is_about_changes = std::ranges::any_of(rule.conditions, [](const Condition& one) {
      return one.kind == Kind::changed || one.kind == Kind::version;
    });
    decision = std::max(decision, is_about_changes ? Regrade::changed : Regrade::again);
  }
  return decision;
}

std::vector<std::string> RegradeRules::finish() const {
  std::vector<std::string> lines;
  for (const Rule& rule : rules_) {
    if (!rule.sees_names) {
      refuse(rule.words,
             fmt::format("no submission of the class is by that name; use a student's key, e-mail "
                         "address or login as grades.csv has them, or write {}",
                         kRegradeRules));
    }
    if (rule.has_chosen) continue;
    lines.push_back(
        fmt::format("--regrade {} matches no grade of the class; nothing is graded again for it",
                    one_line(rule.words)));
  }
  return lines;
}

}  // namespace rooflab
