#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace rooflab {

/// What a watcher has to do.
struct WatcherPlan {
  std::vector<std::string> command;
  std::filesystem::path log;
  std::size_t log_bytes = 0;
  double limit_s = 0;  ///< 0 for no limit
  int report = -1;     ///< where a WorkerEnd is written to; above 2, and closed on exec
  pid_t parent = -1;   ///< whose death ends everything
};

/// Runs the plan in a process that was just forked for it, with all signals blocked: starts the
/// worker, watches it, ends its whole tree, writes a WorkerEnd, and leaves.
[[noreturn]] void run_watcher(const WatcherPlan& plan);

}  // namespace rooflab
