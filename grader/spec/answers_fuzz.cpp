// libFuzzer's entry to the readers of a student's TOML: any text gives answers of the questions'
// kinds, and complaints that name a line; what TOML itself reads there is read the same; hints are
// counted within their number, and a journal has runs of the part alone. The first byte says
// whether the rest is a text or makes one.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "grader/spec/answers.h"
#include "grader/spec/hints_used.h"
#include "grader/spec/journal.h"
#include "grader/spec/toml_reader.h"
#include "simgpu/fuzzing/grammar/toml_text.h"

namespace rooflab {
namespace {

constexpr std::array<std::string_view, 5> kKeys = {"ridge", "bound", "why", "gemm", "ridge.of"};

void require(bool holds) {
  if (!holds) std::abort();
}

TaskSpec asking_task() {
  TaskSpec task;
  task.id = "gemm";
  task.file = "answers.toml";
  task.hints = {"first", "second", "third"};
  task.questions = {{"ridge", QuestionKind::number, "Where?", {}, 1},
                    {"bound", QuestionKind::choice, "Which?", {"memory", "compute"}, 1},
                    {"why", QuestionKind::text, "Why?", {}, 2}};
  return task;
}

bool stands_once(const std::string& text, std::string_view key) {
  const std::size_t first = text.find(key);
  return first != std::string::npos && text.find(key, first + 1) == std::string::npos;
}

/// A number that TOML finds under a key that stands there once is the answer.
void compare_with_toml(const std::string& text, const Answers& answers) {
  if (!stands_once(text, "ridge") || text.find('"') != std::string::npos ||
      text.find('\'') != std::string::npos) {
    return;
  }
  std::optional<double> expected;
  try {
    const toml::table table = parse_toml_text(text, "answers.toml");
    expected = table["ridge"].value<double>();
  } catch (const SpecError&) {
    return;
  }
  if (!expected || !std::isfinite(*expected)) return;
  const auto found = answers.values.find("ridge");
  if (found == answers.values.end()) return;  // a complaint says why: checked below
  const auto* real = std::get_if<double>(&found->second);
  const auto* integer = std::get_if<std::int64_t>(&found->second);
  require((real != nullptr && *real == *expected) ||
          (integer != nullptr && static_cast<double>(*integer) == *expected));
}

void read(const std::string& text) {
  const TaskSpec task = asking_task();
  const Answers answers = read_answers(text, task);
  for (const auto& [question, answer] : answers.values) {
    require(std::holds_alternative<std::string>(answer) != (question == "ridge"));
  }
  for (const AnswerProblem& problem : answers.problems) {
    require(problem.line != 0 && !problem.help.empty());
  }
  compare_with_toml(text, answers);
  PartSpec part;
  part.tasks = {task};
  for (const auto& [name, count] : hints_in(text, part))
    require(name == "gemm" && count >= 1 && count <= 3);
  for (const JournalRun& run : journal_in(text, part).runs) {
    require(run.task == "gemm" && run.score >= 0 && run.score <= run.max_score);
  }
}

}  // namespace
}  // namespace rooflab

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!bytes.empty() && bytes.front() == 'g') {
    simgpu::fuzzing::Choices choices(bytes.substr(1));
    rooflab::read(simgpu::fuzzing::TomlText(choices, rooflab::kKeys).text());
  } else {
    rooflab::read(std::string(bytes));
  }
  return 0;
}
