#pragma once

#include <vector>

#include "grader/pipeline/group_scores.h"
#include "grader/pipeline/run_case.h"

namespace rooflab {

/// Runs cases group by group, and leaves in `scores` which groups fail and in `result` the cases,
/// the prints and the artifacts. All groups go on whatever one of them came to, and within a group
/// all cases do, except after a limit or a stub. What ends the task at once: a fault of the grader,
/// a rejection, and a stub that the first call of a kernel task of one function reaches. Once
/// failing cases have taken the time of three limits, groups that have not begun are lost and say
/// so: a submission that hangs in every group must not hold up its student for a quarter of an
/// hour.
/// @return false when the task ends
bool grade_cases(const TaskScene& scene, CaseRunner& runner, const std::vector<NumberedCase>& cases,
                 GroupScores& scores, TaskResult& result);

/// Keeps what a run printed and the artifacts that were made of it.
void keep_what_it_left(const NumberedCase& numbered, const CaseRun& run, TaskResult& result);

}  // namespace rooflab
