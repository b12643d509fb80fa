#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/batch/execute/clusters/slurm.h"
#include "grader/batch/execute/executor.h"

namespace rooflab {

/// A job array as this machine remembers it: a folder whose random name is the array's name in
/// Slurm too, made before it is submitted, so that it can be found there whenever we died.
///
///     slurm/rooflab-<16 hexadecimal digits>/jobs.json   its jobs, by the number of their task
///                                           task.sh     what Slurm runs
///                                           number      Slurm's number, for people; last
///                                           7.txt       what task 7 said that is no log of a
///                                           worker jobs.json.closed   nobody waits for it any more
class SlurmArray {
 public:
  using Clock = std::chrono::steady_clock;

  /// One task as we follow it.
  struct Task {
    bool followed = true;                      ///< its end is still to be told
    std::optional<QueuedTask> queued;          ///< as Slurm knew it last
    std::optional<Clock::time_point> gone_at;  ///< since when it will not run any more
  };

  /// Makes the folder of a new array. @throws FileError
  static SlurmArray create(const std::filesystem::path& slurm_folder,
                           const std::filesystem::path& grader, const std::vector<Job>& jobs);
  /// Finds those of an earlier run, closed ones included. What cannot be read counts as closed.
  static std::vector<SlurmArray> find_all(const std::filesystem::path& slurm_folder);

  const std::string& name() const { return name_; }
  std::filesystem::path list() const { return folder_ / "jobs.json"; }
  std::filesystem::path script() const { return folder_ / "task.sh"; }
  const std::filesystem::path& messages() const { return folder_; }
  /// The beginning of what a task said, on one line; empty for nothing.
  std::string message_of(std::size_t index) const;
  const std::vector<Job>& jobs() const { return jobs_; }
  std::vector<Task>& tasks() { return tasks_; }
  const std::vector<Task>& tasks() const { return tasks_; }

  bool closed() const;
  bool followed() const;  ///< an end is still to be told
  bool active() const;    ///< Slurm has tasks of it that run or will run
  bool running() const;   ///< Slurm has tasks of it that run

  /// Takes over what Slurm said; tasks that it no longer knows are gone.
  void update(const std::vector<QueuedTask>& queue);

  void note_number(std::uint64_t number) const;  ///< @throws FileError
  void close() const;                            ///< @throws FileError
  void remove() const;                           ///< the folder, if that can be

 private:
  SlurmArray(std::filesystem::path folder, std::vector<Job> jobs);

  std::string name_;
  std::filesystem::path folder_;
  std::vector<Job> jobs_;
  std::vector<Task> tasks_;
};

}  // namespace rooflab
