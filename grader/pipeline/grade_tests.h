#pragma once

#include "grader/contract/oracle.h"
#include "grader/pipeline/run_case.h"
#include "grader/spec/result.h"

namespace rooflab {

/// Grades tests that a student wrote and that were built: has them name their cases, makes the
/// calls with each implementation, and gives points for the mistakes that are caught by cases that
/// no right implementation fails.
/// @throws std::exception for a fault of ours
TaskResult grade_tests(const TaskScene& scene, const Oracle& oracle);

}  // namespace rooflab
