#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grader/batch/intake/csv.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/gradebooks.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

std::string joined_lines(const std::vector<std::string>& lines) {
  return one_line(fmt::format("{}", fmt::join(lines, "; ")));
}

/// " without edges masks": what is lost of a task that is not lost as a whole.
std::string lost_words(const TaskLine& task) {
  if (task.lost_groups.empty() || !(task.score > 0)) return {};
  return fmt::format(" without {}", fmt::join(task.lost_groups, " "));
}

/// "gemm pass 10/10; gemv race 6/10 without edges masks (RL0301)"
std::string tasks_of(const PartOutcome& outcome) {
  std::vector<std::string> words;
  for (const TaskLine& task : outcome.tasks) {
    words.push_back(
        fmt::format("{} {} {}/{}{}{}", task.id, name_of(task.verdict), gradebook_points(task.score),
                    gradebook_points(task.max_score), lost_words(task),
                    task.codes.empty() ? "" : fmt::format(" ({})", fmt::join(task.codes, " "))));
  }
  return joined_lines(words);
}

std::string tasks_passed(const PartOutcome& outcome) {
  if (outcome.tasks.empty()) return {};
  std::size_t passed = 0;
  for (const TaskLine& task : outcome.tasks) passed += task.verdict == Verdict::pass ? 1 : 0;
  return fmt::format("{} of {}", passed, outcome.tasks.size());
}

/// "why_memory_bound; estimate"
std::string pending_items(const PartOutcome& outcome) {
  std::vector<std::string> items;
  for (const PendingAnswer& answer : outcome.pending) items.push_back(answer.item);
  return joined_lines(items);
}

std::vector<std::string> row_of(const ClassResults& results, const StudentOutcome& student,
                                const PartOutcome& outcome) {
  const PartSummary& summary = summary_of(results, outcome.part);
  const Missing missing = missing_in(outcome);
  const bool scored = missing <= Missing::points;
  const bool final = missing == Missing::nothing;
  const auto points = [&](double value) { return scored ? gradebook_points(value) : ""; };
  const Student& who = student.student;
  const auto& previous = outcome.previous_total;
  std::vector<std::string> problems = student.problems;
  problems.insert(problems.end(), student.for_people.begin(), student.for_people.end());
  return {one_line(who.key),
          one_line(who.name),
          one_line(who.email),
          one_line(who.login),
          one_line(who.section),
          one_line(who.sis_id),
          who.on_roster ? "yes" : "no",
          fmt::format("{}", outcome.part),
          one_line(summary.title),
          state_name(outcome),
          points(outcome.score),
          gradebook_points(max_score_of(summary, outcome)),
          points(outcome.bonus),
          fmt::format("{:.4g}", outcome.keeps),
          one_line(outcome.lateness),
          gradebook_points(outcome.manual),
          gradebook_points(max_manual_of(summary, outcome)),
          pending_items(outcome),
          gradebook_total(&outcome),
          gradebook_points(max_total(summary, outcome)),
          previous ? gradebook_points(*previous) : "",
          previous && final ? gradebook_points(outcome.total() - *previous) : "",
          regraded_words(outcome),
          tasks_passed(outcome),
          tasks_of(outcome),
          one_line(outcome.why),
          joined_lines(problems),
          joined_lines(student.notes),
          one_line(student.submission),
          student.received_at ? utc_time(*student.received_at) : "",
          "feedback/" + file_stem(who.key) + ".html",
          held_back_words(summary),
          one_line(outcome.checkout)};
}

}  // namespace

std::string grades_csv(const ClassResults& results, const OutputOptions& /*options*/) {
  CsvTable table{{"student",        "name",
                  "email",          "login",
                  "section",        "sis id",
                  "on roster",      "part",
                  "part title",     "state",
                  "score",          "max score",
                  "bonus",          "lateness keeps",
                  "lateness",       "manual",
                  "max manual",     "pending",
                  "total",          "max total",
                  "previous total", "change",
                  "regraded",       "passed",
                  "tasks",          "why",
                  "problems",       "notes",
                  "submission",     "received",
                  "feedback",       "held back",
                  "checkout"}};
  for (const StudentOutcome& student : results.students) {
    for (const PartOutcome& outcome : student.parts) {
      table.push_back(row_of(results, student, outcome));
    }
  }
  return to_csv(table);
}

}  // namespace rooflab
