#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/intake/late_policy.h"
#include "grader/batch/outputs/class_results.h"
#include "grader/batch/store/store.h"

/// Two gradings of a class beside each other: whose points changed, and why.
namespace rooflab {

/// A class as one batch graded it.
struct GradedClass {
  ClassResults results;
  /// What the grading of this name is of; nothing for one that the batch does not know.
  std::function<std::optional<GradingSubject>(const std::string& grading)> subject_of;
};

/// @param store has to outlive it
GradedClass graded_class(Store& store, const Course& course, const LatePolicy& policy);

/// A task whose points, verdict or codes differ.
struct ChangedTask {
  std::string id;
  std::string before, now;  ///< "race 6/10 (RL0301)"; empty where it was not graded
};

/// A grade that differs, or that only one of the two batches has.
struct ChangedGrade {
  Student student;
  int part = 0;
  std::optional<double> before, now;  ///< totals; nothing where there is none
  std::vector<std::string> reasons;   ///< what decides a grade and differs; never empty
  std::vector<ChangedTask> tasks;
};

struct ClassComparison {
  std::vector<ChangedGrade> changed;  ///< in the order of the later class
  std::size_t same = 0;               ///< grades that both batches have, and that do not differ
  std::vector<ChangedGrade> other_diagnoses;  ///< of these, with other codes for the same points
};

/// Students are the same by their keys. Points by hand and lateness are parts of a total.
ClassComparison compare_classes(const GradedClass& before, const GradedClass& now);

/// One row for each grade that differs, then for each with other diagnoses.
std::string compared_csv(const ClassComparison& comparison);

/// A line for each of the first `most`, and how many there are.
std::string compared_words(const ClassComparison& comparison, std::size_t most);

}  // namespace rooflab
