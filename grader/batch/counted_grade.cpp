#include "grader/batch/counted_grade.h"

namespace rooflab {
namespace {

std::optional<double> sum_of(Store& store, const GradingRow& grading) {
  if (grading.state != GradingState::graded) return std::nullopt;
  const auto points = store.points_of(grading.name);
  return points ? std::optional(points->score + points->bonus) : std::nullopt;
}

}  // namespace

RegradeCounts regrade_counts(Store& store, const LatePolicy& policy) {
  const std::string chosen = store.setting(kRegradeCountsSetting).value_or("");
  const std::string& counts = chosen.empty() ? policy.regrade_counts() : chosen;
  return counts == "best" ? RegradeCounts::best : RegradeCounts::latest;
}

CountedGrade counted_grade(Store& store, const GradeRow& grade, RegradeCounts counts) {
  CountedGrade counted{.grading = grade.grading};
  if (grade.earlier.empty()) return counted;
  counted.other = sum_of(store, grade.earlier.front());
  if (counts == RegradeCounts::latest) return counted;
  const auto latest = sum_of(store, grade.grading);
  if (!latest) return counted;
  double most = *latest;
  for (const GradingRow& earlier : grade.earlier) {
    const auto points = sum_of(store, earlier);
    if (!points || *points <= most || earlier.subject.source != grade.grading.subject.source) {
      continue;
    }
    most = *points;
    counted = {.grading = earlier, .other = latest, .is_earlier = true};
  }
  return counted;
}

}  // namespace rooflab
