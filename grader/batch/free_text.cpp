#include "grader/batch/free_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "grader/batch/intake/csv.h"
#include "grader/report/text.h"
#include "grader/report/work_log.h"
#include "grader/spec/answers.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

using Key = std::tuple<std::string, int, std::string>;  // student, part, item

/// A question with the task that asks it.
struct Asked {
  const TaskSpec* task = nullptr;
  QuestionSpec question;
};

std::vector<Asked> questions_of(const PartSpec& part) {
  std::vector<Asked> all;
  for (const TaskSpec& task : part.tasks) {
    for (QuestionSpec& question : questions_for_people(task)) {
      all.push_back({&task, std::move(question)});
    }
  }
  return all;
}

/// What a student wrote, as far as it can be read.
std::string answer_to(const Answers& answers, const std::string& question) {
  const auto found = answers.values.find(question);
  if (found == answers.values.end()) {
    // What may be an answer waits for a person, who has the file itself.
    return answers.unclear.contains(question) ? "(cannot be read: see the file in answers/)" : "";
  }
  const auto* text = std::get_if<std::string>(&found->second);
  return text != nullptr ? sanitize(*text) : "";
}

bool says_something(const std::string& answer) {
  return answer.find_first_not_of(" \t\r\n") != std::string::npos;
}

std::map<Key, ManualRow> given_points(Store& store) {
  std::map<Key, ManualRow> given;
  for (ManualRow& row : store.manual_points()) {
    given.insert_or_assign(Key(row.student, row.part, row.item), row);
  }
  return given;
}

/// What a person reads. Everything but the answer waits for them, and the file itself is theirs.
std::string shown_answer(const HandQuestion& question, bool graded) {
  if (question.answer) return *question.answer;
  return graded ? "(a former grader did not keep it: see the file in answers/)"
                : "(not graded yet)";
}

/// Whether points were given for another text than the one that counts now.
bool is_for_another_text(Store& store, const ManualRow& points, const std::string& grading,
                         const HandQuestion& question) {
  if (points.grading.empty() || points.grading == grading || !question.answer) return false;
  const auto before = store.hand_questions(points.grading);
  if (!before) return false;
  const auto read = std::ranges::find(*before, question.item, &HandQuestion::item);
  return read != before->end() && read->answer && read->answer != question.answer;
}

std::vector<FreeText> texts_of(Store& store, const PartSpec& part, const SubmissionRow& submission,
                               const std::map<Key, ManualRow>& given) {
  const auto grade = store.grade(submission.id, part.number);
  const auto recorded = grade ? store.hand_questions(grade->grading.name) : std::nullopt;
  const bool is_graded = grade && grade->grading.state == GradingState::graded;
  const std::vector<Asked> asked = questions_of(part);
  std::vector<FreeText> texts;
  for (const HandQuestion& question : recorded ? *recorded : hand_questions_of(part)) {
    FreeText text;
    text.student = submission.student;
    text.part = part.number;
    text.question = question;
    if (grade) text.grading = grade->grading.name;
    const auto now = std::ranges::find_if(
        asked, [&](const Asked& one) { return one.question.id == question.item; });
    if (now != asked.end()) text.prompt = now->question.prompt;
    text.answer = shown_answer(question, is_graded);
    text.to_come = !question.answer && !is_graded;
    const auto points = given.find(Key(text.student, text.part, question.item));
    text.is_new = points != given.end() && is_graded &&
                  is_for_another_text(store, points->second, grade->grading.name, question);
    text.waits =
        !text.to_come && says_something(text.answer) && (points == given.end() || text.is_new);
    texts.push_back(std::move(text));
  }
  return texts;
}

/// As much of an answer as spreadsheets keep in a cell: 32,767 UTF-16 units, of which a character
/// is one or two. Longer cells are cut without a word, and some readers refuse them.
std::string cell_of(const std::string& answer) {
  constexpr std::size_t kLongest = 16'000;
  const std::string kept = shorten(answer, kLongest);
  return kept.size() < answer.size() ? kept + " (cut here: see the file in answers/)" : answer;
}

std::string state_of(const FreeText& text, bool given) {
  const char* state = text.waits || text.to_come ? "pending" : given ? "graded" : "nothing written";
  return text.is_strangers ? fmt::format("{}, not on the roster", state) : state;
}

}  // namespace

std::vector<HandQuestion> hand_questions_of(const PartSpec& part) {
  std::vector<HandQuestion> questions;
  for (const Asked& one : questions_of(part)) {
    questions.push_back(
        {.item = one.question.id, .max_points = one.question.points, .bonus = one.question.bonus});
  }
  return questions;
}

std::map<std::string, std::string> texts_in(const std::filesystem::path& sources,
                                            const PartSpec& part) {
  std::map<const TaskSpec*, Answers> read;
  std::map<std::string, std::string> texts;
  for (const auto& [task, question] : questions_of(part)) {
    if (task->kind != TaskKind::answers) continue;
    const auto file = sources / part.directory / task->file;
    if (!std::filesystem::exists(file)) continue;
    if (!read.contains(task)) read[task] = read_answers(read_file(file), *task);
    texts[question.id] = answer_to(read[task], question.id);
  }
  return texts;
}

std::map<std::string, std::string> work_logs_in(const GradeResult& result) {
  std::map<std::string, std::string> texts;
  for (const TaskResult& task : result.tasks) {
    if (task.work_log) texts[task.id] = work_log_text(*task.work_log);
  }
  return texts;
}

std::vector<FreeText> free_texts(Store& store, const Course& course) {
  const auto given = given_points(store);
  std::set<std::string> roster;
  for (const Student& student : store.students()) {
    if (student.on_roster) roster.insert(student.key);
  }
  std::vector<FreeText> all;
  for (const SubmissionRow& submission : store.submissions()) {
    if (!submission.counts || !submission.problem.empty()) continue;
    for (const auto& [number, source] : store.handed_in(submission.id)) {
      const auto part = std::ranges::find(course.parts, number, &PartSpec::number);
      if (part == course.parts.end()) continue;
      for (FreeText& text : texts_of(store, *part, submission, given)) {
        text.is_strangers = !roster.empty() && !roster.contains(submission.student);
        all.push_back(std::move(text));
      }
    }
  }
  std::ranges::stable_partition(all, [](const FreeText& text) { return !text.is_strangers; });
  return all;
}

std::string rubric_page(const Course& course) {
  std::string page;
  for (const PartSpec& part : course.parts) {
    const auto keys = course.keys.find(part.number);
    if (keys == course.keys.end()) continue;
    for (const auto& [task, question] : questions_of(part)) {
      const auto key = keys->second.find(question.id);
      if (key == keys->second.end() || key->second.rubric.empty()) continue;
      page += fmt::format("## Part {}, {} ({} points{})\n\n{}\n\n", part.number, question.id,
                          format_points(question.points), question.bonus ? ", bonus" : "",
                          question.prompt);
      for (const RubricItem& item : key->second.rubric) {
        page += fmt::format("- {}: {}\n", format_points(item.points), item.text);
      }
      page += '\n';
    }
  }
  return page.empty() ? page : "# What the free texts earn points for\n\n" + page;
}

std::string free_text_table(Store& store, const Course& course) {
  const auto given = given_points(store);
  CsvTable table = {
      {"student", "part", "item", "points", "max", "comment", "by", "state", "question", "answer"}};
  for (const FreeText& text : free_texts(store, course)) {
    const auto row = given.find(Key(text.student, text.part, text.question.item));
    // Points for an earlier text are left out: a table that is filled in would confirm them.
    const bool known = row != given.end() && !text.is_new;
    table.push_back({text.student, std::to_string(text.part), text.question.item,
                     known ? fmt::format("{}", row->second.points) : "",
                     format_points(text.question.max_points), known ? row->second.comment : "",
                     known ? row->second.by : "", state_of(text, known), text.prompt,
                     cell_of(text.answer)});
  }
  return to_csv(table);
}

}  // namespace rooflab
