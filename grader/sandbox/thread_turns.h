#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace rooflab {

/// What some processes' threads are at.
struct ThreadTurns {
  bool all_stopped = true;  ///< none can run: each is stopped or dead
  /// By thread: how often it got a processor. Empty where the kernel does not count that.
  std::map<pid_t, std::uint64_t> turns;
};
ThreadTurns turns_of(const std::vector<pid_t>& processes);

/// All descendants of a process, stopped.
struct StoppedTree {
  std::vector<pid_t> processes;
  ThreadTurns seen;  ///< when all were
};

/// Stops every descendant of `root` by SIGSTOP, until none is left that could run or start another.
/// @return nothing when some could after so long.
std::optional<StoppedTree> stop_descendants(pid_t root, std::chrono::duration<double> patience);

}  // namespace rooflab
