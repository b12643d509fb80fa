#include "grader/sandbox/halt.h"

#include <signal.h>

#include <algorithm>
#include <vector>

#include "grader/sandbox/process_tree.h"

namespace rooflab {

void Halt::begin(pid_t supervisor, const ControlGroups* groups) {
  const std::lock_guard lock(tree_);
  supervisor_ = supervisor;
  groups_ = groups != nullptr && groups->can_freeze() ? groups : nullptr;
}

bool Halt::stop(std::chrono::duration<double> patience) {
  {
    const std::lock_guard lock(clock_);
    if (!since_) since_ = Clock::now();
  }
  const std::lock_guard lock(tree_);
  return supervisor_ == 0 || stop_all(patience);
}

bool Halt::stop_all(std::chrono::duration<double> patience) {
  stopped_.reset();
  if (groups_ != nullptr) {
    is_frozen_ = groups_->freeze(patience);
    return is_frozen_;
  }
  stopped_ = stop_descendants(supervisor_, patience);
  return stopped_.has_value();
}

bool Halt::is_still() const {
  const std::lock_guard lock(tree_);
  if (supervisor_ == 0) return true;
  if (groups_ != nullptr) return is_frozen_;
  if (!stopped_) return false;
  const auto& before = stopped_->seen.turns;
  const ThreadTurns now = turns_of(stopped_->processes);
  return now.all_stopped && std::ranges::all_of(now.turns, [&before](const auto& turns) {
           const auto then = before.find(turns.first);
           return then != before.end() && then->second == turns.second;
         });
}

void Halt::go_on() {
  {
    const std::lock_guard lock(tree_);
    if (supervisor_ != 0 && groups_ != nullptr) {
      groups_->thaw();
    } else if (supervisor_ != 0) {
      // Those that were not all stopped in time may have others by now.
      const auto processes = stopped_ ? stopped_->processes : descendants(supervisor_);
      for (const pid_t process : processes) kill(process, SIGCONT);
    }
    stopped_.reset();
    is_frozen_ = false;
  }
  const std::lock_guard lock(clock_);
  if (since_) before_ += Clock::now() - *since_;
  since_.reset();
}

std::chrono::duration<double> Halt::time_stopped() const {
  const std::lock_guard lock(clock_);
  return before_ + (since_ ? Clock::now() - *since_ : Clock::duration{});
}

void Halt::end() {
  const std::lock_guard lock(tree_);
  supervisor_ = 0;
}

}  // namespace rooflab
