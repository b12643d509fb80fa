#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "grader/batch/execute/executor.h"
#include "grader/posix/descriptor.h"

namespace rooflab {

/// How a worker's process ended; `value` is the exit code, the signal, or errno.
struct WorkerEnd {
  enum class How : std::uint8_t { exited, signal, time_limit, asked, not_started, watcher_lost };
  How how = How::watcher_lost;
  int value = 0;
};

/// "the worker was ended by SIGSEGV": why a worker that ended like this left no result.
std::string sentence_of(const WorkerEnd& end, const Job& job);

/// One worker under a watcher: a process of ours that adopts whatever the worker leaves behind,
/// keeps the time limit, and copies what is printed to `log.txt` in the job's folder, at most
/// `kLogBytes`. When the worker ends, when it has to, and when our own process dies, by SIGKILL
/// too, the watcher ends the whole tree below itself.
class WorkerProcess {
 public:
  static constexpr std::size_t kLogBytes = std::size_t{1} << 20;

  /// Starts the worker: from the job's limit on it is ended.
  /// @param command argv[0] is an absolute path; the environment is ours, stdin is empty, no other
  /// descriptor is passed on
  /// @throws ExecutorError when no process can be had; that the program cannot be started is an end
  WorkerProcess(const std::vector<std::string>& command, const Job& job);
  ~WorkerProcess();  ///< ends what still runs
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;

  /// Becomes readable when the worker and everything that it started has ended.
  int pollable() const { return pidfd_.get(); }
  /// Ends the worker and everything that it started, soon.
  void end();
  /// Waits for the end.
  WorkerEnd wait();

 private:
  pid_t watcher_ = -1;
  Descriptor pidfd_;
  Descriptor report_;
};

}  // namespace rooflab
