#include "grader/cli/teaching/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "grader/batch/plan.h"
#include "grader/cli/grading.h"
#include "grader/cli/progress_line.h"
#include "grader/report/evidence.h"
#include "grader/report/terminal.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

const SubmissionRow* submission_of(const std::vector<SubmissionRow>& submissions,
                                   const std::vector<Student>& students, const std::string& who) {
  for (const SubmissionRow& row : submissions) {
    if (!row.counts) continue;
    const auto student = std::ranges::find(students, row.student, &Student::key);
    const auto names = names_of(row, *student);
    if (std::ranges::find(names, who) != names.end()) return &row;
  }
  return nullptr;
}

GradeResult grade_again(const GradingSubject& subject, const SourceFiles& files,
                        const Installation& installation, const ReplayOptions& options,
                        std::vector<RevealedCase>& revealed) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  for (const auto& [path, content] : files) write_file_atomically(folder.path() / path, content);
  Grading grading(installation,
                  {.part = subject.part,
                   .device = subject.device,
                   .unlisted = UnlistedGpu::allow,  // the course may have changed since
                   .sandbox = options.sandbox,
                   .for_grades = true});
  ProgressLine progress;
  return grading.grade_once({.submission = folder.path(),
                             .task = {},
                             .case_number = {},
                             .seed = subject.seed,
                             .students = subject.students,
                             .solutions = installation.solutions(),
                             .jobs = std::max(1U, std::thread::hardware_concurrency()),
                             .causes = options.causes},
                            {.progress = [&](const std::string& text) { progress.show(text); }},
                            nullptr, &revealed);
}

/// All of a task's outcome that is told to a student.
std::string outcome_of(const TaskResult& task) {
  GradeResult one;
  one.tasks = {task};
  return to_evidence(one);
}

bool compare(std::ostream& out, const GradeResult& then, const GradeResult& now) {
  bool same = then.tasks.size() == now.tasks.size();
  for (const TaskResult& task : now.tasks) {
    const auto old = std::ranges::find(then.tasks, task.id, &TaskResult::id);
    if (old == then.tasks.end()) {
      same = false;
      out << fmt::format("  {} was not graded then\n", task.id);
    } else if (outcome_of(*old) == outcome_of(task)) {
      continue;
    } else if (old->verdict == task.verdict && old->score == task.score) {
      same = false;
      out << fmt::format(
          "  {} has the same verdict and {} points, and says something else of them (a batch with "
          "--causes quick is replayed with it too)\n",
          task.id, format_points(task.score));
    } else {
      same = false;
      out << fmt::format("  {} differs: then {}, {} points; now {}, {} points\n", task.id,
                         name_of(old->verdict), format_points(old->score), name_of(task.verdict),
                         format_points(task.score));
    }
  }
  return same;
}

void tell_hidden_cases(std::ostream& out, const char* heading,
                       const std::vector<RevealedCase>& cases) {
  out << heading << (cases.empty() ? ": none\n\n" : ":\n\n");
  for (const RevealedCase& one : cases) {
    out << fmt::format("── {}, hidden case \"{}\"{}: {} ──\n", one_line(one.task),
                       one_line(one.name),
                       one.parameters.empty() ? "" : " (" + one_line(one.parameters) + ")",
                       verdict_words(one.verdict));
    for (const Diagnostic& story : one.diagnostics) print_story(out, story, false);
    if (!one.printed.empty()) out << "it printed:\n" << one.printed << '\n';
    out << '\n';
  }
}

}  // namespace

bool replay(std::ostream& out, Store& store, const Course& course, const std::string& who,
            const Installation& installation, const ReplayOptions& options) {
  const auto submissions = store.submissions();
  const SubmissionRow* submission = submission_of(submissions, store.students(), who);
  if (submission == nullptr) {
    throw BatchError(fmt::format(
        "--replay {}: no submission of the class is by that name; use a key of grades.csv", who));
  }
  bool all_same = true, any = false;
  for (const PartSpec& part : course.parts) {
    const auto grade = store.grade(submission->id, part.number);
    if (!grade) continue;
    const std::string evidence = store.evidence(grade->grading.name);
    if (evidence.empty()) continue;
    any = true;
    const GradingSubject& subject = grade->grading.subject;
    const GradeResult then = from_evidence(evidence);
    std::vector<RevealedCase> revealed;
    const GradeResult now =
        grade_again(subject, store.source(subject.source), installation, options, revealed);
    print_report(out, now, {.colour = false, .html = {}, .all_timings = false});
    out << fmt::format("\nthen: {} of {} points on {} with seed {}, by {}\n",
                       format_points(then.score()), format_points(then.max_score()), subject.device,
                       text_of(subject.seed), subject.versions);
    if (course.versions.at(part.number) != subject.versions) {
      out << fmt::format("now it is {}\n", course.versions.at(part.number));
    }
    if (then.checkout != now.checkout && !then.checkout.empty()) {
      out << fmt::format("then it was commit {} of the course\n", one_line(then.checkout));
    }
    const bool same = compare(out, then, now);
    out << (same ? "every outcome is the same\n\n" : "\n");
    if (options.reveal) {
      const std::string then_revealed = store.revealed(grade->grading.name);
      tell_hidden_cases(out, "Hidden cases that fail, for instructors alone", revealed);
      if (!then_revealed.empty() && then_revealed != to_text(revealed)) {
        tell_hidden_cases(out, "They differ from those of then, which were",
                          revealed_from(then_revealed));
      }
    }
    all_same = all_same && same;
  }
  if (!any) {
    throw BatchError(fmt::format("--replay {}: nothing of this submission was graded", who));
  }
  return all_same;
}

}  // namespace rooflab
