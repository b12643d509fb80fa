#pragma once

#include <ostream>
#include <string>

#include "grader/batch/batch.h"
#include "grader/pipeline/grade.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

struct ReplayOptions {
  bool sandbox = true;
  CauseSearch causes = CauseSearch::full;  ///< as the batch was told
  bool reveal = false;  ///< the hidden cases that fail too, whole: for instructors alone
};

/// Grades what a student handed in once more, with the seed and the device of then, and tells what
/// came of it beside what was kept: the whole report, and every task whose outcome differs. Changes
/// nothing.
/// @return whether all outcomes are as they were
/// @throws BatchError when nobody of the class is by that name, or nothing of theirs was graded
bool replay(std::ostream& out, Store& store, const Course& course, const std::string& who,
            const Installation& installation, const ReplayOptions& options);

}  // namespace rooflab
