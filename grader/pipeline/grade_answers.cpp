#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/pipeline/grade_task.h"
#include "grader/spec/answers.h"

namespace rooflab {
namespace {

bool is_right(const Value& answer, const AnswerKey& key) {
  if (std::holds_alternative<std::string>(answer)) return answer == key.answer;
  if (std::holds_alternative<std::string>(key.answer)) return false;
  const auto number = [](const Value& value) {
    const auto* integer = std::get_if<std::int64_t>(&value);
    return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
  };
  const double expected = number(key.answer);
  const double scale = expected == 0 ? 1 : std::abs(expected);
  return std::abs(number(answer) - expected) <= key.tolerance * scale;
}

Diagnostic story(const PartSpec& part, const TaskSpec& task, const std::string& message) {
  Diagnostic diagnostic;
  diagnostic.code = "RL0408";
  diagnostic.message = message;
  diagnostic.file = task.file;
  diagnostic.commands = {
      {"next hint", fmt::format("grader --part {} --task {} --hint", part.number, task.id)}};
  return diagnostic;
}

Diagnostic wrong_answer(const PartSpec& part, const TaskSpec& task, const QuestionSpec& question,
                        const Value* answer) {
  Diagnostic diagnostic = story(part, task,
                                fmt::format("the answer to {} is {}", question.id,
                                            answer == nullptr ? "missing" : "not right"));
  diagnostic.evidence = {question.prompt};
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    diagnostic.evidence.push_back(fmt::format("{}: {}", char('a' + i), question.choices[i]));
  }
  diagnostic.help = answer == nullptr
                        ? "write an answer for it"
                        : "work it through once more with the units beside each number";
  return diagnostic;
}

/// One word for a file that holds no answer yet, in place of one for each question.
Diagnostic nothing_answered(const PartSpec& part, const TaskSpec& task) {
  Diagnostic diagnostic = story(part, task, "no question is answered yet");
  diagnostic.code = "RL0601";
  diagnostic.help =
      fmt::format("the questions stand in the handout; start with {}", task.questions.front().id);
  return diagnostic;
}

/// A question is a group of its own.
void settle_group(TaskResult& result, const std::string& question, Verdict verdict) {
  const auto group = std::ranges::find(result.groups, question, &GroupResult::name);
  if (group == result.groups.end()) return;
  group->verdict = verdict;
  group->score = verdict == Verdict::pass ? group->max_score : 0;
}

/// Adds up the questions that a machine can judge.
void score_answers(const PartSpec& part, const TaskSpec& task, const Values& answers,
                   const std::map<std::string, AnswerKey>& keys, TaskResult& result) {
  std::size_t right = 0;
  for (const QuestionSpec& question : task.questions) {
    if (question.kind == QuestionKind::text) continue;
    const auto answer = answers.find(question.id);
    const Value* value = answer == answers.end() ? nullptr : &answer->second;
    const bool correct = value != nullptr && is_right(*value, keys.at(question.id));
    const Verdict missed = value == nullptr ? Verdict::not_implemented : Verdict::wrong_answer;
    const Verdict verdict = correct ? Verdict::pass : missed;
    result.cases.push_back({question.id, verdict, false, question.id});
    settle_group(result, question.id, verdict);
    if (correct) {
      ++right;
      result.score += question.points;
    } else {
      result.diagnostics.push_back(wrong_answer(part, task, question, value));
    }
  }
  const std::size_t asked = result.cases.size();
  result.summary = fmt::format("{} of {} answers are right", right, asked);
  if (right == asked) return;
  result.verdict = answers.empty() ? Verdict::not_implemented : Verdict::wrong_answer;
  if (answers.empty()) result.diagnostics = {nothing_answered(part, task)};
}

/// A student's copy holds no key: the form is checked, and nothing is scored.
void check_form(const PartSpec& part, const TaskSpec& task, const Values& answers,
                TaskResult& result) {
  std::size_t missing = 0;
  for (const QuestionSpec& question : task.questions) {
    const bool answered = answers.contains(question.id);
    settle_group(result, question.id, answered ? Verdict::pass : Verdict::not_implemented);
    if (answered) continue;
    ++missing;
    result.diagnostics.push_back(wrong_answer(part, task, question, nullptr));
  }
  result.max_score = 0;
  for (GroupResult& group : result.groups) group.score = group.max_score = 0;
  result.summary = fmt::format("{} of {} questions are answered; they are graded when you hand in",
                               task.questions.size() - missing, task.questions.size());
  if (answers.empty()) result.diagnostics = {nothing_answered(part, task)};
  result.verdict = missing == 0 ? Verdict::pass : Verdict::not_implemented;
}

void add_text_note(const TaskSpec& task, const Values& answers, TaskResult& result) {
  std::size_t texts = 0;
  for (const QuestionSpec& question : task.questions) {
    texts += question.kind == QuestionKind::text && answers.contains(question.id) ? 1 : 0;
  }
  if (texts > 0) result.summary += fmt::format("; {} written for a person to read", texts);
}

}  // namespace

TaskResult grade_answers(const PartSpec& part, const GradeRequest& request, const TaskSpec& task) {
  TaskResult result = blank_result(task);
  const SubmittedFile file = read_submitted(request.submission / part.directory, task.file);
  if (file.state != SubmittedFile::State::present) {
    const bool missing = file.state == SubmittedFile::State::missing;
    fail_all(result, missing ? Verdict::not_implemented : Verdict::rejected);
    Diagnostic diagnostic =
        story(part, task,
              fmt::format("{} {}", task.file,
                          missing ? "is missing" : "cannot be graded: " + file.reason));
    diagnostic.code = missing ? "RL0601" : "RL0611";
    diagnostic.help = missing ? "copy it from starter/ and fill it in"
                              : "hand in a plain readable file of at most 1 MiB";
    result.diagnostics = {diagnostic};
    return result;
  }
  Values answers;
  try {
    answers = read_answers(file.text, task);
  } catch (const SpecError& error) {
    fail_all(result, Verdict::compile_error);
    result.diagnostics = {story(part, task, error.what())};
    result.diagnostics.front().code = "RL0101";
    return result;
  }
  const auto key_file = request.solutions / part.directory / "answers.key.toml";
  try {
    if (std::filesystem::exists(key_file)) {
      score_answers(part, task, answers, load_answer_key(key_file, task), result);
    } else {
      check_form(part, task, answers, result);
    }
  } catch (const SpecError& error) {  // the key's fault is ours
    result = blank_result(task);
    fail_all(result, Verdict::grader_fault);
    result.diagnostics = {explain_grader_fault(error.what(), context_of(part, request, task))};
    return result;
  }
  add_text_note(task, answers, result);
  return result;
}

}  // namespace rooflab
