#include "grader/spec/work_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "grader/spec/answer_lines.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

constexpr std::size_t kLongestText = 2000;    ///< bytes of a hypothesis or a result that are kept
constexpr std::size_t kLongestCounter = 200;  ///< bytes of a counter's name

constexpr std::array<const char*, 3> kKeys = {"hypothesis", "counter", "result"};

std::string key_of(const char* name, int version) { return fmt::format("{}_{}", name, version); }

/// What the lines may be, as questions of free text.
TaskSpec questions_of_log() {
  TaskSpec task;
  for (int version = 1; version <= kLastVersion; ++version) {
    for (const char* key : kKeys) {
      QuestionSpec question;
      question.id = key_of(key, version);
      question.kind = QuestionKind::text;
      task.questions.push_back(std::move(question));
    }
  }
  return task;
}

/// The first `most` bytes, without half a character at the end.
std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  while (most > 0 && continues(text[most])) --most;
  text.resize(most);
  return text + " …";
}

/// The words of read_answers() for what is no answer here.
AnswerProblem in_words_of_a_log(AnswerProblem problem) {
  if (problem.question.empty()) {
    problem.message = "this line is no entry of a work log";
    problem.help = fmt::format(
        "write it as `hypothesis_2 = \"…\"`, `counter_2` or `result_2`, for versions 1 to {}, or "
        "begin it with #",
        kLastVersion);
    return problem;
  }
  constexpr std::string_view kAnswer = "the answer to ";
  if (const auto at = problem.message.find(kAnswer); at != std::string::npos) {
    problem.message.erase(at, kAnswer.size());
  }
  return problem;
}

}  // namespace

WorkLogText read_work_log(const std::string& text) {
  static const TaskSpec questions = questions_of_log();
  const Answers answers = read_answers(text, questions);
  const auto text_of = [&](const char* key, int version, std::size_t most) {
    const auto found = answers.values.find(key_of(key, version));
    const auto* words =
        found == answers.values.end() ? nullptr : std::get_if<std::string>(&found->second);
    return words == nullptr ? std::string() : cut(std::string(trimmed(*words)), most);
  };
  WorkLogText log;
  for (int version = 1; version <= kLastVersion; ++version) {
    WorkLogEntry entry{.version = version,
                       .hypothesis = text_of(kKeys[0], version, kLongestText),
                       .counter = text_of(kKeys[1], version, kLongestCounter),
                       .result = text_of(kKeys[2], version, kLongestText)};
    const bool is_open = entry.hypothesis.empty() && entry.counter.empty() && entry.result.empty();
    if (!is_open) log.entries.push_back(std::move(entry));
  }
  for (const AnswerProblem& problem : answers.problems) {
    log.problems.push_back(in_words_of_a_log(problem));
  }
  return log;
}

WorkLogEntry entry_of(const WorkLogText& log, int version) {
  const auto found = std::ranges::find(log.entries, version, &WorkLogEntry::version);
  return found == log.entries.end() ? WorkLogEntry{.version = version} : *found;
}

std::string with_entry(const std::string& text, int version, const std::string& hypothesis) {
  std::string line = hypothesis;
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  std::ranges::replace_if(line, is_control, ' ');
  std::string more = text;
  if (!more.empty() && more.back() != '\n') more += '\n';
  return more + fmt::format("\nhypothesis_{0} = {1}\ncounter_{0} = \"\"\nresult_{0} = \"\"\n",
                            version, toml_string(line));
}

const TaskSpec* work_log_task(const PartSpec& part) {
  const auto found = std::ranges::find(part.tasks, TaskKind::worklog, &TaskSpec::kind);
  return found == part.tasks.end() ? nullptr : &*found;
}

bool may_be_logged(const TaskSpec& task) {
  return task.kind == TaskKind::kernel && !task.speeds.empty();
}

}  // namespace rooflab
