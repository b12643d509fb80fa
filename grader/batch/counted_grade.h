#pragma once

#include <cstdint>
#include <optional>

#include "grader/batch/intake/late_policy.h"
#include "grader/batch/store/store.h"

namespace rooflab {

/// Which of several gradings of a submission counts.
enum class RegradeCounts : std::uint8_t {
  latest,
  best,  ///< of the same files: what was handed in again is no regrade
};

/// The name under which the batch keeps what a command chose; empty where none did.
inline constexpr const char* kRegradeCountsSetting = "grade that counts after a regrade";

/// What a command chose, else what the policy says, else the latest.
RegradeCounts regrade_counts(Store& store, const LatePolicy& policy);

/// The grading that counts.
struct CountedGrade {
  GradingRow grading;
  /// Points with bonus of what it is compared with: the one before it, or the latest where an
  /// earlier one counts. Nothing where there is none with points.
  std::optional<double> other = {};
  bool is_earlier = false;  ///< the latest grading has fewer points
};
CountedGrade counted_grade(Store& store, const GradeRow& grade, RegradeCounts counts);

}  // namespace rooflab
