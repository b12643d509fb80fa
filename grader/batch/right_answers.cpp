#include "grader/batch/right_answers.h"

#include <algorithm>

#include "grader/spec/draws.h"

namespace rooflab {
namespace {

/// Whether the task would have been asked in these words.
bool is_asked_so(const TaskSpec& asked, const TaskResult& result) {
  return std::ranges::all_of(result.groups, [&](const GroupResult& group) {
    const auto wanted = std::ranges::find(asked.groups, group.name, &GroupSpec::name);
    return wanted != asked.groups.end() && wanted->title == group.title;
  });
}

Value right_value(int part, const QuestionSpec& question, const AnswerKey& key,
                  const std::string& student) {
  if (key.formula.empty()) return key.answer;
  return right_number(key, numbers_of(part, question.draws, student));
}

}  // namespace

std::optional<RightAnswers> right_answers(int part, const TaskSpec& task,
                                          const std::map<std::string, AnswerKey>& keys,
                                          const TaskResult& result,
                                          const std::vector<std::string>& students) {
  std::vector<std::string> all = students;
  if (all.empty()) all.emplace_back();
  const auto whose = std::ranges::find_if(all, [&](const std::string& student) {
    return is_asked_so(asked_of(task, part, student), result);
  });
  if (whose == all.end()) return std::nullopt;
  RightAnswers right{.student = *whose, .values = {}};
  for (const QuestionSpec& question : task.questions) {
    const auto key = keys.find(question.id);
    if (question.kind == QuestionKind::text || key == keys.end()) continue;
    try {
      right.values[question.id] = right_value(part, question, key->second, *whose);
    } catch (const FormulaError&) {  // told when it was graded
    }
  }
  return right;
}

}  // namespace rooflab
