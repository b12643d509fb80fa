#include "grader/batch/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "grader/batch/intake/late_policy.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<TaskLine> task_lines(Database& database, const std::string& grading) {
  Statement row(
      database,
      "SELECT task, title, bonus, verdict, score, max_score, codes, time_us, efficiency, "
      "roofline_us, flops, bytes, peak, lost_groups FROM task_results WHERE grading = ? ORDER BY "
      "position");
  row.bind(grading);
  std::vector<TaskLine> lines;
  while (row.step()) {
    TaskLine line;
    line.id = row.text();
    line.title = row.text();
    line.bonus = row.truth();
    line.verdict = verdict_of(row.text()).value_or(Verdict::grader_fault);
    line.score = row.real();
    line.max_score = row.real();
    line.codes = words_of(row.text());
    line.time_us = row.optional_real();
    line.efficiency = row.real();
    line.roofline_us = row.real();
    line.flops = row.real();
    line.bytes = row.real();
    line.peak = row.text();
    line.lost_groups = words_of(row.text());
    lines.push_back(std::move(line));
  }
  return lines;
}

/// The last time that anything was graded, so that writing the outputs again changes nothing.
std::string last_graded(Database& database) {
  Statement row(database, "SELECT max(graded_at) FROM gradings");
  row.step();
  const auto time = row.optional_integer();
  if (!time) return "never";
  return utc_time(*time);
}

PartSummary summary_of(const PartSpec& part) {
  PartSummary summary{.number = part.number, .title = part.title};
  for (const TaskSpec& task : part.tasks) {
    if (!task.bonus) summary.max_score += maximum_points(task);
    for (const QuestionSpec& question : task.questions) {
      if (question.kind == QuestionKind::text) summary.max_manual += question.points;
    }
  }
  return summary;
}

class Collector {
 public:
  Collector(Store& store, const Course& course, const LatePolicy& policy)
      : store_(store), course_(course), policy_(policy) {}

  ClassResults run() {
    ClassResults results;
    for (const PartSpec& part : course_.parts) {
      results.parts.push_back(summary_of(part));
      results.versions += (results.versions.empty() ? "" : "; ") + course_.versions.at(part.number);
    }
    results.graded_at = last_graded(store_.database());
    std::map<std::string, std::vector<ManualPoints>> manual;
    for (const ManualRow& row : store_.manual_points()) {
      manual[row.student].push_back(
          {row.part, row.item, row.points, row.max_points, row.comment, row.by});
    }
    std::map<std::string, std::vector<SubmissionRow>> submissions;
    for (SubmissionRow& row : store_.submissions()) {
      submissions[row.student].push_back(std::move(row));
    }
    const std::vector<Student> students = store_.students();
    has_roster_ = std::ranges::any_of(students, &Student::on_roster);
    for (const Student& student : students) {
      const auto own = submissions.find(student.key);
      const bool handed_in = own != submissions.end();
      if (!handed_in && !student.on_roster) continue;  // gone from the folder
      results.students.push_back(
          outcome(student, handed_in ? &own->second : nullptr, manual[student.key]));
    }
    return results;
  }

 private:
  StudentOutcome outcome(const Student& student, const std::vector<SubmissionRow>* submissions,
                         const std::vector<ManualPoints>& manual) {
    StudentOutcome outcome;
    outcome.student = student;
    outcome.manual = manual;
    const SubmissionRow* row = submissions != nullptr ? &submissions->front() : nullptr;
    if (row != nullptr) {
      outcome.submission = row->called;
      outcome.received_at = row->received;
      outcome.notes = row->notes;
      if (!row->problem.empty()) outcome.problems.push_back(row->problem);
      for (const std::string& doubt : row->doubts) outcome.problems.push_back(doubt);
      if (has_roster_ && !student.on_roster) {
        outcome.problems.push_back(
            "nobody on the roster fits this submission; add the student, or rename the submission");
      }
      for (std::size_t i = 1; i < submissions->size(); ++i) {
        outcome.notes.push_back(
            fmt::format("{} counts in place of {}", row->called, (*submissions)[i].called));
      }
    }
    for (const PartSpec& part : course_.parts) {
      PartOutcome one = part_outcome(student, row, part.number);
      for (const ManualPoints& points : manual) {
        if (points.part == part.number) one.manual += points.points;
      }
      if (one.previous_total) *one.previous_total += one.manual;
      if (one.state == PartState::fault) {
        outcome.problems.push_back(
            fmt::format("part {}: the grader failed: {}", part.number, one.why));
      }
      outcome.parts.push_back(std::move(one));
    }
    return outcome;
  }

  PartOutcome part_outcome(const Student& student, const SubmissionRow* row, int part) {
    PartOutcome outcome;
    outcome.part = part;
    if (row == nullptr) return outcome;
    if (!row->problem.empty()) {
      outcome.state = PartState::unreadable;
      outcome.why = row->problem;
      return outcome;
    }
    const auto grade = store_.grade(row->id, part);
    if (!grade) return outcome;
    const auto late = policy_.lateness(names_of(student), part, row->received, row->marked_late);
    outcome.keeps = late.keeps;
    outcome.lateness = late.why;
    if (grade->grading.state != GradingState::graded) {
      outcome.state = PartState::fault;
      outcome.why = grade->grading.state == GradingState::pending
                        ? "it is not graded yet; run the batch again"
                        : grade->grading.why;
    } else {
      outcome.state = PartState::graded;
    }
    fill_scores(outcome, grade->grading.name);
    if (grade->previous) {
      outcome.previous_total = store_.total_of(*grade->previous) * late.keeps;
    }
    return outcome;
  }

  void fill_scores(PartOutcome& outcome, const std::string& grading) {
    Statement row(store_.database(),
                  "SELECT score, bonus, evidence IS NOT NULL FROM gradings WHERE name = ?");
    row.bind(grading);
    if (!row.step()) return;
    const double score = row.real();
    const double bonus = row.real();
    if (outcome.state == PartState::graded) {
      outcome.score = score;
      outcome.bonus = bonus;
    }
    if (row.truth()) outcome.grading = grading;
    outcome.tasks = task_lines(store_.database(), grading);
  }

  Store& store_;
  const Course& course_;
  const LatePolicy& policy_;
  bool has_roster_ = false;
};

}  // namespace

ClassResults collect(Store& store, const Course& course, const LatePolicy& policy) {
  return Collector(store, course, policy).run();
}

}  // namespace rooflab
