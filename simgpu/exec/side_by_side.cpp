#include "simgpu/exec/side_by_side.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "simgpu/exec/block_results.h"

namespace simgpu {
namespace {

/// Warp instructions after which blocks that talk to others (KernelInfo::orders_blocks) are taken
/// to wait for one that has not begun: in a loop of atomics, which does not show that it waits.
constexpr std::uint64_t kPatience = std::uint64_t{1} << 22;

class SideBySideRun {
 public:
  explicit SideBySideRun(const LaunchContext& launch)
      : launch_(launch),
        collector_(launch),
        blocks_(launch.request.grid.count()),
        most_(std::min({blocks_, std::max<std::uint64_t>(launch.request.resident_blocks, 1),
                        blocks_that_fit(launch)})),
        is_cooperative_(launch.request.grid_workspace != 0) {}

  LaunchResult run() {
    LaunchResult result;
    std::optional<LaunchFailure> failure;
    try {
      do {
        add_block();
      } while (is_cooperative_ && next_ < blocks_);
      while (round()) {
        if (wants_another()) add_block();
      }
    } catch (const LaunchFailure& ended) {
      failure = ended;
      for (Resident& resident : residents_) {
        if (resident.runs) finished_.emplace(resident.block, take_results(*resident.runner));
      }
    }
    retire_finished();
    collector_.finish(result, residents_.front().runner->shared_bytes());
    if (failure) {
      result.status = failure->status;
      result.findings.push_back(failure->finding);
    }
    CounterSums sums(launch_.kernel.code.size());
    for (const Resident& resident : residents_) sums.add(*resident.runner);
    fill_result(launch_, sums, result);
    return result;
  }

 private:
  struct Resident {
    std::unique_ptr<BlockRunner> runner;
    std::uint64_t block = 0;
    bool runs = false;
  };

  void add_block() {
    // The logs of all that run are there at once: 512 MiB, and the first block's.
    constexpr std::size_t kMostEntries = (std::size_t{512} << 20) / sizeof(TrafficEntry);
    if (is_cooperative_ || !residents_.empty()) {
      launch_.log_entries = kMostEntries / (is_cooperative_ ? blocks_ : most_);
    }
    Resident& resident = residents_.emplace_back();
    resident.runner = std::make_unique<BlockRunner>(launch_);
    begin(resident);
  }

  void begin(Resident& resident) {
    resident.block = next_++;
    resident.runs = true;
    resident.runner->start(resident.block);
    begun_at_ = instructions_;
  }

  /// A turn for every block. False when none is left.
  bool round() {
    bool any = false;
    instructions_ = 0;
    const Resident* running = nullptr;
    all_stuck_ = true;
    for (Resident& resident : residents_) {
      if (!resident.runs) continue;
      if (!resident.runner->round()) end(resident);
      any = any || resident.runs;
      all_stuck_ = all_stuck_ && resident.runs && resident.runner->is_stuck();
      instructions_ += resident.runner->work();
      if (running == nullptr && resident.runs) running = &resident;
    }
    retire_finished();
    if (running != nullptr && instructions_ > launch_.instruction_budget) {
      running->runner->report_endless();
    }
    if (running != nullptr && all_stuck_ && !may_add()) running->runner->report_stuck();
    // Who is alone and comes round to where it was stays there for good.
    const bool stays_alone = residents_.size() == 1 && !wants_others();
    if (running != nullptr && stays_alone) running->runner->check_spinning();
    return any;
  }

  /// The block is done: the next one takes its place.
  void end(Resident& resident) {
    resident.runs = false;
    finished_.emplace(resident.block, take_results(*resident.runner));
    if (next_ < blocks_) begin(resident);
  }

  bool may_add() const { return next_ < blocks_ && residents_.size() < most_; }

  /// Whether another block begins if this one goes on for long.
  bool wants_others() const { return launch_.kernel.info.orders_blocks && may_add(); }

  bool wants_another() const {
    if (!may_add()) return false;
    return all_stuck_ ||
           (launch_.kernel.info.orders_blocks && instructions_ - begun_at_ > kPatience);
  }

  void retire_finished() {
    while (!finished_.empty() && finished_.begin()->first == next_retired_) {
      collector_.retire(std::move(finished_.begin()->second));
      finished_.erase(finished_.begin());
      ++next_retired_;
    }
  }

  LaunchContext launch_;
  Collector collector_;
  const std::uint64_t blocks_;
  const std::uint64_t most_;  ///< blocks side by side
  const bool is_cooperative_;
  std::vector<Resident> residents_;
  std::map<std::uint64_t, FinishedBlock> finished_;  ///< that an earlier block holds up
  std::uint64_t next_ = 0, next_retired_ = 0;
  std::uint64_t instructions_ = 0;  ///< of all blocks
  std::uint64_t begun_at_ = 0;      ///< instructions_ when the last block began
  bool all_stuck_ = false;
};

}  // namespace

std::uint64_t blocks_that_fit(const LaunchContext& launch) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;
  return std::max<std::uint64_t>(kMostBytes / std::max<std::uint64_t>(block_bytes(launch), 1), 1);
}

LaunchResult run_side_by_side(const LaunchContext& launch) { return SideBySideRun(launch).run(); }

}  // namespace simgpu
