#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace rooflab {

/// All living descendants of `root`, without `root` itself.
std::vector<pid_t> descendants(pid_t root);

/// What some processes use together.
struct TreeUsage {
  // Resident memory; program text is not counted.
  std::uint64_t anonymous_bytes = 0;
  std::uint64_t shared_bytes = 0;  ///< once for each process that has it
  std::uint64_t threads = 0;
};
TreeUsage usage_of(const std::vector<pid_t>& processes);

/// What some processes' threads are at.
struct ThreadsSeen {
  bool stopped = true;  ///< none can run: each is stopped or dead
  /// By thread: how often it got a processor. Empty where the kernel does not count that.
  std::map<pid_t, std::uint64_t> turns;
};
ThreadsSeen threads_of(const std::vector<pid_t>& processes);

/// Stops every descendant of `root` by SIGSTOP, until none is left that could run or start another.
/// @param seen what they were at then
/// @return the stopped ones, in their order; nothing when some still ran after so long.
std::optional<std::vector<pid_t>> stop_descendants(pid_t root,
                                                   std::chrono::duration<double> patience,
                                                   ThreadsSeen& seen);

/// Sends SIGKILL to every descendant of `root` until none is left that could start another. `root`
/// has to be their reaper (PR_SET_CHILD_SUBREAPER), so that no descendant escapes by losing its
/// parent.
void kill_descendants(pid_t root);

/// Sends SIGKILL to every process that can write to this pipe, but not to the caller and its
/// children, which may hold it for a moment between a fork and an exec.
void kill_writers(int pipe);

}  // namespace rooflab
