#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

/// Runs gradings somewhere. A job is a folder with a `job.json` in it; the worker that it is given
/// to leaves a `result.json` there, written atomically: that file alone says that the job is done.
/// So a job may be started twice, or on another machine, without harm.
namespace rooflab {

/// Jobs cannot be run at all, whatever they are: why, and what to do.
class ExecutorError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr const char* kResultFile = "result.json";
inline constexpr const char* kLogFile = "log.txt";  ///< what a worker here printed, capped

struct Job {
  std::string name;              ///< of its folder; unique
  std::filesystem::path folder;  ///< absolute
  double limit_s = 0;            ///< a worker that takes longer is ended; 0 for no limit
};

/// How a job ended.
struct JobEnd {
  std::string name;
  bool done = false;  ///< there is a result.json
  std::string why;  ///< when not: "the worker was ended by SIGKILL"; a sentence without a full stop
};

/// The command that grades one job: {"/…/bin/grader", "batch-job", folder}.
std::vector<std::string> worker_command(const std::filesystem::path& grader,
                                        const std::filesystem::path& folder);

/// Whether there is a result.json, by a fresh listing of the folder: a network file system may
/// remember for a while that there was none, but lists a changed folder anew.
bool has_result(const Job& job);

class Executor {
 public:
  virtual ~Executor() = default;
  /// Runs the jobs in their order as far as possible, several at a time; tells of each end once, in
  /// any order, from the thread that calls. A job that has its result already is told of without
  /// being started. Jobs that do not get done are the caller's to try again. `idle` is called a few
  /// times a second; true ends the run early: what still ran is ended, where this process can do
  /// that, and of jobs without a result nothing more is told.
  /// @throws ExecutorError when no job can be run any more; what ran is ended then, or is followed
  /// by the next run
  virtual void run(const std::vector<Job>& jobs, const std::function<void(const JobEnd&)>& ended,
                   const std::function<bool()>& idle) = 0;
};

}  // namespace rooflab
