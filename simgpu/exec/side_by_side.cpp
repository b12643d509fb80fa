#include "simgpu/exec/side_by_side.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simgpu/exec/block_results.h"
#include "simgpu/exec/block_runner.h"

namespace simgpu {
namespace {

/// Instructions of a block after which it is worth looking whether it goes round in circles: soon
/// where it may wait for another block, by atomics that do not show it.
constexpr std::uint64_t kShortSpin = std::uint64_t{1} << 14;
constexpr std::uint64_t kLongSpin = std::uint64_t{1} << 20;
/// Rounds in which all poll and nothing changes, after which they may wait for one more block.
constexpr std::uint64_t kQuietRounds = 64;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

class SideBySideRun {
 public:
  SideBySideRun(const LaunchContext& launch, KeptStores* kept)
      : launch_(launch),
        kept_(kept),
        collector_(launch),
        blocks_(launch.request.grid.count()),
        begins_with_the_last_(launch.backwards && blocks_ <= blocks_that_fit(launch)),
        most_(begins_with_the_last_
                  ? blocks_
                  : std::min({blocks_, std::max<std::uint64_t>(launch.request.resident_blocks, 1),
                              blocks_that_fit(launch)})),
        is_cooperative_(launch.request.grid_workspace != 0) {
    launch_.watches_values = launch.kernel.info.orders_blocks;
    if (begins_together()) launch_.flags = &flags_;
  }

  LaunchResult run() {
    LaunchResult result;
    std::optional<LaunchFailure> failure;
    try {
      do {
        add_block();
      } while (begins_together() && next_ < blocks_ && residents_.size() < most_at_once());
      while (round()) {
        if (wants_another()) add_block();
      }
    } catch (const LaunchFailure& ended) {
      failure = ended;
      for (Resident& resident : residents_) {
        if (resident.runs) {
          finished_.emplace(place_of(resident.block), take_results(*resident.runner));
        }
      }
    }
    retire_finished();
    collector_.finish(result, residents_.front().runner->block().memory.shared_bytes());
    result.work = work_;
    if (failure && launch_.bounds_long_launches &&
        failure->finding.kind() == FindingKind::too_long) {
      result.at_least = true;
      result.bounded_blocks = next_;
    } else if (failure) {
      result.status = failure->status;
      result.findings.push_back(failure->finding);
    }
    CounterSums sums(launch_.kernel);
    for (const Resident& resident : residents_) sums.add(*resident.runner);
    fill_result(launch_, sums, collector_.busiest_sm(), result);
    return result;
  }

 private:
  struct Resident {
    std::unique_ptr<BlockRunner> runner;
    std::uint64_t block = 0;
    bool runs = false;
    /// changes_ when it was seen to wait, for as long as nobody changes memory.
    std::uint64_t idle_since = kNever;
    /// It waits where its warps have looked: until somebody stores there, or all wait.
    bool waits_for_store = false;
    /// That it waits is proven, and it has found nothing new since; or has to be.
    bool is_proven = false, needs_proof = false;
  };

  void add_block() {
    // The logs of all that run are there at once: 512 MiB, and the first block's. So are their
    // races in global memory: 1 GiB.
    constexpr std::size_t kMostEntries = (std::size_t{512} << 20) / sizeof(TrafficEntry);
    constexpr std::size_t kMostWindowBytes = std::size_t{1} << 30;
    if (begins_together() || !residents_.empty()) {
      const std::uint64_t at_once = most_at_once();
      launch_.log_entries = kMostEntries / at_once;
      launch_.window_bytes = kMostWindowBytes / at_once;
    }
    Resident& resident = residents_.emplace_back();
    quiet_rounds_ = 0;
    resident.runner = std::make_unique<BlockRunner>(launch_);
    begin(resident);
  }

  bool begins_together() const { return is_cooperative_ || launch_.asks_take_turns; }
  std::uint64_t most_at_once() const { return is_cooperative_ ? blocks_ : most_; }

  /// @param at the time, where blocks run by turns
  void begin(Resident& resident, std::uint64_t at = 0) {
    resident.block = in_turn(next_++);
    resident.runs = true;
    resident.idle_since = kNever;
    resident.waits_for_store = false;
    resident.is_proven = resident.needs_proof = false;
    resident_of_[resident.block] = static_cast<std::size_t>(&resident - residents_.data());
    const std::uint64_t work = resident.runner->work();
    resident.runner->start(resident.block, at);
    if (lanes_take_turns_) resident.runner->expect_lane_turns();
    work_ += resident.runner->work() - work;
  }

  /// Where its results come among those of all blocks.
  std::uint64_t place_of(std::uint64_t block) const {
    return begins_with_the_last_ ? blocks_ - 1 - block : block;
  }

  /// The block that begins as the one of this number.
  std::uint64_t in_turn(std::uint64_t number) const {
    if (begins_with_the_last_) return blocks_ - 1 - number;
    const std::uint64_t first = launch_.first_block < blocks_ ? launch_.first_block : 0;
    if (number > first) return number;
    return number == 0 ? first : number - 1;
  }

  /// A turn for every block that has something to do. False when none is left.
  bool round() {
    bool any = false;
    const Resident* idle = nullptr;
    const std::uint64_t new_values = new_values_;
    const bool wakes_all = std::exchange(wakes_all_, false);
    all_idle_ = true;
    all_poll_ = true;
    all_in_circles_ = quiet_rounds_ >= kQuietRounds;
    for (Resident& resident : residents_) {
      if (!resident.runs) continue;
      if (resident.idle_since == changes_ || (resident.waits_for_store && !wakes_all)) {
        any = true;
        all_in_circles_ &= resident.is_proven;
        if (idle == nullptr) idle = &resident;
        continue;
      }
      give_turn(resident);
      any = any || resident.runs;
      all_idle_ = false;
    }
    if (all_idle_ && wake_those_that_may_go_on()) return true;
    quiet_rounds_ = all_poll_ && new_values == new_values_ ? quiet_rounds_ + 1 : 0;
    retire_finished();
    if (idle == nullptr || !all_idle_) return any;
    all_idle_ = !let_look_who_only_seems_to_wait();
    if (all_idle_ && !wants_another() && !let_waiting_lanes_go()) idle->runner->report_waiting();
    return any;
  }

  /// All wait, or seem to: who counts how often it looks goes on some day, and gets its turns until
  /// that is known. False where it is known of all.
  bool let_look_who_only_seems_to_wait() {
    bool any = false;
    for (Resident& resident : residents_) {
      if (!resident.runs || resident.is_proven) continue;
      resident.needs_proof = any = true;
      resident.idle_since = kNever;
      resident.waits_for_store = false;
    }
    return any;
  }

  /// Where all wait, those that something has changed for since, wherever it was stored.
  bool wake_those_that_may_go_on() {
    wakes_all_ = std::ranges::any_of(residents_, [this](const Resident& resident) {
      return resident.runs && resident.idle_since != changes_;
    });
    return wakes_all_;
  }

  /// Nobody else can end what the blocks wait for: lanes that wait for their own warp may.
  bool let_waiting_lanes_go() {
    bool any = false;
    for (Resident& resident : residents_) {
      if (!resident.runs || !resident.runner->let_waiting_lanes_go(false)) continue;
      resident.idle_since = kNever;
      resident.waits_for_store = false;
      resident.is_proven = resident.needs_proof = false;
      any = lanes_take_turns_ = true;
    }
    return any;
  }

  void give_turn(Resident& resident) {
    BlockRunner& runner = *resident.runner;
    const MemoryChanges& changes = runner.block().changes;
    const std::uint64_t work = runner.work();
    const std::uint64_t changed = changes.of_global();
    const std::uint64_t new_values = changes.new_values();
    const bool runs = runner.round();
    new_values_ += changes.new_values() - new_values;
    all_poll_ = all_poll_ && runs && runner.polling_rounds() != 0;
    work_ += runner.work() - work;
    changes_ += changes.of_global() - changed;
    wake_whom_it_stored_for();
    if (!runs) {
      end(resident);
      return;
    }
    if (work_ > launch_.instruction_budget) runner.report_too_long();
    const std::uint64_t least = launch_.kernel.info.orders_blocks ? kShortSpin : kLongSpin;
    resident.waits_for_store = false;
    if (quiet_rounds_ >= kQuietRounds) all_in_circles_ &= runner.polls_in_circles(new_values_);
    if (runner.is_stuck()) {
      if (resident.needs_proof && !resident.is_proven) {
        resident.is_proven = runner.repeats(changes_);
        if (!resident.is_proven) return;
      }
      resident.idle_since = changes_;
      resident.waits_for_store = launch_.flags != nullptr;
      return;
    }
    resident.is_proven = resident.needs_proof = false;
    if (runner.spins(changes_, least)) {
      // A loop of atomics: more likely a lock that is held by this block than another block's flag.
      if (runner.let_waiting_lanes_go(true)) return;
      resident.idle_since = changes_;
      resident.is_proven = true;
    }
  }

  void wake_whom_it_stored_for() {
    if (launch_.flags == nullptr) return;
    for (const std::uint64_t warp : flags_.take_woken()) {
      const auto resident = resident_of_.find(warp / ThreadBlock::kFlagNumbers);
      if (resident != resident_of_.end()) residents_[resident->second].waits_for_store = false;
    }
  }

  /// The block is done: the next one takes its place.
  void end(Resident& resident) {
    resident.runs = false;
    resident_of_.erase(resident.block);
    FinishedBlock finished = take_results(*resident.runner);
    if (kept_ != nullptr && finished.traffic) kept_->keep(*finished.traffic, launch_.memory);
    const std::uint64_t ends_at = resident.runner->block().begins_at + finished.weight.longest_time;
    finished_.emplace(place_of(resident.block), std::move(finished));
    if (next_ < blocks_) begin(resident, ends_at);
  }

  /// Blocks that wait for another one may be waiting for one that has not begun. Those that look at
  /// several places, or store again and again what is there already, do not show that they wait: it
  /// is so where all of them poll and nothing in memory gets another value, once they are as they
  /// were before. Those that count how often they look get very many turns before.
  bool wants_another() {
    constexpr std::uint64_t kMostQuietRounds = std::uint64_t{1} << 17;
    const bool may = next_ < blocks_ && residents_.size() < most_;
    counts_looks_ = counts_looks_ || quiet_rounds_ >= kMostQuietRounds;
    const bool is_quiet = quiet_rounds_ >= kQuietRounds && (all_in_circles_ || counts_looks_);
    const bool waits = all_idle_ || is_quiet;
    return may && waits && launch_.kernel.info.orders_blocks;
  }

  void retire_finished() {
    const bool ran_alone = residents_.size() == 1;
    while (!finished_.empty() && finished_.begin()->first == next_retired_) {
      collector_.retire(std::move(finished_.begin()->second), ran_alone);
      finished_.erase(finished_.begin());
      ++next_retired_;
    }
  }

  LaunchContext launch_;
  KeptStores* const kept_;
  Collector collector_;
  const std::uint64_t blocks_;
  /// The first block comes last. Where the last ones wait for it, all of them have to have room.
  const bool begins_with_the_last_;
  const std::uint64_t most_;  ///< blocks side by side
  const bool is_cooperative_;
  FlagTimes flags_;
  std::vector<Resident> residents_;
  std::unordered_map<std::uint64_t, std::size_t> resident_of_;  ///< by block, of those that run
  std::map<std::uint64_t, FinishedBlock> finished_;             ///< that an earlier block holds up
  std::uint64_t next_ = 0, next_retired_ = 0;
  std::uint64_t work_ = 0;          ///< of all blocks, in instructions
  std::uint64_t changes_ = 0;       ///< of memory, by all blocks
  std::uint64_t new_values_ = 0;    ///< that memory got from all blocks
  std::uint64_t quiet_rounds_ = 0;  ///< rounds in a row in which all polled, and it got none
  bool wakes_all_ = false;          ///< in the next round, of those that wait for a store
  bool all_idle_ = false;           ///< in the last round
  bool all_poll_ = false;           ///< likewise
  bool all_in_circles_ = false;     ///< likewise, and each was as it had been before
  bool counts_looks_ = false;       ///< blocks have polled for very long, and were never as before
  bool lanes_take_turns_ = false;   ///< of warps that wait for their own lanes: some had to
};

}  // namespace

std::uint64_t blocks_that_fit(const LaunchContext& launch) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;
  return std::max<std::uint64_t>(kMostBytes / std::max<std::uint64_t>(block_bytes(launch), 1), 1);
}

LaunchResult run_side_by_side(const LaunchContext& launch, KeptStores* kept) {
  return SideBySideRun(launch, kept).run();
}

}  // namespace simgpu
