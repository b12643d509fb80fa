#include "grader/batch/compare_classes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "grader/batch/collect.h"
#include "grader/batch/intake/csv.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

using Place = std::pair<std::string, int>;  ///< key of a student, part

/// Where a class holds a grade.
struct Graded {
  const StudentOutcome* student = nullptr;
  const PartOutcome* outcome = nullptr;
};

std::map<Place, Graded> grades_of(const ClassResults& results) {
  std::map<Place, Graded> grades;
  for (const StudentOutcome& student : results.students) {
    for (const PartOutcome& outcome : student.parts) {
      grades[{student.student.key, outcome.part}] = {&student, &outcome};
    }
  }
  return grades;
}

std::string outcome_words(const TaskLine& task) {
  return fmt::format("{} {}/{}", name_of(task.verdict), format_points(task.score),
                     format_points(task.max_score));
}

std::string words_of(const TaskLine& task) {
  return outcome_words(task) +
         (task.codes.empty() ? "" : fmt::format(" ({})", fmt::join(task.codes, " ")));
}

std::vector<ChangedTask> changed_tasks(const PartOutcome& before, const PartOutcome& now) {
  std::vector<ChangedTask> changed;
  for (const TaskLine& task : now.tasks) {
    const auto old = std::ranges::find(before.tasks, task.id, &TaskLine::id);
    const std::string then = old == before.tasks.end() ? "" : words_of(*old);
    if (then != words_of(task)) changed.push_back({task.id, then, words_of(task)});
  }
  for (const TaskLine& task : before.tasks) {
    if (std::ranges::find(now.tasks, task.id, &TaskLine::id) == now.tasks.end()) {
      changed.push_back({task.id, words_of(task), ""});
    }
  }
  return changed;
}

std::optional<double> total_of_grade(const PartOutcome* outcome) {
  if (outcome == nullptr || missing_in(*outcome) > Missing::points) return std::nullopt;
  return outcome->total();
}

/// What decides a grade besides what was handed in, and differs.
void add_circumstances(const GradingSubject& before, const GradingSubject& now,
                       std::vector<std::string>& reasons) {
  if (before.source != now.source) reasons.emplace_back("other files were handed in");
  if (before.versions != now.versions) {
    reasons.push_back(fmt::format("grader or course are others: {} before, {} now",
                                  one_line(before.versions), one_line(now.versions)));
  }
  if (before.device != now.device) {
    reasons.push_back(fmt::format("the device is another: {} before, {} now",
                                  one_line(before.device), one_line(now.device)));
  }
  if (before.students != now.students) reasons.emplace_back("the questions' numbers are others'");
  // Other files have a seed of their own in any case.
  if (before.source == now.source && !(before.seed == now.seed)) {
    reasons.emplace_back("the inputs were drawn from another seed");
  }
}

std::vector<std::string> reasons_of(const GradedClass& before, const PartOutcome& then,
                                    const GradedClass& now, const PartOutcome& one) {
  std::vector<std::string> reasons;
  if (then.state != one.state) {
    reasons.push_back(
        fmt::format("it is {} now, and was {}", name_of(one.state), name_of(then.state)));
  }
  const auto old_subject = before.subject_of(then.grading);
  const auto new_subject = now.subject_of(one.grading);
  if (old_subject && new_subject) add_circumstances(*old_subject, *new_subject, reasons);
  if (then.keeps != one.keeps) {
    reasons.push_back(
        fmt::format("lateness keeps {:.4g} of the points, and kept {:.4g}", one.keeps, then.keeps));
  }
  if (then.manual != one.manual) {
    reasons.push_back(fmt::format("points by hand: {} now, {} before", format_points(one.manual),
                                  format_points(then.manual)));
  }
  if (reasons.empty()) {
    reasons.emplace_back(
        "nothing that is known to decide a grade differs: times were measured, or "
        "the program does not do the same each time");
  }
  return reasons;
}

bool differs(const PartOutcome& before, const PartOutcome& now) {
  return before.state != now.state || total_of_grade(&before) != total_of_grade(&now) ||
         !std::ranges::equal(before.tasks, now.tasks, [](const TaskLine& a, const TaskLine& b) {
           return a.id == b.id && outcome_words(a) == outcome_words(b);
         });
}

ChangedGrade only_in_one(const Graded& one, bool is_now) {
  return {
      .student = one.student->student,
      .part = one.outcome->part,
      .before = is_now ? std::nullopt : total_of_grade(one.outcome),
      .now = is_now ? total_of_grade(one.outcome) : std::nullopt,
      .reasons = {is_now ? "the earlier batch does not have it" : "this batch has it no longer"},
      .tasks = {}};
}

/// "race 6/10 (RL0301) -> pass 10/10"
std::string change_of(const ChangedTask& task) {
  const auto or_none = [](const std::string& words) { return words.empty() ? "none" : words; };
  return fmt::format("{}: {} -> {}", one_line(task.id), or_none(task.before), or_none(task.now));
}

std::string points_or_none(const std::optional<double>& points) {
  return points ? format_points(*points) : "none";
}

}  // namespace

GradedClass graded_class(Store& store, const Course& course, const LatePolicy& policy) {
  return {.results = collect(store, course, policy),
          .subject_of = [&store](const std::string& grading) -> std::optional<GradingSubject> {
            const auto row = store.grading(grading);
            return row ? std::optional(row->subject) : std::nullopt;
          }};
}

ClassComparison compare_classes(const GradedClass& before, const GradedClass& now) {
  ClassComparison comparison;
  const std::map<Place, Graded> old = grades_of(before.results);
  std::set<Place> seen;
  for (const StudentOutcome& student : now.results.students) {
    for (const PartOutcome& outcome : student.parts) {
      const Place place{student.student.key, outcome.part};
      seen.insert(place);
      const auto then = old.find(place);
      if (then == old.end()) {
        comparison.changed.push_back(only_in_one({&student, &outcome}, true));
        continue;
      }
      const PartOutcome& earlier = *then->second.outcome;
      const bool has_changed = differs(earlier, outcome);
      if (!has_changed) ++comparison.same;
      ChangedGrade grade{.student = student.student,
                         .part = outcome.part,
                         .before = total_of_grade(&earlier),
                         .now = total_of_grade(&outcome),
                         .reasons = {"the points are the same, and diagnoses are others"},
                         .tasks = changed_tasks(earlier, outcome)};
      if (has_changed) {
        grade.reasons = reasons_of(before, earlier, now, outcome);
        comparison.changed.push_back(std::move(grade));
      } else if (!grade.tasks.empty()) {
        comparison.other_diagnoses.push_back(std::move(grade));
      }
    }
  }
  for (const auto& [place, graded] : old) {
    if (!seen.contains(place)) comparison.changed.push_back(only_in_one(graded, false));
  }
  return comparison;
}

std::string compared_csv(const ClassComparison& comparison) {
  CsvTable table{{"student", "name", "part", "before", "now", "change", "why", "tasks"}};
  std::vector<ChangedGrade> grades = comparison.changed;
  grades.insert(grades.end(), comparison.other_diagnoses.begin(), comparison.other_diagnoses.end());
  for (const ChangedGrade& grade : grades) {
    std::vector<std::string> tasks;
    for (const ChangedTask& task : grade.tasks) tasks.push_back(change_of(task));
    const bool both = grade.before && grade.now;
    table.push_back({one_line(grade.student.key), one_line(grade.student.name),
                     fmt::format("{}", grade.part),
                     grade.before ? format_points(*grade.before) : "",
                     grade.now ? format_points(*grade.now) : "",
                     both ? format_points(*grade.now - *grade.before) : "",
                     one_line(fmt::format("{}", fmt::join(grade.reasons, "; "))),
                     one_line(fmt::format("{}", fmt::join(tasks, "; ")))});
  }
  return to_csv(table);
}

std::string compared_words(const ClassComparison& comparison, std::size_t most) {
  std::string words;
  for (std::size_t i = 0; i < std::min(most, comparison.changed.size()); ++i) {
    const ChangedGrade& grade = comparison.changed[i];
    words += fmt::format("{}, part {}: {} -> {}: {}\n", one_line(grade.student.key), grade.part,
                         points_or_none(grade.before), points_or_none(grade.now),
                         fmt::join(grade.reasons, "; "));
    for (const ChangedTask& task : grade.tasks) words += "  " + change_of(task) + '\n';
  }
  if (comparison.changed.size() > most) {
    words += fmt::format("and {} more\n", comparison.changed.size() - most);
  }
  words += fmt::format("{} {} differ{}, {} {} the same", comparison.changed.size(),
                       comparison.changed.size() == 1 ? "grade" : "grades",
                       comparison.changed.size() == 1 ? "s" : "", comparison.same,
                       comparison.same == 1 ? "is" : "are");
  if (!comparison.other_diagnoses.empty()) {
    words += fmt::format(", {} of them with other diagnoses", comparison.other_diagnoses.size());
  }
  return words + '\n';
}

}  // namespace rooflab
