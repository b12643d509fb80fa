#include "grader/batch/outputs/gradescope_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "grader/batch/outputs/class_words.h"
#include "grader/report/terminal.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestOutput = 20'000;  // characters: a test is read on one screen or two

/// The stories of a task as plain text, which Gradescope shows as it is.
std::string output_of(const TaskLine& line, const TaskResult* task) {
  std::ostringstream out;
  out << name_of(line.verdict) << '\n';
  if (task == nullptr) return out.str();
  for (const Timing& timing : task->timings) {
    out << fmt::format("{}: {}{}, {} of the roofline\n", one_line(timing.name),
                       format_time_us(timing.time_us), format_spread(timing),
                       format_percent(timing.efficiency));
  }
  for (const GroupResult& group : task->groups) {
    if (task->groups.size() < 2) break;
    out << fmt::format("{}: {}, {} of {}\n", one_line(group.name), verdict_words(group.verdict),
                       format_points(group.score), format_points(group.max_score));
  }
  for (const Diagnostic& story : task->diagnostics) {
    out << '\n';
    print_story(out, story, false);
  }
  return shorten(sanitize(out.str()), kLongestOutput);
}

const TaskResult* task_of(const GradeResult* grading, const std::string& id) {
  if (grading == nullptr) return nullptr;
  for (const TaskResult& task : grading->tasks) {
    if (task.id == id) return &task;
  }
  return nullptr;
}

Json test_json(const std::string& name, const std::string& number, const std::string& output) {
  return {{"name", name},     {"name_format", "text"},   {"number", number},
          {"output", output}, {"output_format", "text"}, {"visibility", "visible"}};
}

const char* no_score_words(Missing missing) {
  switch (missing) {
    case Missing::nothing:
      return "";
    case Missing::points:
      return "The score is not final: answers wait for a person. Instructor: give points for them "
             "with --manual, and upload the new file.\n";
    case Missing::choice:
      return "There is no score: several submissions came in, and it is not known which is the "
             "newest. Instructor: choose one, and upload the new file.\n";
    case Missing::grading:
      return "There is no score: a part is not graded yet. Instructor: run the batch again, which "
             "goes on with it, and upload the new file.\n";
    case Missing::fault:
      return "There is no score: the grader failed on a part, which is not the student's fault. "
             "Instructor: grade the class again, which tries what failed, and upload the new "
             "file.\n";
  }
  return "";
}

}  // namespace

GradescopeJson::GradescopeJson(const ClassResults& results, const StudentOutcome& student,
                               std::optional<Standing> standing)
    : results_(results), student_(student), standing_(standing), missing_(missing_in(student)) {
  for (const std::string& problem :
       problems_beside(student, {PartState::undecided, PartState::fault}))
    output_ += one_line(problem) + ".\n";
  output_ += no_score_words(missing_);
}

void GradescopeJson::add_test(Json test, double score, double max_score) {
  if (scores_tests()) {
    test["score"] = two_decimals(score);
    test["max_score"] = two_decimals(max_score);
  }
  tests_.push_back(std::move(test));
}

void GradescopeJson::add_task(const PartView& part, std::size_t index) {
  const TaskLine& line = part.outcome.tasks[index];
  Json test = test_json(one_line(fmt::format("Part {}, {}: {}{}", part.outcome.part, line.id,
                                             line.title, line.bonus ? " (bonus)" : "")),
                        fmt::format("{}.{}", part.outcome.part, index + 1),
                        output_of(line, task_of(part.grading, line.id)));
  const bool judged =
      line.verdict != Verdict::not_applicable && line.verdict != Verdict::grader_fault;
  if (judged) test["status"] = line.verdict == Verdict::pass ? "passed" : "failed";
  test["tags"] = {fmt::format("part {}", part.outcome.part), name_of(line.verdict)};
  add_test(std::move(test), line.score * kept_in_tests(part.outcome), line.max_score);
}

/// One test for all tasks of a part, where nobody can read which they were.
void GradescopeJson::add_unread_tasks(const PartView& part) {
  const PartOutcome& outcome = part.outcome;
  add_test(test_json(one_line(fmt::format("Part {}, {}", outcome.part, part.summary.title)),
                     fmt::format("{}", outcome.part),
                     "The details of this part could not be read; ask your instructor for them."),
           (outcome.score + outcome.bonus) * kept_in_tests(outcome),
           max_score_of(part.summary, outcome));
}

/// Without a total Gradescope adds up the tests, so lateness has to be in them.
double GradescopeJson::kept_in_tests(const PartOutcome& outcome) const {
  return missing_ == Missing::points ? outcome.keeps : 1;
}

void GradescopeJson::add_manual(const PartView& part) {
  const std::string number = fmt::format("{}", part.outcome.part);
  const auto test = [&](const std::string& item, const std::string& output) {
    return test_json(one_line(fmt::format("Part {}, by hand: {}", number, item)), number, output);
  };
  for (const ManualPoints& manual : manual_points_of(student_, part.outcome.part)) {
    add_test(test(manual.item, sanitize(manual.comment)), manual.points,
             manual.max_points.value_or(std::max(0.0, manual.points)));
  }
  for (const FileComment& comment : student_.comments) {
    if (comment.part != part.outcome.part) continue;
    std::string where = comment.file.empty() ? "the submission as a whole" : comment.file;
    if (comment.line > 0) where += fmt::format(":{}", comment.line);
    tests_.push_back(test_json(one_line(fmt::format("Part {}, comment on {}", number, where)),
                               number, sanitize(comment.text)));
  }
  for (const PendingAnswer& answer : part.outcome.pending) {
    tests_.push_back(test(answer.item, fmt::format("waits for a person, who gives up to {} points",
                                                   format_points(answer.max_points))));
  }
}

void GradescopeJson::add(const PartView& part) {
  const PartOutcome& outcome = part.outcome;
  const std::string sentence = part_sentence(part.summary, outcome);
  output_ += fmt::format("Part {}: {}\n", outcome.part, sentence);
  if (part.grading != nullptr) execution_time_s_ += part.grading->build_s + part.grading->run_s;
  if (outcome.state == PartState::graded && outcome.tasks_unread) {
    add_unread_tasks(part);
  } else if (outcome.state == PartState::graded) {
    for (std::size_t i = 0; i < outcome.tasks.size(); ++i) add_task(part, i);
  } else {
    Json test = test_json(one_line(fmt::format("Part {}, {}", outcome.part, part.summary.title)),
                          fmt::format("{}", outcome.part), sentence);
    if (missing_in(outcome) == Missing::nothing) test["status"] = "failed";
    add_test(std::move(test), 0, part.summary.max_score);
  }
  add_manual(part);
  parts_.push_back(part_json(part));
}

Json GradescopeJson::part_json(const PartView& part) {
  const PartOutcome& outcome = part.outcome;
  const Missing missing = missing_in(outcome);
  Json json{{"part", outcome.part}, {"state", state_name(outcome)}};
  if (!outcome.checkout.empty()) json["checkout"] = sanitize(outcome.checkout);
  if (missing <= Missing::points) {
    json["score"] = two_decimals(outcome.score);
    json["bonus"] = two_decimals(outcome.bonus);
    json["lateness_keeps"] = outcome.keeps;
    json["manual"] = two_decimals(outcome.manual);
  }
  if (const auto total = total_of(outcome)) json["total"] = two_decimals(*total);
  json["max_total"] = two_decimals(max_total(part.summary, outcome));
  for (const PendingAnswer& answer : outcome.pending) {
    json["pending"].push_back(sanitize(answer.item));
  }
  return json;
}

std::string GradescopeJson::finish() && {
  Json document{{"extra_data",
                 {{"made_by", "rooflab"},
                  {"student", sanitize(student_.student.key)},
                  {"device", sanitize(results_.device)},
                  {"time_kind", sanitize(results_.time_kind)},
                  {"versions", sanitize(results_.versions)},
                  {"graded_at", sanitize(results_.graded_at)},
                  {"parts", parts_}}}};
  if (const auto total = total_of(student_)) document["score"] = two_decimals(*total);
  if (execution_time_s_ > 0) document["execution_time"] = std::lround(execution_time_s_);
  document["output"] = output_;
  document["output_format"] = "text";
  document["test_output_format"] = "text";
  document["test_name_format"] = "text";
  document["visibility"] = "visible";
  document["stdout_visibility"] = "hidden";
  document["tests"] = tests_;
  if (standing_ && scores_tests()) {
    document["leaderboard"] = {
        {{"name", "Points"}, {"value", two_decimals(standing_->points)}, {"order", "desc"}},
        {{"name", "Mean efficiency, %"},
         {"value", two_decimals(100 * standing_->efficiency)},
         {"order", "desc"}}};
  }
  return document.dump(2) + "\n";
}

}  // namespace rooflab
