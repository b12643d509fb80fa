#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <optional>

#include "grader/sandbox/control_groups.h"
#include "grader/sandbox/thread_turns.h"

namespace rooflab {

/// Keeps every process of a sandbox from running for a while: by the freezer of its control group,
/// else by SIGSTOP, which no program can block, though a timer of its own can continue it. One
/// thread stops and continues, another may ask how long it was, and end the tree.
class Halt {
 public:
  /// @param groups null: there are none
  void begin(pid_t supervisor, const ControlGroups* groups);

  /// Stops all of them.
  /// @return whether none can run any more, within so long
  bool stop(std::chrono::duration<double> patience);
  /// Whether none of them has run since stop(), as far as the kernel tells.
  bool is_still() const;
  void go_on();

  /// How long they were stopped, together.
  std::chrono::duration<double> time_stopped() const;

  /// From here on nothing is signalled: the numbers of processes will soon be those of others.
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  bool stop_all(std::chrono::duration<double> patience);

  mutable std::mutex tree_;  ///< held while processes are signalled
  pid_t supervisor_ = 0;     ///< 0: there is nobody to be stopped
  const ControlGroups* groups_ = nullptr;
  bool is_frozen_ = false;
  std::optional<StoppedTree> stopped_;  ///< by signals

  mutable std::mutex clock_;
  std::optional<Clock::time_point> since_;  ///< stopped now
  Clock::duration before_{};                ///< and earlier
};

}  // namespace rooflab
