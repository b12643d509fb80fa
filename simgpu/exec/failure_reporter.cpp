#include "simgpu/exec/failure_reporter.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "simgpu/exec/launch_budget.h"
#include "simgpu/exec/messages.h"

namespace simgpu {
namespace {

/// The lane that is told of where a whole warp is meant.
unsigned lane_of(const Warp& warp) {
  const std::uint32_t lanes = warp.stack.empty() ? 1 : warp.stack.active();
  return static_cast<unsigned>(std::countr_zero(lanes | 0x80000000U));
}

}  // namespace

void FailureReporter::fail(const Lowered* in, const Warp& warp, unsigned lane,
                           Failure failure) const {
  LaunchFailure thrown;
  thrown.status = failure.status.value_or(failure.code.status());
  Finding& finding = thrown.finding;
  finding.code = failure.code;
  finding.detail = failure.place.detail;
  finding.kernel = launch_.kernel.info.name;
  finding.where = site_of(launch_.kernel.info, in->index);
  finding.where.block = position_.index();
  finding.where.thread = position_.thread(warp.index, lane);
  finding.where.warp = warp.index;
  finding.where.action = std::move(failure.action);
  if (failure.place.array.space != ArraySpace::none) {
    finding.places.push_back(std::move(failure.place.array));
  }
  finding.object = std::move(failure.place.words);
  finding.name = std::move(failure.place.name);
  finding.message = std::move(failure.message);
  throw thrown;
}

void FailureReporter::report_stuck(std::span<const Warp> warps) const {
  const Warp& warp = *std::ranges::find(warps, WarpState::ready, &Warp::state);
  report_endless(
      warp, warp.resume > warp.code ? warp.resume - 1 : warp.resume,
      "this thread reads the same value again and again, and no thread that can run will change "
      "it");
}

void FailureReporter::report_spinning(std::span<const Warp> warps) const {
  const auto running = std::ranges::find(warps, WarpState::ready, &Warp::state);
  const Warp& warp = running != warps.end() ? *running : warps.front();
  report_endless(warp, warp.goes_on_at(),
                 "this thread goes round in a loop, and no thread that can run changes anything "
                 "that could end it");
}

void FailureReporter::report_endless(const Warp& warp, const Lowered* at,
                                     const std::string& why) const {
  fail(at, warp, lane_of(warp),
       {.code = "RL0307",
        .message = "The kernel does not come to an end: " + why,
        .action = "runs"});
}

void FailureReporter::report_deadlock(std::span<const Warp> warps) const {
  const Warp& first = *std::ranges::find(warps, WarpState::at_barrier, &Warp::state);
  const auto other = std::ranges::find_if(warps, [&](const Warp& warp) {
    return warp.state == WarpState::at_barrier && warp.barrier != first.barrier;
  });
  std::string message = "No warp of the block can go on: warp " + std::to_string(first.index) +
                        " waits at barrier " + std::to_string(first.barrier);
  if (other != warps.end()) {
    message += " while warp " + std::to_string(other->index) + " waits at barrier " +
               std::to_string(other->barrier);
  } else {
    message += ", which expects " + std::to_string(first.barrier_threads) +
               " threads, more than will come";
  }
  fail(first.barrier_instruction, first,
       static_cast<unsigned>(std::countr_zero(first.stack.active())),
       {.code = "RL0306",
        .message = std::move(message),
        .action = "waits at barrier " + std::to_string(first.barrier)});
}

void FailureReporter::report_too_long(const Warp& warp, const Lowered* at,
                                      const std::string& why) const {
  fail(at, warp, lane_of(warp),
       {.code = "RL0319", .message = "The kernel takes too long: " + why, .action = "runs"});
}

void FailureReporter::report_over_budget(const Warp& warp, const Lowered* at) const {
  report_too_long(warp, at, long_launch_in_words(launch_));
}

}  // namespace simgpu
