#include "grader/batch/collect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "grader/batch/counted_grade.h"
#include "grader/batch/free_text.h"
#include "grader/batch/intake/late_policy.h"
#include "grader/batch/neighbours.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/review_words.h"
#include "grader/batch/store/choice_store.h"
#include "grader/batch/store/request_store.h"
#include "grader/report/evidence.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

PartSummary summary_of(const PartSpec& part) {
  PartSummary summary{.number = part.number, .title = part.title};
  for (const TaskSpec& task : part.tasks) {
    if (!task.bonus) summary.max_score += maximum_points(task);
  }
  for (const HandQuestion& question : hand_questions_of(part)) {
    if (!question.bonus) summary.max_manual += question.max_points;
  }
  return summary;
}

/// Every maximum that gradings of the part were recorded with, and of how many students.
std::map<double, std::size_t> recorded_maxima(const ClassResults& results, int part) {
  std::map<double, std::size_t> maxima;
  for (const StudentOutcome& student : results.students) {
    for (const PartOutcome& outcome : student.parts) {
      if (outcome.part == part && outcome.max_score) {
        ++maxima[two_decimals(*outcome.max_score + outcome.max_manual.value_or(0))];
      }
    }
  }
  return maxima;
}

/// A part is out of what its gradings are recorded with, whatever part.toml says by now. Where they
/// disagree the largest counts for the class, so that nobody has more points than there are.
void take_recorded_maximum(ClassResults& results, PartSummary& summary) {
  const auto maxima = recorded_maxima(results, summary.number);
  if (maxima.empty()) return;
  double largest = -1;
  for (const StudentOutcome& student : results.students) {
    for (const PartOutcome& outcome : student.parts) {
      if (outcome.part != summary.number || !outcome.max_score) continue;
      const double manual = outcome.max_manual.value_or(0);
      if (*outcome.max_score + manual <= largest) continue;
      largest = *outcome.max_score + manual;
      summary.max_score = *outcome.max_score;
      summary.max_manual = manual;
    }
  }
  if (maxima.size() == 1) return;
  std::vector<std::string> words;
  for (const auto& [maximum, students] : maxima) {
    words.push_back(fmt::format("{} {} out of {}", students, students == 1 ? "student" : "students",
                                format_points(maximum)));
  }
  results.problems.push_back(
      fmt::format("part {} was graded with different points, since it was changed in between: {}; "
                  "--regrade changed grades all of them as the part is now",
                  summary.number, fmt::join(words, ", ")));
}

class Collector {
 public:
  Collector(Store& store, const Course& course, const LatePolicy& policy, TaskLinesOf* known)
      : store_(store),
        course_(course),
        policy_(policy),
        known_(known),
        counts_(regrade_counts(store, policy)) {}

  ClassResults run() {
    ClassResults results;
    results.slip_days_each = policy_.slip_days().each();
    for (const PartSpec& part : course_.parts) {
      results.parts.push_back(summary_of(part));
      results.versions += (results.versions.empty() ? "" : "; ") + course_.versions.at(part.number);
    }
    // Not the time of day, so that writing the outputs again changes nothing.
    const auto graded_at = store_.last_graded_at();
    results.graded_at = graded_at ? utc_time(*graded_at) : "never";
    std::map<std::string, std::vector<ManualPoints>> manual;
    for (const ManualRow& row : store_.manual_points()) {
      manual[row.student].push_back(
          {row.part, row.item, row.points, row.max_points, row.comment, row.by, row.grading});
    }
    std::map<std::string, std::vector<SubmissionRow>> submissions;
    for (SubmissionRow& row : store_.submissions()) {
      submissions[row.student].push_back(std::move(row));
    }
    candidates_ = ChoiceStore(store_).candidates();
    comments_ = comments_of_review(store_, course_);
    for (RegradeRequest& request : RequestStore(store_).all()) {
      requests_[request.student].push_back(std::move(request));
    }
    for (FreeText& text : free_texts(store_, course_)) {
      texts_[{text.student, text.part}].push_back(std::move(text));
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
    for (PartSummary& summary : results.parts) take_recorded_maximum(results, summary);
    note_neighbours(results, store_, course_);
    std::ranges::move(unread_, std::back_inserter(results.problems));
    return results;
  }

 private:
  StudentOutcome outcome(const Student& student, const std::vector<SubmissionRow>* submissions,
                         const std::vector<ManualPoints>& manual) {
    StudentOutcome outcome;
    outcome.student = student;
    outcome.manual = manual;
    outcome.comments = comments_[student.key];
    outcome.requests = requests_[student.key];
    outcome.slip_days = policy_.slip_days().each() - policy_.slip_days().left(names_of(student));
    if (submissions == nullptr) {
      for (const PartSpec& part : course_.parts) outcome.parts.push_back(blank(part.number));
    } else {
      if (has_roster_ && !student.on_roster) outcome.problems.push_back(stranger_words(student));
      const auto candidates = candidates_.find(student.key);
      if (candidates != candidates_.end() && !submissions->front().counts) {
        leave_undecided(candidates->second, outcome);
      } else {
        take_submission(*submissions, outcome);
      }
    }
    for (PartOutcome& one : outcome.parts) take_points(one, outcome);
    return outcome;
  }

  static PartOutcome blank(int part) {
    PartOutcome outcome;
    outcome.part = part;
    return outcome;
  }

  static std::string stranger_words(const Student& student) {
    return "nobody on the roster fits this submission; add the student, or rename the submission" +
           std::string(student.canvas_id.empty()
                           ? ""
                           : "; if it is a group's, have a column `group` in the roster with the "
                             "group's name, as Canvas's export of groups has it");
  }

  void take_submission(const std::vector<SubmissionRow>& submissions, StudentOutcome& outcome) {
    const SubmissionRow& row = submissions.front();
    outcome.submission = row.called;
    outcome.platform = row.platform;
    outcome.return_name = row.return_name;
    outcome.received_at = row.received;
    outcome.notes = row.notes;
    if (!row.problem.empty()) outcome.problems.push_back(row.problem);
    for (const std::string& doubt : row.doubts) outcome.problems.push_back(doubt);
    for (std::size_t i = 1; i < submissions.size(); ++i) {
      outcome.notes.push_back(
          fmt::format("{} counts in place of {}", row.called, submissions[i].called));
    }
    for (const PartSpec& part : course_.parts) {
      outcome.parts.push_back(part_outcome(outcome.student, row, part.number));
    }
    if (row.problem.empty()) take_lateness(row, outcome);
  }

  /// Nothing is known of a part that one of the candidates has before a person has chosen.
  void leave_undecided(const std::vector<SubmissionRow>& candidates, StudentOutcome& outcome) {
    std::vector<std::string> names;
    std::set<int> handed_in;
    for (const SubmissionRow& one : candidates) {
      names.push_back(name_among(one, candidates));
      for (const auto& [part, source] : store_.handed_in(one.id)) handed_in.insert(part);
    }
    outcome.submission = fmt::format("{}", fmt::join(names, " and "));
    const std::string why = fmt::format(
        "{}: no time of a platform says which is the newest; choose in grader review, or with "
        "grader batch --choose NAME",
        kChoose);
    outcome.problems.push_back(why);
    for (const SubmissionRow& one : candidates) {
      outcome.problems.insert(outcome.problems.end(), one.doubts.begin(), one.doubts.end());
    }
    for (const PartSpec& part : course_.parts) {
      PartOutcome one = blank(part.number);
      if (handed_in.contains(part.number)) {
        one.state = PartState::undecided;
        one.why = why;
      }
      outcome.parts.push_back(std::move(one));
    }
  }

  void take_points(PartOutcome& one, StudentOutcome& outcome) {
    for (ManualPoints& points : outcome.manual) {
      if (points.part != one.part) continue;
      one.manual += points.points;
      add_excess(outcome, points);
      note_regrade(points, outcome);
    }
    if (one.previous_total) *one.previous_total += one.manual;
    if (one.state == PartState::fault) {
      outcome.problems.push_back(fmt::format("part {}: the grader failed: {}", one.part, one.why));
    }
  }

  /// What lateness takes of each part that was graded, by its grade as it stands. One without
  /// points costs no slip days.
  void take_lateness(const SubmissionRow& row, StudentOutcome& outcome) {
    const std::vector<std::string> names = names_of(outcome.student);
    std::vector<int> graded;
    for (const PartOutcome& one : outcome.parts) {
      if (one.state != PartState::not_submitted) graded.push_back(one.part);
    }
    int left = policy_.slip_days().left(names);
    for (const int part : policy_.in_order_of_due(std::move(graded))) {
      PartOutcome& one = *std::ranges::find(outcome.parts, part, &PartOutcome::part);
      const bool has_points = one.score + one.bonus > 0;
      const LatePolicy::Lateness late =
          policy_.lateness(names, part, row.received, row.marked_late, has_points ? left : 0);
      one.keeps = late.keeps;
      one.lateness = late.why;
      if (one.previous_total) *one.previous_total *= late.keeps;
      left -= late.slip_days;
    }
    outcome.slip_days = policy_.slip_days().each() - left;
  }

  /// Before lateness and points by hand.
  PartOutcome part_outcome(const Student& student, const SubmissionRow& row, int part) {
    PartOutcome outcome = blank(part);
    if (!row.problem.empty()) {
      outcome.state = PartState::unreadable;
      outcome.why = row.problem;
      return outcome;
    }
    const auto grade = store_.grade(row.id, part);
    if (!grade) return outcome;
    newest_grading_[{student.key, part}] = grade->grading.name;
    const auto [grading, other, is_earlier] = counted_grade(store_, *grade, counts_);
    outcome.state = state_of(grading.state);
    outcome.why = grading.why;
    outcome.checkout = grading.checkout;
    fill_points(outcome, grading.name);
    fill_tasks(outcome, student.key, grading.name);
    if (outcome.state == PartState::graded) add_free_texts(outcome, student.key);
    outcome.previous_total = other;
    outcome.earlier_counts = is_earlier;
    return outcome;
  }

  /// Points of before a change of the part may be more than there are by now.
  void add_excess(StudentOutcome& outcome, const ManualPoints& points) {
    for (const FreeText& text : texts_[{outcome.student.key, points.part}]) {
      if (text.question.item != points.item || points.points <= text.question.max_points) continue;
      outcome.problems.push_back(
          fmt::format("part {}, {}: {} points were given by hand, of {} that there are; give them "
                      "again with --manual",
                      points.part, points.item, format_points(points.points),
                      format_points(text.question.max_points)));
    }
  }

  /// Points beside a task were given for what the grader said then. Free text has its own mark.
  void note_regrade(ManualPoints& points, StudentOutcome& outcome) {
    const auto newest = newest_grading_.find({outcome.student.key, points.part});
    if (points.grading.empty() || newest == newest_grading_.end()) return;
    const bool is_text = std::ranges::any_of(
        texts_[{outcome.student.key, points.part}],
        [&](const FreeText& text) { return text.question.item == points.item; });
    points.is_before_regrade = !is_text && points.grading != newest->second;
    if (!points.is_before_regrade) return;
    outcome.for_people.push_back(
        fmt::format("part {}, {}: {} by {}, given before this regrade: check", points.part,
                    one_line(points.item), signed_points(points.points),
                    points.by.empty() ? "somebody" : one_line(points.by)));
  }

  static PartState state_of(GradingState state) {
    switch (state) {
      case GradingState::pending:
        return PartState::ungraded;
      case GradingState::graded:
        return PartState::graded;
      case GradingState::fault:
        return PartState::fault;
    }
    return PartState::fault;
  }

  void add_free_texts(PartOutcome& outcome, const std::string& student) {
    outcome.max_manual = 0;
    for (const FreeText& text : texts_[{student, outcome.part}]) {
      if (!text.question.bonus) *outcome.max_manual += text.question.max_points;
      if (text.waits) outcome.pending.push_back({text.question.item, text.question.max_points});
    }
  }

  void fill_points(PartOutcome& outcome, const std::string& grading) {
    const auto points = store_.points_of(grading);
    if (!points || outcome.state != PartState::graded) return;
    outcome.score = points->score;
    outcome.bonus = points->bonus;
    outcome.max_score = points->max_score;
  }

  /// Evidence that cannot be read costs the details of its grading alone.
  void fill_tasks(PartOutcome& outcome, const std::string& student, const std::string& grading) {
    if (known_ != nullptr && known_->contains(grading)) {
      outcome.grading = grading;
      outcome.tasks = known_->at(grading);
      return;
    }
    const std::string evidence = store_.evidence(grading);
    if (evidence.empty()) return;
    outcome.grading = grading;
    try {
      outcome.tasks = task_lines(from_evidence(evidence));
      if (known_ != nullptr) known_->emplace(grading, outcome.tasks);
    } catch (const EvidenceError& error) {
      outcome.tasks_unread = true;
      unread_.push_back(
          fmt::format("{}, part {}: the points are known, and what they were given for cannot be "
                      "read: {}; grade it again with --regrade",
                      one_line(student), outcome.part, error.what()));
    }
  }

  Store& store_;
  const Course& course_;
  const LatePolicy& policy_;
  TaskLinesOf* known_;
  RegradeCounts counts_;
  std::map<std::string, std::vector<SubmissionRow>> candidates_;
  std::map<std::string, std::vector<RegradeRequest>> requests_;
  std::map<std::pair<std::string, int>, std::vector<FreeText>> texts_;
  std::map<std::pair<std::string, int>, std::string> newest_grading_;
  std::map<std::string, std::vector<FileComment>> comments_;
  std::vector<std::string> unread_;
  bool has_roster_ = false;
};

}  // namespace

ClassResults collect(Store& store, const Course& course, const LatePolicy& policy,
                     TaskLinesOf* known) {
  return Collector(store, course, policy, known).run();
}

}  // namespace rooflab
