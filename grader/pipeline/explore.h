#pragma once

#include <vector>

#include "grader/pipeline/grade_task.h"
#include "grader/pipeline/runs_ahead.h"

namespace rooflab {

/// Of the public cases of a task that failed the one that is shown: that with the least work. Cases
/// that ran into a limit, or of which the device runs only a part, are none of them; nullptr where
/// there is none.
const CaseSpec* smallest_failing_case(const TaskSpec& task, const TaskResult& result,
                                      const Oracle* oracle);

/// Makes the page of the first task that failed in a public case. It shows the smallest problem
/// found that fails like the case: that is run again, and what its first finding is about is
/// recorded, or else the warp that stored the first wrong element.
Exploration explore(const PartSpec& part, const GradeRequest& request, const GradeTools& tools,
                    const std::vector<BuiltTask>& built, const std::vector<TaskResult>& results);

}  // namespace rooflab
