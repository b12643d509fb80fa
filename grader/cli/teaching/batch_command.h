#pragma once

#include <string>

#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Grades a class, or replays the grade of one student.
/// @return 0 when every submission was graded, 1 when somebody has to look at some, 3 when the
/// grader failed at some or was stopped
/// @throws UsageError, among others
int grade_class(const BatchOptions& options, const Installation& installation);

/// What a worker does: grades the job in `folder` and leaves the result there, unless it is there
/// already. @return 0; everything else is thrown
int grade_job(const std::string& folder, const Installation& installation);

/// What a task on a cluster does: lets a worker grade the job of that number in a list.
/// @return 0 when there is nothing more to do, 1 when the job is not done
int grade_task_of_list(const std::string& list, std::size_t index,
                       const Installation& installation);

}  // namespace rooflab
