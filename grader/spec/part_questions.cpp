#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "grader/spec/part.h"

/// What others ask of a part that was read.
namespace rooflab {

std::string hidden_counts_of(const PartSpec& part) {
  std::string text = "# How many hidden cases the class's grading has for each task.\n";
  for (const TaskSpec& task : part.tasks) {
    const auto count =
        std::ranges::count(task.cases, true, &CaseSpec::hidden) + task.hidden_elsewhere;
    if (count > 0) text += fmt::format("{} = {}\n", task.id, count);
  }
  return text;
}

std::vector<std::string> submitted_files(const PartSpec& part) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const std::string& header : part.headers) add(header);
  for (const TaskSpec& task : part.tasks) {
    add(task.file);
    for (const std::string& used : task.uses) add(used);
  }
  return names;
}

std::vector<QuestionSpec> questions_for_people(const TaskSpec& task) {
  std::vector<QuestionSpec> questions;
  std::ranges::copy_if(
      task.questions, std::back_inserter(questions),
      [](const QuestionSpec& question) { return question.kind == QuestionKind::text; });
  if (task.kind == TaskKind::worklog) {
    questions.push_back({task.id, QuestionKind::text, task.title, {}, task.hand_points});
  }
  return questions;
}

double maximum_points(const SpeedSpec& speed) {
  double points = speed.points;
  if (speed.launches) points += speed.launches->points;
  if (speed.bytes) points += speed.bytes->points;
  return points;
}

double maximum_points(const TaskSpec& task) {
  double points = task.points;
  for (const SpeedSpec& speed : task.speeds) points += maximum_points(speed);
  return points;
}

}  // namespace rooflab
