#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace rooflab {

/// All living descendants of `root`, without `root` itself.
std::vector<pid_t> descendants(pid_t root);

/// What some processes use together.
struct TreeUsage {
  // Resident memory.
  std::uint64_t anonymous_bytes = 0;
  std::uint64_t shared_bytes = 0;  ///< once for each process that has it
  std::uint64_t file_bytes = 0;    ///< of files, and of what drivers map; program text among it
  std::uint64_t threads = 0;
};
TreeUsage usage_of(const std::vector<pid_t>& processes);

/// Sends SIGKILL to every descendant of `root` until none is left that could start another. `root`
/// has to be their reaper (PR_SET_CHILD_SUBREAPER), so that no descendant escapes by losing its
/// parent.
void kill_descendants(pid_t root);

/// Sends SIGKILL to every process that can write to this pipe, but not to the caller and its
/// children, which may hold it for a moment between a fork and an exec.
void kill_writers(int pipe);

}  // namespace rooflab
