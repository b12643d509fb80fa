#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "grader/contract/problem.h"
#include "grader/spec/part.h"

namespace rooflab {

/// The right answer to one question.
struct AnswerKey {
  Value answer;
  double tolerance = 1e-6;  ///< numbers: relative to |answer|, absolute where that is 0
  std::string why;
};

/// What a student answered, by question; a question left out or left empty is absent.
/// @param text of the student's file, which messages call `task.file`
/// @throws SpecError for a text that is no TOML, an unknown question or an answer of the wrong
/// type.
Values read_answers(const std::string& text, const TaskSpec& task);

/// solutions/<part>/answers.key.toml: a key for every number and choice question of the task.
/// @throws SpecError naming file, line and remedy.
std::map<std::string, AnswerKey> load_answer_key(const std::filesystem::path& file,
                                                 const TaskSpec& task);

}  // namespace rooflab
