#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/spec/answers.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"

namespace rooflab {

/// What would have been right in one task of questions, for the numbers that its student was asked
/// with. For staff alone: feedback never has it.
struct RightAnswers {
  std::string student;                  ///< whose numbers they are; empty: the page's own
  std::map<std::string, Value> values;  ///< by question
};

/// @param result of the task, whose prompts tell whose numbers were asked
/// @param students whose they may be: GradingSubject::students
/// @return nothing where nobody can tell any more, since the part has changed since
std::optional<RightAnswers> right_answers(int part, const TaskSpec& task,
                                          const std::map<std::string, AnswerKey>& keys,
                                          const TaskResult& result,
                                          const std::vector<std::string>& students);

}  // namespace rooflab
