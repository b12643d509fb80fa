#pragma once

#include "grader/diagnose/diagnose.h"
#include "grader/pipeline/build.h"
#include "grader/pipeline/grade.h"
#include "grader/spec/files.h"

namespace rooflab {

/// A task's file and what the build stage made of it.
struct BuiltTask {
  const TaskSpec* task = nullptr;
  SubmittedFile file;
  BuildOutcome build;  ///< meaningful when the file is present
};

/// Runs, checks, times and scores one built task.
TaskResult grade_task(const PartSpec& part, const GradeRequest& request, const GradeTools& tools,
                      const BuiltTask& built);

/// Grades an `answers` task, which runs no code.
TaskResult grade_answers(const PartSpec& part, const GradeRequest& request, const TaskSpec& task);

/// Whether the GPU has the arithmetic that a task is about. Tensor cores of an older GPU may lack a
/// type: such a task can neither be compiled nor timed there.
bool runs_on(const TaskSpec& task, const gpu_spec::GpuSpec& gpu);

/// A result of this task with nothing earned yet.
TaskResult blank_result(const TaskSpec& task);

/// Where a task's stories take place.
DiagnoseContext context_of(const PartSpec& part, const GradeRequest& request, const TaskSpec& task);

}  // namespace rooflab
