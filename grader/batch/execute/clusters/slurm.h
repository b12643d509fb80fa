#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Slurm's commands, and what they print, read strictly. Formats are those of Slurm 22.05.
namespace rooflab {

/// Slurm's controller did not answer: it may later.
class SlurmSilent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// sbatch said no.
class SlurmRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A task of a job array, as squeue tells of it.
struct QueuedTask {
  std::string array;  ///< the name of the job
  /// Nothing for all those that have no line of their own: what had not begun when the array was
  /// cancelled.
  std::optional<std::size_t> index;
  std::string state;   ///< "RUNNING"
  std::string reason;  ///< "Resources"
};

enum class TaskFate : std::uint8_t {
  waiting,    ///< will run
  running,    ///< runs, or is about to end
  held,       ///< by Slurm, after a node could not start it: will not run by itself
  ended,      ///< ended by itself or by a limit: running it again would end the same
  cancelled,  ///< by a person
  lost,       ///< its node died, or it was pushed away
};
/// @throws ExecutorError for a state that Slurm 22.05 does not have
TaskFate fate_of(const QueuedTask& task);

/// What an array of tasks asks of Slurm.
struct ArrayRequest {
  std::string name;                    ///< of letters, digits and hyphens; unique
  std::size_t tasks = 0;               ///< numbered from 0
  unsigned at_most = 0;                ///< tasks at a time; 0 for no limit
  unsigned cpus = 1;                   ///< of each task
  std::uint64_t memory_mib = 0;        ///< of each task; 0: what the cluster gives
  unsigned minutes = 0;                ///< of each task; 0: what the cluster gives
  std::string partition;               ///< empty: the cluster's default
  std::vector<std::string> arguments;  ///< the instructor's own for sbatch, which come last and win
  std::filesystem::path script;
  std::filesystem::path messages;  ///< folder where task 7 writes 7.txt
};

class Slurm {
 public:
  /// @param programs folder of sbatch and the others; empty: they are found in PATH
  /// @param limit how long a command may take
  Slurm(std::filesystem::path programs, std::chrono::duration<double> limit);

  using Idle = std::function<bool()>;
  // All of these throw SlurmSilent when the controller does not answer or `idle` says true, and
  // ExecutorError when what is printed makes no sense.

  /// The most tasks of an array.
  std::size_t max_array_size(const Idle& idle) const;
  /// @return Slurm's number of the array
  /// @throws SlurmRefused when sbatch failed, for whatever reason; the array may be queued
  /// nevertheless when that was silence
  std::uint64_t submit(const ArrayRequest& request, const Idle& idle) const;
  /// All tasks of the arrays that Slurm still knows of; it forgets ended ones after some minutes.
  std::vector<QueuedTask> queue(const std::vector<std::string>& arrays, const Idle& idle) const;
  void cancel(const std::string& array, const Idle& idle) const;

 private:
  std::string ask(const std::vector<std::string>& command, const Idle& idle) const;
  std::string program(const char* name) const;

  std::filesystem::path programs_;
  std::chrono::duration<double> limit_;
};

/// sbatch's arguments for a request. @throws ExecutorError for an argument of the instructor's that
/// would keep the array from being followed, such as --array
std::vector<std::string> sbatch_arguments(const ArrayRequest& request);

/// From `scontrol show config`. @throws ExecutorError
std::size_t parse_max_array_size(std::string_view text);
/// From `sbatch --parsable`. @throws ExecutorError
std::uint64_t parse_job_number(std::string_view text);
/// From squeue, as Slurm::queue calls it. @throws ExecutorError
std::vector<QueuedTask> parse_queue(std::string_view text);

}  // namespace rooflab
