#include "grader/pipeline/runs_ahead.h"

#include <utility>

namespace rooflab {

CaseRun RunsAhead::take(std::size_t index) {
  for (std::size_t i = index; i < count_ && i <= index + ahead_; ++i) begin(i);
  std::future<CaseRun> run = std::move(begun_.at(index));
  begun_.erase(begun_.begin(), begun_.upper_bound(index));
  return run.get();
}

void RunsAhead::begin(std::size_t index) {
  if (begun_.contains(index)) return;
  const auto policy = slots_.count() > 1 ? std::launch::async : std::launch::deferred;
  begun_[index] = std::async(policy, [this, run = prepare_(index)] { return slots_.use(run); });
}

}  // namespace rooflab
