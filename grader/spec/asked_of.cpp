#include <algorithm>

#include "grader/spec/part.h"

/// What one student is asked.
namespace rooflab {

TaskSpec asked_of(const TaskSpec& task, int part, const std::string& student) {
  TaskSpec asked = task;
  for (QuestionSpec& question : asked.questions) {
    if (!question.draws.empty()) {
      question.prompt = with_numbers(question.pattern, numbers_of(part, question.draws, student));
    }
    const auto group = std::ranges::find(asked.groups, question.id, &GroupSpec::name);
    if (group != asked.groups.end()) group->title = question.prompt;
  }
  return asked;
}

bool draws_numbers(const TaskSpec& task) {
  return std::ranges::any_of(task.questions, [](const QuestionSpec& question) {
    return std::ranges::any_of(question.draws,
                               [](const Draw& draw) { return draw.values.size() > 1; });
  });
}

}  // namespace rooflab
