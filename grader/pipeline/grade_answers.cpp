#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "grader/pipeline/grade_task.h"
#include "grader/spec/answers.h"
#include "grader/spec/handed_out.h"

namespace rooflab {
namespace {

double number(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

bool is_near(double got, double expected, double tolerance) {
  const double scale = expected == 0 ? 1 : std::abs(expected);
  return std::abs(got - expected) <= tolerance * scale;
}

bool is_right(const Value& answer, const AnswerKey& key) {
  if (std::holds_alternative<std::string>(answer)) return answer == key.answer;
  if (std::holds_alternative<std::string>(key.answer)) return false;
  return is_near(number(answer), number(key.answer), key.tolerance);
}

/// What units of one quantity differ by.
struct UnitFactor {
  double factor;
  const char* words;
};
constexpr UnitFactor kUnitFactors[] = {
    {1e3, "a factor of 1000, as between kB and MB or us and ms"},
    {1e6, "a factor of a million, as between kB and GB or us and s"},
    {1e9, "a factor of 1e9, as between B and GB"},
    {1e12, "a factor of 1e12, as between FLOP/s and TFLOP/s"},
    {1024, "a factor of 1024, as between KiB and MiB"},
    {1024.0 * 1024, "a factor of 1024 x 1024, as between B and MiB"},
    {1.024, "a factor of 1.024, as between kB and KiB"},
    {1.048576, "a factor of 1.049, as between MB and MiB"},
    {1.073741824, "a factor of 1.074, as between GB and GiB"},
    {8, "a factor of 8, as between bits and bytes"},
    {100, "a factor of 100, as between a share and percent"},
};

/// By what the answer is off where it is the right number in another unit; nothing where it is not.
const char* other_unit(const Value& answer, const AnswerKey& key) {
  if (std::holds_alternative<std::string>(answer)) return nullptr;
  if (std::holds_alternative<std::string>(key.answer)) return nullptr;
  const double got = number(answer), expected = number(key.answer);
  if (got == 0 || expected == 0) return nullptr;
  for (const UnitFactor& unit : kUnitFactors) {
    // Where units lie as close as the tolerance, nobody can tell one from the other.
    if (std::abs(unit.factor - 1) <= 4 * key.tolerance) continue;
    const bool is_off = is_near(got * unit.factor, expected, key.tolerance) ||
                        is_near(got / unit.factor, expected, key.tolerance);
    if (is_off) return unit.words;
  }
  return nullptr;
}

constexpr const char* kMissing = "missing";

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
                        const Value* answer, const char* other_unit) {
  const std::string is = answer == nullptr       ? kMissing
                         : other_unit == nullptr ? "not right"
                                                 : "the right number in another unit";
  Diagnostic diagnostic = story(part, task, fmt::format("the answer to {} is {}", question.id, is));
  diagnostic.evidence = {question.prompt};
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    diagnostic.evidence.push_back(fmt::format("{}: {}", char('a' + i), question.choices[i]));
  }
  diagnostic.help = answer == nullptr
                        ? "write an answer for it"
                        : "work it through once more with the units beside each number";
  if (other_unit != nullptr) {
    diagnostic.help =
        fmt::format("it is off by {}: the question says which unit it wants", other_unit);
  }
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

/// What became of one question that a machine can judge.
struct Judged {
  const QuestionSpec* question = nullptr;
  const Value* answer = nullptr;           ///< nullptr: there is none
  const AnswerProblem* problem = nullptr;  ///< why there is none
  Verdict verdict = Verdict::pass;
  const char* other_unit = nullptr;  ///< by what the answer is off, where that is a unit
};

/// A question without an answer is not implemented, one whose line cannot be read is wrong.
/// @param is_right holds an answer against its key
std::vector<Judged> judge_questions(
    const TaskSpec& task, const Answers& answers,
    const std::function<bool(const QuestionSpec&, const Value&)>& is_right) {
  std::vector<Judged> all;
  for (const QuestionSpec& question : task.questions) {
    if (question.kind == QuestionKind::text) continue;
    Judged judged{.question = &question};
    const auto answer = answers.values.find(question.id);
    const auto problem = std::ranges::find(answers.problems, question.id, &AnswerProblem::question);
    if (answer != answers.values.end()) {
      judged.answer = &answer->second;
      judged.verdict = is_right(question, answer->second) ? Verdict::pass : Verdict::wrong_answer;
    } else if (problem != answers.problems.end()) {
      judged.problem = &*problem;
      judged.verdict = Verdict::wrong_answer;
    } else {
      judged.verdict = Verdict::not_implemented;
    }
    all.push_back(judged);
  }
  return all;
}

/// The lines that belong to no question that a machine judges, told after all others.
void add_further_problems(const PartSpec& part, const TaskSpec& task, const Answers& answers,
                          TaskResult& result) {
  for (const AnswerProblem& problem : answers.problems) {
    const bool told = std::ranges::any_of(result.diagnostics, [&](const Diagnostic& diagnostic) {
      return diagnostic.line == problem.line;
    });
    if (!told) result.diagnostics.push_back(unreadable_line(part, task, problem));
  }
}

/// A question is a group of its own.
void settle_group(TaskResult& result, const std::string& question, Verdict verdict, double points) {
  const auto group = std::ranges::find(result.groups, question, &GroupResult::name);
  if (group == result.groups.end()) return;
  group->verdict = verdict;
  group->score = points;
}

/// Writes down what each question came to, each as a case and a group of its own.
/// @param earns whether right answers have points here
void report_questions(const PartSpec& part, const TaskSpec& task, const Answers& answers,
                      const std::vector<Judged>& questions, bool earns, TaskResult& result) {
  for (const Judged& judged : questions) {
    const QuestionSpec& question = *judged.question;
    const bool is_right = judged.verdict == Verdict::pass;
    const double points = is_right && earns ? question.points : 0;
    result.cases.push_back(
        {.name = question.id, .verdict = judged.verdict, .hidden = false, .group = question.id});
    settle_group(result, question.id, judged.verdict, points);
    result.score += points;
    if (is_worse(judged.verdict, result.verdict)) result.verdict = judged.verdict;
    if (is_right) continue;
    result.diagnostics.push_back(
        judged.problem != nullptr
            ? unreadable_line(part, task, *judged.problem)
            : wrong_answer(part, task, question, judged.answer, judged.other_unit));
  }
  // What is wrong says more than what is missing.
  std::ranges::stable_partition(result.diagnostics, [](const Diagnostic& diagnostic) {
    return !diagnostic.message.ends_with(kMissing);
  });
  if (answers.values.empty() && answers.problems.empty()) {
    result.diagnostics = {nothing_answered(part, task)};
  }
  add_further_problems(part, task, answers, result);
}

/// Adds up the questions that a machine can judge.
void score_answers(const PartSpec& part, const TaskSpec& task, const Answers& answers,
                   const std::map<std::string, AnswerKey>& keys, TaskResult& result) {
  auto questions =
      judge_questions(task, answers, [&keys](const QuestionSpec& question, const Value& answer) {
        return is_right(answer, keys.at(question.id));
      });
  for (Judged& judged : questions) {
    if (judged.verdict != Verdict::wrong_answer || judged.answer == nullptr) continue;
    judged.other_unit = other_unit(*judged.answer, keys.at(judged.question->id));
  }
  report_questions(part, task, answers, questions, true, result);
  const auto right = std::ranges::count(questions, Verdict::pass, &Judged::verdict);
  result.summary = fmt::format("{} of {} answers are right", right, questions.size());
}

/// A student's copy holds no key: the form is checked, and the points are given later.
void check_form(const PartSpec& part, const TaskSpec& task, const Answers& answers,
                TaskResult& result) {
  const auto questions =
      judge_questions(task, answers, [](const QuestionSpec&, const Value&) { return true; });
  report_questions(part, task, answers, questions, false, result);
  result.graded_later = result.max_score;
  for (const QuestionSpec& question : task.questions) {
    if (question.kind != QuestionKind::text || answers.values.contains(question.id)) continue;
    if (answers.values.empty()) break;  // one word for all of them
    result.diagnostics.push_back(wrong_answer(part, task, question, nullptr, nullptr));
    if (is_worse(Verdict::not_implemented, result.verdict)) {
      result.verdict = Verdict::not_implemented;
    }
  }
  result.summary = fmt::format(
      "{} of {} questions are answered; whether they are right is graded when you "
      "hand in",
      answers.values.size(), task.questions.size());
}

void add_text_note(const TaskSpec& task, const Answers& answers, TaskResult& result) {
  std::size_t texts = 0;
  for (const QuestionSpec& question : task.questions) {
    const bool is_text = question.kind == QuestionKind::text;
    texts += is_text && answers.values.contains(question.id) ? 1 : 0;
  }
  if (texts > 0) result.summary += fmt::format("; {} written for a person to read", texts);
}

}  // namespace

Diagnostic unreadable_line(const PartSpec& part, const TaskSpec& task,
                           const AnswerProblem& problem) {
  Diagnostic diagnostic = story(part, task, problem.message);
  diagnostic.code = "RL0613";
  diagnostic.line = problem.line;
  diagnostic.labels = {{.file = task.file,
                        .line = problem.line,
                        .column = 1,
                        .length = 1,
                        .excerpt = problem.excerpt,
                        .text = {}}};
  if (!problem.costs) diagnostic.notes = {"this line costs no points by itself"};
  diagnostic.help = problem.help;
  return diagnostic;
}

std::optional<TaskResult> refused_text(const PartSpec& part, const TaskSpec& task,
                                       const SubmittedFile& file) {
  if (file.state == SubmittedFile::State::present) return std::nullopt;
  const bool missing = file.state == SubmittedFile::State::missing;
  TaskResult result = blank_result(task);
  fail_all(result, missing ? Verdict::not_implemented : Verdict::rejected);
  Diagnostic diagnostic = story(
      part, task,
      fmt::format("{} {}", task.file, missing ? "is missing" : "cannot be graded: " + file.reason));
  diagnostic.code = missing ? Code("RL0601") : Code("RL0611");
  diagnostic.help =
      missing ? fmt::format("copy it from {} and fill it in", where_handed_out(part, task.file))
              : "hand in a plain readable file of at most 1 MiB";
  result.diagnostics = {diagnostic};
  return result;
}

TaskResult grade_answers(const PartSpec& part, const GradeRequest& request, const TaskSpec& task) {
  TaskResult result = blank_result(task);
  const SubmittedFile file = read_submitted(request.submission / part.directory, task.file);
  if (auto refused = refused_text(part, task, file)) return *refused;
  const Answers answers = read_answers(file.text, task);
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
