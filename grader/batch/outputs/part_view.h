#pragma once

#include "grader/batch/outputs/class_results.h"

namespace rooflab {

/// One part of one student, with its evidence in memory for as long as the outputs look at it.
struct PartView {
  const PartSummary& summary;
  const PartOutcome& outcome;
  const GradeResult* grading = nullptr;  ///< null when there is none, or it could not be read
};

}  // namespace rooflab
