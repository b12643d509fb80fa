#include <fmt/format.h>

#include "grader/batch/intake/csv.h"
#include "grader/batch/outputs/analysis_page.h"
#include "grader/report/text.h"
#include "grader/spec/median.h"

namespace rooflab {
namespace {

/// What a row may say besides part, task and item; the rest stays empty.
struct Row {
  std::string kind;
  std::string task;
  std::string item = {};
  std::size_t count = 0;
  std::size_t of = 0;
  std::string points = {};
  std::string median = {};
  std::string detail = {};
};

class Table {
 public:
  Table()
      : rows_{{"part", "kind", "task", "item", "count", "of", "points lost", "median", "detail"}} {}

  void add(int part, const Row& row) {
    rows_.push_back({std::to_string(part), row.kind, one_line(row.task), one_line(row.item),
                     std::to_string(row.count), std::to_string(row.of), row.points, row.median,
                     one_line(row.detail)});
  }
  const CsvTable& rows() const { return rows_; }

 private:
  CsvTable rows_;
};

std::string number(double value) { return fmt::format("{:.4g}", value); }

void add_task(Table& table, int part, const TaskAnalysis& task) {
  const double lost = task.max_score * static_cast<double>(task.submissions) - task.points;
  table.add(part, {.kind = "passed",
                   .task = task.id,
                   .count = task.passed,
                   .of = task.submissions,
                   .points = number(lost)});
  for (const PointsLost& one : task.lost) {
    table.add(part, {.kind = one.is_speed ? "lost by speed" : "lost by group",
                     .task = task.id,
                     .item = one.name,
                     .count = one.submissions,
                     .of = task.submissions,
                     .points = number(one.points),
                     .detail = one.title});
  }
  for (const TimedEfficiencies& timed : task.timed) {
    table.add(part, {.kind = "efficiency",
                     .task = task.id,
                     .item = timed.name,
                     .count = timed.efficiencies.size(),
                     .of = task.submissions,
                     .median = number(median_of(timed.efficiencies))});
  }
  for (const CaseFailures& one : task.cases) {
    table.add(part, {.kind = one.is_hidden ? "hidden case failed" : "case failed",
                     .task = task.id,
                     .item = one.name,
                     .count = one.failed,
                     .of = one.ran,
                     .detail = one.group});
  }
  for (const CodeSightings& code : task.codes) {
    table.add(part, {.kind = "code",
                     .task = task.id,
                     .item = code.code,
                     .count = code.sightings.size(),
                     .of = task.submissions});
  }
}

void add_question(Table& table, int part, const QuestionAnalysis& question) {
  const auto add = [&](const char* kind, std::size_t count) {
    table.add(part, {.kind = kind,
                     .task = question.task,
                     .item = question.id,
                     .count = count,
                     .of = question.asked()});
  };
  add("right", question.right);
  add("wrong", question.wrong);
  add("other unit", question.other_unit);
  add("unreadable", question.unreadable);
  add("not answered", question.missing);
  for (const SharedAnswer& shared : question.shared) {
    table.add(part,
              {.kind = "shared wrong answer",
               .task = question.task,
               .item = question.id,
               .count = shared.submissions,
               .of = question.asked(),
               .detail = shared.given + (shared.given.empty() || shared.cause.empty() ? "" : ": ") +
                         shared.cause});
  }
  if (!question.discrimination) return;
  table.add(part, {.kind = "discrimination",
                   .task = question.task,
                   .item = question.id,
                   .count = question.right,
                   .of = question.asked(),
                   .detail = number(question.discrimination->correlation)});
}

void add_runs(Table& table, int part, const JournalAnalysis& task) {
  const Row row{.kind = "runs until passed",
                .task = task.task,
                .count = task.passed,
                .of = task.students,
                .median = number(median_of(task.runs))};
  table.add(part, row);
  Row hints = row;
  hints.kind = "hints until passed";
  hints.median = number(median_of(task.hints));
  table.add(part, hints);
  for (const auto& [code, count] : task.codes) {
    table.add(part, {.kind = "code on the way",
                     .task = task.task,
                     .item = code,
                     .count = count,
                     .of = task.students});
  }
}

}  // namespace

std::string analysis_csv(const ClassAnalysis& analysis) {
  Table table;
  for (const PartAnalysis& part : analysis.parts) {
    for (const TaskAnalysis& task : part.tasks) add_task(table, part.number, task);
    for (const QuestionAnalysis& question : part.questions) {
      add_question(table, part.number, question);
    }
    for (const JournalAnalysis& task : part.runs) add_runs(table, part.number, task);
  }
  return to_csv(table.rows());
}

}  // namespace rooflab
