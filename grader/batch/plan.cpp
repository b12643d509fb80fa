#include "grader/batch/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "grader/batch/batch_folder.h"
#include "grader/batch/whose_numbers.h"
#include "grader/pipeline/seeds.h"

namespace rooflab {
namespace {

class Planner {
 public:
  Planner(Store& store, const Course& course, const PlanRequest& request)
      : store_(store), course_(course), request_(request), whose_(store) {
    for (const Student& student : store.students()) students_[student.key] = student;
    for (const std::string& who : request.regrade) {
      if (who == "failed") {
        failed_ = true;
      } else if (who == "changed") {
        changed_ = true;
      } else {
        unseen_.insert(who);
      }
    }
    names_ = unseen_;
  }

  Plan run() {
    Transaction transaction = store_.begin();
    for (const SubmissionRow& submission : store_.submissions()) {
      const bool named = is_named(submission);
      if (!submission.counts || !submission.problem.empty()) continue;
      const auto sources = store_.handed_in(submission.id);
      for (const PartSpec& part : course_.parts) {
        const auto source = sources.find(part.number);
        if (source != sources.end())
          plan(submission, named, subject(submission, part, source->second));
      }
    }
    if (!unseen_.empty()) {
      throw BatchError(fmt::format(
          "--regrade {}: no submission of the class is by that name; use a student's key, e-mail "
          "address or login as grades.csv has them, failed, or changed",
          *unseen_.begin()));
    }
    transaction.commit();
    return plan_;
  }

 private:
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

  bool is_named(const SubmissionRow& submission) {
    const Student& student = students_.at(submission.student);
    bool named = false;
    for (const std::string& name : names_of(submission, student)) {
      if (!names_.contains(name)) continue;
      unseen_.erase(name);
      named = true;
    }
    return named;
  }

  void plan(const SubmissionRow& submission, bool named, const GradingSubject& wanted) {
    const auto grade = store_.grade(submission.id, wanted.part);
    if (!grade) {
      store_.assign_grading(submission.id, wanted, false);
      ++plan_.new_grades;
      return;
    }
    const GradingState state = grade->grading.state;
    const bool differs = grade->grading.subject != wanted;
    if (state == GradingState::pending) {
      if (differs) store_.assign_grading(submission.id, wanted, false);
      ++plan_.new_grades;
      return;
    }
    const bool again = named || (failed_ && state == GradingState::fault);
    if (again || (changed_ && differs)) {
      plan_.regrades += store_.assign_grading(submission.id, wanted, again) ? 1U : 0U;
    } else if (differs) {
      plan_.outdated.push_back(fmt::format("{}, part {}", submission.called, wanted.part));
    }
  }

  Store& store_;
  const Course& course_;
  const PlanRequest& request_;
  WhoseNumbers whose_;
  std::map<std::string, Student> students_;
  bool failed_ = false, changed_ = false;
  std::set<std::string> names_, unseen_;
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
