// libFuzzer's entry to the reader of a student's answers: any text gives answers of the questions'
// kinds, and complaints that name a line.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "grader/spec/answers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using rooflab::QuestionKind;
  rooflab::TaskSpec task;
  task.file = "answers.toml";
  task.questions = {{"ridge", QuestionKind::number, "Where?", {}, 1},
                    {"bound", QuestionKind::choice, "Which?", {"memory", "compute"}, 1},
                    {"why", QuestionKind::text, "Why?", {}, 2}};
  const std::string text(reinterpret_cast<const char*>(data), size);
  const rooflab::Answers answers = rooflab::read_answers(text, task);
  for (const auto& [question, answer] : answers.values) {
    const bool is_text = std::holds_alternative<std::string>(answer);
    if (is_text == (question == "ridge")) std::abort();
  }
  for (const rooflab::AnswerProblem& problem : answers.problems) {
    if (problem.line == 0 || problem.help.empty()) std::abort();
  }
  return 0;
}
