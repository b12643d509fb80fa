#include "grader/batch/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "grader/batch/outputs/class_results.h"
#include "grader/batch/regrade_rules.h"
#include "grader/batch/store/request_store.h"
#include "grader/batch/whose_numbers.h"
#include "grader/pipeline/seeds.h"
#include "grader/report/evidence.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

class Planner {
 public:
  Planner(Store& store, const Course& course, const PlanRequest& request)
      : store_(store),
        requests_(store),
        course_(course),
        request_(request),
        rules_(request.regrade, course),
        whose_(store) {
    for (const Student& student : store.students()) students_[student.key] = student;
  }

  Plan run() {
    Transaction transaction = store_.begin();
    const std::vector<SubmissionRow> submissions = store_.submissions();
    find_requested(submissions);
    for (const SubmissionRow& submission : submissions) {
      const auto names = names_of(submission, students_.at(submission.student));
      rules_.see(names);
      // Of several to choose from all are graded, so that whoever chooses sees what they come to.
      const bool may_count = submission.counts || submission.candidate;
      if (!may_count || !submission.problem.empty()) continue;
      const auto sources = store_.handed_in(submission.id);
      for (const PartSpec& part : course_.parts) {
        const auto source = sources.find(part.number);
        if (source != sources.end())
          plan(submission, names, subject(submission, part, source->second));
      }
    }
    std::ranges::move(rules_.finish(), std::back_inserter(plan_.said));
    transaction.commit();
    return plan_;
  }

 private:
  /// Partners handed in together, so what one of them was granted is graded again for all.
  void find_requested(const std::vector<SubmissionRow>& submissions) {
    for (const RegradeRequest& one : requests_.all()) {
      if (!one.regrade || !one.grading.empty()) continue;
      for (const SubmissionRow& submission : submissions) {
        if (submission.counts && submission.student == one.student) {
          requested_[{submission.called, one.part}].push_back(one);
        }
      }
    }
  }

  GradingSubject subject(const SubmissionRow& submission, const PartSpec& part,
                         const std::string& source) {
    GradingSubject subject{.part = part.number,
                           .source = source,
                           .device = request_.device,
                           .seed = seed_of_source(request_.seed, source),
                           .versions = course_.versions.at(part.number),
                           .students = {}};
    for (const TaskSpec& task : part.tasks) {
      const bool asks =
          draws_numbers(task) && store_.has_file(source, part.directory + "/" + task.file);
      if (asks) subject.students = whose_.of(submission);
    }
    return subject;
  }

  /// What a grading came to. Evidence that cannot be read is no reason to grade nobody again.
  std::vector<TaskLine> tasks_of(const SubmissionRow& submission, const GradingRow& grading) {
    const std::string evidence = store_.evidence(grading.name);
    if (evidence.empty()) return {};
    try {
      return task_lines(from_evidence(evidence));
    } catch (const EvidenceError& error) {
      plan_.said.push_back(fmt::format(
          "{}, part {}: no rule of --regrade about tasks or codes can choose it, since what it was "
          "graded with cannot be read: {}; name the student to grade it again",
          one_line(submission.called), grading.subject.part, error.what()));
      return {};
    }
  }

  Regrade decide(const SubmissionRow& submission, const std::vector<std::string>& names,
                 const GradingRow& grading, const GradingSubject& wanted) {
    std::optional<std::vector<TaskLine>> tasks;
    const auto read = [&]() -> const std::vector<TaskLine>& {
      if (!tasks) tasks = tasks_of(submission, grading);
      return *tasks;
    };
    const Regrade decision = rules_.decide({names, grading, wanted, read});
    return requested_.contains({submission.called, wanted.part}) ? Regrade::again : decision;
  }

  void plan(const SubmissionRow& submission, const std::vector<std::string>& names,
            const GradingSubject& wanted) {
    const auto grade = store_.grade(submission.id, wanted.part);
    const bool differs = !grade || grade->grading.subject != wanted;
    if (!grade || grade->grading.state == GradingState::pending) {
      if (differs) store_.assign_grading(submission.id, wanted, false);
      ++plan_.new_grades;
    } else {
      const Regrade decision = decide(submission, names, grade->grading, wanted);
      if (decision == Regrade::again || (decision == Regrade::changed && differs)) {
        const bool again = decision == Regrade::again;
        plan_.regrades += store_.assign_grading(submission.id, wanted, again) ? 1U : 0U;
      } else if (differs) {
        plan_.outdated.push_back(fmt::format("{}, part {}", submission.called, wanted.part));
      }
    }
    begin_requested(submission, wanted.part);
  }

  void begin_requested(const SubmissionRow& submission, int part) {
    const auto requests = requested_.find({submission.called, part});
    if (requests == requested_.end()) return;
    for (const RegradeRequest& one : requests->second) {
      if (one.student != submission.student) continue;
      requests_.begin_regrade(one.id, store_.grade(submission.id, part)->grading.name);
      plan_.said.push_back(fmt::format("{}, part {}: graded again, since its request was granted",
                                       submission.called, part));
    }
  }

  Store& store_;
  RequestStore requests_;
  const Course& course_;
  const PlanRequest& request_;
  RegradeRules rules_;
  WhoseNumbers whose_;
  std::map<std::string, Student> students_;
  std::map<std::pair<std::string, int>, std::vector<RegradeRequest>> requested_;
  Plan plan_;
};

}  // namespace

std::vector<std::string> names_of(const SubmissionRow& submission, const Student& student) {
  std::vector<std::string> names = names_of(student);
  names.insert(names.end(), {student.name, submission.id, submission.called});
  return names;
}

Plan plan_gradings(Store& store, const Course& course, const PlanRequest& request) {
  return Planner(store, course, request).run();
}

}  // namespace rooflab
