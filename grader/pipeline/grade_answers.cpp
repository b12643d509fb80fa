#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "grader/pipeline/grade_task.h"
#include "grader/spec/answers.h"
#include "grader/spec/handed_out.h"

namespace rooflab {
namespace {

/// What is asked of one student, and what is right for them.
struct Asked {
  TaskSpec task;
  std::string student;                          ///< whose numbers they are; empty: the page's own
  std::map<std::string, NamedNumbers> numbers;  ///< of each question that draws some
  std::map<std::string, AnswerKey> keys;        ///< their answers are the student's

  const NamedNumbers& numbers_for(const std::string& question) const {
    static const NamedNumbers none;
    const auto found = numbers.find(question);
    return found == numbers.end() ? none : found->second;
  }
};

/// Whose numbers a submission is graded with: the student whom it names, where that may be.
std::string student_of(const GradeRequest& request, const Answers& answers) {
  const auto& students = request.students;
  if (students.empty()) return answers.student;
  const bool is_known = std::ranges::find(students, answers.student) != students.end();
  return is_known ? answers.student : students.front();
}

Asked asked_of_student(const TaskSpec& task, int part, const std::string& student) {
  Asked asked{.task = asked_of(task, part, student), .student = student, .numbers = {}, .keys = {}};
  for (const QuestionSpec& question : task.questions) {
    if (!question.draws.empty()) {
      asked.numbers[question.id] = numbers_of(part, question.draws, student);
    }
  }
  return asked;
}

bool is_right(const Value& answer, const AnswerKey& key) {
  if (std::holds_alternative<std::string>(answer)) return answer == key.answer;
  if (std::holds_alternative<std::string>(key.answer)) return false;
  return is_near(number_in(answer), number_in(key.answer), key.tolerance);
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
  const double got = number_in(answer), expected = number_in(key.answer);
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

/// What is known of a wrong answer.
struct Cause {
  std::string is = "not right";
  std::string help = "work it through once more with the units beside each number";
  std::string known = {};  ///< what the key knows of it, a clause; mostly empty
  bool is_other_unit = false;
};

/// Why a number is wrong, from the most certain cause.
/// @param page the key with the page's own answer
Cause cause_of(const Value& answer, const Asked& asked, const QuestionSpec& question,
               const AnswerKey& page) {
  const AnswerKey& key = asked.keys.at(question.id);
  if (question.kind != QuestionKind::number) return {};
  if (!asked.student.empty() && !question.draws.empty() && is_right(answer, page)) {
    return {"right for the numbers on the page, but yours differ",
            "use the numbers of the question as it is asked here",
            "right for the numbers on the page"};
  }
  const KnownSlip* slip = slip_that_gives(number_in(answer), key, asked.numbers_for(question.id));
  if (slip != nullptr) {
    return {"not right: " + slip->cause, "mend that one step; the others are right", slip->cause};
  }
  if (const char* unit = other_unit(answer, key); unit != nullptr) {
    return {"the right number in another unit",
            fmt::format("it is off by {}: the question says which unit it wants", unit),
            {},
            true};
  }
  return {};
}

Diagnostic wrong_answer(const PartSpec& part, const TaskSpec& task, const QuestionSpec& question,
                        const Cause& cause) {
  Diagnostic diagnostic =
      story(part, task, fmt::format("the answer to {} is {}", question.id, cause.is));
  diagnostic.evidence = {question.prompt};
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    diagnostic.evidence.push_back(fmt::format("{}: {}", char('a' + i), question.choices[i]));
  }
  diagnostic.help = cause.help;
  if (draws_numbers(task)) {
    diagnostic.commands.emplace_back(
        "all questions", fmt::format("grader --part {} --task {} --list", part.number, task.id));
  }
  return diagnostic;
}

Diagnostic missing_answer(const PartSpec& part, const TaskSpec& task,
                          const QuestionSpec& question) {
  return wrong_answer(part, task, question, {kMissing, "write an answer for it"});
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
  Cause cause = {};  ///< of a wrong answer
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
        judged.problem != nullptr  ? unreadable_line(part, task, *judged.problem)
        : judged.answer == nullptr ? missing_answer(part, task, question)
                                   : wrong_answer(part, task, question, judged.cause));
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

/// "2048"; a choice with what it says, "b: DRAM is the limit".
std::string words_of(const Value& answer, const QuestionSpec& question) {
  const auto* letter = std::get_if<std::string>(&answer);
  if (letter == nullptr) return fmt::format("{:.10g}", number_in(answer));
  const auto choice = static_cast<std::size_t>(letter->front() - 'a');
  return fmt::format("{}: {}", *letter, question.choices.at(choice));
}

AnswerResult answer_result(const Judged& judged) {
  return {.question = judged.question->id,
          .verdict = judged.verdict,
          .given =
              judged.answer == nullptr ? std::string() : words_of(*judged.answer, *judged.question),
          .is_other_unit = judged.cause.is_other_unit,
          .cause = judged.cause.known};
}

/// Adds up the questions that a machine can judge.
/// @param page the keys with the page's own answers
void score_answers(const PartSpec& part, const Asked& asked, const Answers& answers,
                   const std::map<std::string, AnswerKey>& page, TaskResult& result) {
  auto questions =
      judge_questions(asked.task, answers, [&](const QuestionSpec& question, const Value& answer) {
        return is_right(answer, asked.keys.at(question.id));
      });
  for (Judged& judged : questions) {
    if (judged.verdict != Verdict::wrong_answer || judged.answer == nullptr) continue;
    judged.cause = cause_of(*judged.answer, asked, *judged.question, page.at(judged.question->id));
  }
  report_questions(part, asked.task, answers, questions, true, result);
  for (const Judged& judged : questions) result.answers.push_back(answer_result(judged));
  const auto right = std::ranges::count(questions, Verdict::pass, &Judged::verdict);
  result.summary = fmt::format("{} of {} answers are right", right, questions.size());
}

/// The keys with the answers that are right for the student. @throws SpecError
std::map<std::string, AnswerKey> keys_of(std::map<std::string, AnswerKey> keys, const Asked& asked,
                                         const std::filesystem::path& file) {
  for (auto& [question, key] : keys) {
    if (key.formula.empty()) continue;
    try {
      key.answer = right_number(key, asked.numbers_for(question));
    } catch (const FormulaError& error) {
      throw SpecError(
          fmt::format("{}: the formula of {} has no value for some student: {}; "
                      "correct it, or what the question draws",
                      file.string(), question, error.what()));
    }
  }
  return keys;
}

/// A student's copy holds no key: the form is checked, and the points are given later.
void check_form(const PartSpec& part, const TaskSpec& task, const Answers& answers,
                TaskResult& result) {
  const auto questions =
      judge_questions(task, answers, [](const QuestionSpec&, const Value&) { return true; });
  report_questions(part, task, answers, questions, false, result);
  result.graded_later = result.max_score;
  std::ptrdiff_t answered = 0, asked = 0, bonus_answered = 0, bonus_asked = 0;
  for (const QuestionSpec& question : task.questions) {
    const bool is_answered = answers.values.contains(question.id);
    ++(question.bonus ? bonus_asked : asked);
    (question.bonus ? bonus_answered : answered) += is_answered ? 1 : 0;
    if (question.kind == QuestionKind::text) {
      result.cases.push_back({.name = question.id,
                              .verdict = is_answered ? Verdict::pass : Verdict::not_implemented,
                              .hidden = false,
                              .group = question.id});
    }
    // A bonus question may stay open. In an empty file one word stands for all of them.
    if (question.bonus || is_answered || answers.values.empty()) continue;
    if (question.kind != QuestionKind::text) continue;  // told above
    result.diagnostics.push_back(missing_answer(part, task, question));
    if (is_worse(Verdict::not_implemented, result.verdict)) {
      result.verdict = Verdict::not_implemented;
    }
  }
  result.summary = fmt::format("{} of {} questions are answered", answered, asked);
  if (bonus_asked > 0) {
    result.summary += fmt::format(", and {} of {} bonus", bonus_answered, bonus_asked);
  }
  result.summary += "; whether they are right is graded when you hand in";
}

void add_text_note(const TaskSpec& task, const Answers& answers, TaskResult& result) {
  std::size_t texts = 0;
  for (const QuestionSpec& question : task.questions) {
    const bool is_text = question.kind == QuestionKind::text;
    texts += is_text && answers.values.contains(question.id) ? 1 : 0;
  }
  if (texts > 0) result.summary += fmt::format("; {} written for a person to read", texts);
}

/// Whose numbers these are, without a name: a report is shown to others.
void add_numbers_note(const Asked& asked, const Answers& answers, TaskResult& result) {
  if (!draws_numbers(asked.task)) return;
  const bool are_own = !asked.student.empty();
  result.summary += are_own ? "; with the student's own numbers" : "; with the page's numbers";
  if (answers.student.empty() || answers.student == asked.student) return;
  result.for_people.push_back(fmt::format(
      "the file of answers says that they are those of {}, whom this submission is not of",
      answers.student));
  result.summary += ", and not those of whom the file names";
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
  if (auto refused = refused_text(part, task, file)) {
    for (const QuestionSpec& question : task.questions) {
      if (question.kind == QuestionKind::text) continue;
      refused->answers.push_back({.question = question.id, .verdict = refused->verdict});
    }
    return *refused;
  }
  const Answers answers = read_answers(file.text, task);
  const auto key_file = request.solutions / part.directory / "answers.key.toml";
  Asked asked = asked_of_student(task, part.number, student_of(request, answers));
  result = blank_result(asked.task);
  try {
    if (std::filesystem::exists(key_file)) {
      const auto page = load_answer_key(key_file, task);
      asked.keys = keys_of(page, asked, key_file);
      score_answers(part, asked, answers, page, result);
    } else {
      check_form(part, asked.task, answers, result);
    }
  } catch (const SpecError& error) {  // the key's fault is ours
    result = blank_result(task);
    fail_all(result, Verdict::grader_fault);
    result.diagnostics = {explain_grader_fault(error.what(), context_of(part, request, task))};
    return result;
  }
  add_text_note(task, answers, result);
  add_numbers_note(asked, answers, result);
  return result;
}

}  // namespace rooflab
