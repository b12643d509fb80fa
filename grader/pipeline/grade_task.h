#pragma once

#include <optional>

#include "grader/diagnose/diagnose.h"
#include "grader/pipeline/build.h"
#include "grader/pipeline/grade.h"
#include "grader/spec/answers.h"
#include "grader/spec/files.h"

namespace rooflab {

/// A file that a task asks for, as it was handed in.
struct NamedFile {
  std::string name;  ///< in the part's folder
  SubmittedFile submitted;
};

/// A task's files and what the build stage made of them.
struct BuiltTask {
  const TaskSpec* task = nullptr;
  std::vector<NamedFile> files;  ///< its own, then those it uses
  BuildOutcome build;            ///< meaningful when all files are present
};

class RunSlots;

/// Runs, checks, times and scores one built task.
TaskResult grade_task(const PartSpec& part, const GradeRequest& request, const GradeTools& tools,
                      const BuiltTask& built, RunSlots& slots);

/// Grades an `answers` task, which runs no code.
TaskResult grade_answers(const PartSpec& part, const GradeRequest& request, const TaskSpec& task);

/// Grades a work log: its form, and with GradeRequest::versions_graded_again the kernels that it
/// keeps.
TaskResult grade_work_log(const PartSpec& part, const GradeRequest& request,
                          const GradeTools& tools, const TaskSpec& task, RunSlots& slots);

/// The result of a task whose file is missing or is no text; nothing where it is there.
std::optional<TaskResult> refused_text(const PartSpec& part, const TaskSpec& task,
                                       const SubmittedFile& file);

/// The story of a line that cannot be read as the answer to its question, or as any answer.
Diagnostic unreadable_line(const PartSpec& part, const TaskSpec& task,
                           const AnswerProblem& problem);

/// A peak that a timed case with points is measured against and that the GPU lacks; empty when it
/// has all. Tensor cores of an older GPU may lack a type: such a task can neither be compiled nor
/// timed there.
std::string missing_peak(const TaskSpec& task, const gpu_spec::GpuSpec& gpu);

/// A result of this task with nothing earned yet.
TaskResult blank_result(const TaskSpec& task);

/// Gives the task and all of its groups one verdict and no points; out of none where that is no
/// student's fault.
void fail_all(TaskResult& result, Verdict verdict);

/// Where a task's stories take place.
DiagnoseContext context_of(const PartSpec& part, const GradeRequest& request, const TaskSpec& task);

}  // namespace rooflab
