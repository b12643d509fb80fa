#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/batch/execute/executor.h"

/// What a cluster runs: tasks, each of which is one job of a list by its number. The list is a
/// file, so that nothing of a job's name ever stands on a command line or in a script.
namespace rooflab {

/// The command that runs one job of a list, without the job's number, which comes last:
/// {"/…/bin/grader", "batch-task", list}.
std::vector<std::string> task_command(const std::filesystem::path& grader,
                                      const std::filesystem::path& list);

/// Writes the jobs to a file, atomically. @throws FileError
void write_task_list(const std::filesystem::path& list, const std::vector<Job>& jobs);
/// @throws FileError when it cannot be read, or is no list
std::vector<Job> read_task_list(const std::filesystem::path& list);

/// Makes every task of a list that starts from now on end at once: a cluster may start one that
/// nobody waits for any more. @throws FileError
void close_task_list(const std::filesystem::path& list);
bool is_closed(const std::filesystem::path& list);

/// What `grader batch-task LIST INDEX` does: runs that job's worker under a watcher on this
/// machine. A job that has its result is not run again, nor is one whose folder is gone, nor any of
/// a closed list. A worker without a result leaves behind why (`last_failure`). SIGTERM, SIGINT and
/// SIGHUP end it with all that it started.
/// @return the exit code: 0 when there is nothing more to do, 1 when the job is not done
/// @throws FileError, ExecutorError
int run_task(const std::filesystem::path& grader, const std::filesystem::path& list,
             std::size_t index);

/// Why tasks of a list left a job without a result.
struct TaskFailure {
  unsigned attempts = 0;  ///< tasks that lived to say so
  std::string why;        ///< of the last one
};
/// Nothing when the last task of this list did not live to say why.
std::optional<TaskFailure> last_failure(const Job& job, const std::filesystem::path& list);

}  // namespace rooflab
