#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "grader/batch/execute/executor.h"

namespace rooflab {

struct SlurmOptions {
  std::filesystem::path grader = {};  ///< absolute; the same program on every node
  /// DIR/slurm: where the submitted arrays are remembered. Nodes read it, and write the folders of
  /// the jobs, under the same paths.
  std::filesystem::path folder = {};
  std::string partition = {};                      ///< empty: the cluster's default
  std::vector<std::string> sbatch_arguments = {};  ///< "--account=course", "--gres=gpu:1"
  unsigned at_most = 0;                            ///< tasks at a time, 0 for no limit
  unsigned cpus = 1;                               ///< of each task
  std::uint64_t memory_mib = 4096;                 ///< of each task
  unsigned attempts = 3;  ///< how often a task whose node died is submitted in all

  std::chrono::duration<double> poll{10};           ///< between two looks at the queue
  std::chrono::duration<double> grace{30};          ///< for a result to be seen after a task's end
  std::chrono::duration<double> patience{1800};     ///< with a controller that does not answer
  std::chrono::duration<double> command_limit{60};  ///< for one of Slurm's commands
  std::filesystem::path programs = {};              ///< folder of sbatch; empty: in PATH
  std::function<void(const std::string&)> progress =
      {};  ///< one line of what goes on; may be empty
};

/// Runs jobs as tasks of Slurm's job arrays, and follows them until none is left in the queue. What
/// was submitted is remembered on disk before and after, so that a run after this process was
/// killed follows the arrays that are still there. Two processes may not use one folder at a time.
class SlurmExecutor : public Executor {
 public:
  explicit SlurmExecutor(SlurmOptions options);
  /// As Executor::run. An early end cancels the arrays; an ExecutorError leaves them to the next
  /// run.
  void run(const std::vector<Job>& jobs, const std::function<void(const JobEnd&)>& ended,
           const std::function<bool()>& idle) override;

 private:
  SlurmOptions options_;
};

}  // namespace rooflab
