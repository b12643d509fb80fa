#include "simgpu/exec/bounded_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/block_sampler.h"
#include "simgpu/exec/sampled_run.h"
#include "simgpu/exec/secret_choice.h"
#include "simgpu/exec/side_by_side.h"
#include "simgpu/exec/window_traffic.h"
#include "simgpu/exec/work_counts.h"

namespace simgpu {
namespace {

/// Of fewer blocks each is too large a part of the grid to be run for a look.
constexpr std::uint64_t kLeastBlocks = 64;
/// Of the budget: what a sampled run may take that stands in for the whole, and what the blocks may
/// take that bound it. All happens on one thread, and after others have used up their part.
constexpr std::uint64_t kShareOfSample = 4, kShareOfBounds = 4;
constexpr std::uint64_t kMostPairs = 16;
/// Where these are not alike.
constexpr std::uint64_t kMostUnevenPairs = 48;

bool stands_alone(const LaunchContext& launch) {
  return !launch.kernel.info.orders_blocks && launch.request.grid_workspace == 0 &&
         launch.request.grid.count() >= kLeastBlocks;
}

/// Blocks are run only for a look: memory is afterwards as it was before.
class Rehearsal {
 public:
  explicit Rehearsal(DeviceMemory& memory) : memory_(memory) { memory_.begin_undo(); }
  ~Rehearsal() {
    if (is_kept_) {
      memory_.commit_undo();
    } else {
      memory_.roll_back();
    }
  }
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  /// It was no rehearsal: memory stays as it is.
  void keep() { is_kept_ = true; }

 private:
  DeviceMemory& memory_;
  bool is_kept_ = false;
};

LaunchContext with_share(const LaunchContext& launch, std::uint64_t share) {
  LaunchContext part = launch;
  part.undo = true;
  part.instruction_budget = launch.instruction_budget / share;
  return part;
}

/// What is known of a grid before it is decided how it is run.
struct Expectation {
  std::uint64_t work = 0;         ///< of the whole grid
  BlockWeights::Weight heaviest;  ///< the most of each that one of the blocks did that were run
};

/// What the whole grid would take, told from four of its blocks where the first alone makes it
/// likely to be much; more than the budget if one of them does not come to its end.
Expectation expectation_of(const LaunchContext& launch) {
  const std::uint64_t blocks = launch.request.grid.count();
  const LaunchContext part = with_share(launch, kShareOfBounds);
  const Rehearsal rehearsal(launch.memory);
  BlockRunner runner(part);
  const std::array<std::uint64_t, 4> looked_at = {0, blocks - 1, blocks / 2, blocks / 4};
  Expectation expected;
  std::uint64_t run = 0;
  try {
    for (const std::uint64_t block : looked_at) {
      runner.run(block);
      runner.take_traffic();
      expected.heaviest.raise_loads(runner.counts().last_weight());
      ++run;
      // Even if the others did nothing, their mean would be too much.
      if (runner.work() / looked_at.size() > launch.instruction_budget / blocks) break;
      constexpr std::uint64_t kMuchLess = 16;
      if (runner.work() / run < launch.instruction_budget / kMuchLess / blocks) break;
    }
  } catch (const LaunchFailure& failure) {
    // The run in full tells of the first block that fails.
    if (failure.finding.kind() == FindingKind::too_long) expected.work = ~std::uint64_t{0};
    return expected;
  }
  const double each = static_cast<double>(runner.work()) / static_cast<double>(run);
  expected.work = static_cast<std::uint64_t>(std::min(each * static_cast<double>(blocks), 1e18));
  return expected;
}

/// Blocks whose mean is surer than this are alike.
constexpr double kAlike = 0.9;

/// The share of the samples' mean that the mean of all blocks reaches but for one case in forty.
double certain_share(const std::vector<double>& samples) {
  const auto count = static_cast<double>(samples.size());
  double sum = 0, squares = 0;
  for (const double sample : samples) sum += sample;
  const double mean = sum / count;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  if (samples.size() < 2 || mean <= 0) return 1 / count;
  const double error = std::sqrt(squares / (count - 1) / count);
  return std::max(0.0, 1 - 2 * error / mean);
}

/// The share of the samples' mean that counts: of blocks that are alike what is certain, else all
/// of it, for a grid must gain nothing by being cut into blocks that differ.
double counted_share(const std::vector<double>& samples) {
  const double certain = certain_share(samples);
  return certain >= kAlike ? certain : 1;
}

using Pair = std::pair<std::uint64_t, std::uint64_t>;

/// Two blocks, one as far from the grid's beginning as the other from its end: where work grows
/// with the place, in the whole grid or again and again in parts of it, pairs are alike. The grid
/// is cut into 32 equal stretches; where in its stretch a block lies differs from pair to pair, so
/// that no rhythm of the grid is missed, and nobody can tell it who does not know the secret.
Pair pair_of_blocks(std::uint64_t pair, std::uint64_t blocks, std::uint64_t secret) {
  const std::uint64_t drawn = drawn_bits(secret, pair) >> 32;
  const auto place = [&](std::uint64_t stretch, bool from_end) {
    const std::uint64_t first = blocks * stretch / (2 * kMostPairs);
    const std::uint64_t length = blocks * (stretch + 1) / (2 * kMostPairs) - first;
    const std::uint64_t at = drawn * length >> 32;
    return first + (from_end ? length - 1 - at : at);
  };
  // Those that are run first lie all over the grid.
  const std::uint64_t stretch = pair * 7 % kMostPairs;
  return {place(stretch, false), place(2 * kMostPairs - 1 - stretch, true)};
}

/// Blocks from all over a grid that bound it, and what they stored.
class BoundingBlocks {
 public:
  explicit BoundingBlocks(LaunchContext& launch) : launch_(launch), sampler_(launch) {}

  /// Runs as many pairs as the budget allows.
  /// @throws LaunchFailure of a block that fails by anything else than that it takes too long
  void run() {
    const std::uint64_t blocks = launch_.request.grid.count();
    const auto run_more = [&](auto run) {
      try {
        run();
      } catch (const LaunchFailure& failure) {
        if (failure.finding.kind() != FindingKind::too_long) throw;
      } catch (const NotSampled&) {
      }
    };
    run_more([&] {
      std::uint64_t draw = 0;
      for (; draw < kMostPairs; ++draw) run_pair(pair_of_blocks(draw, blocks, launch_.secret));
      const bool is_uneven = certain_share(work_of_pairs()) < kAlike;
      for (; is_uneven && draw < kMostUnevenPairs; ++draw) {
        const Pair pair = pair_of_blocks(draw, blocks, launch_.secret);
        if (!has_run(pair.first) && !has_run(pair.second)) run_pair(pair);
      }
    });
    // Not to bound anything by them: edges are where values go wrong, and are always compared.
    run_more([&] {
      run_block(0);
      run_block(blocks - 1);
      edges_ran_ = true;
    });
  }

  const std::vector<Pair>& pairs() const { return pairs_; }
  /// Issue slots of each.
  std::vector<double> work_of_pairs() {
    std::vector<double> work;
    for (const auto& [first, second] : pairs_) {
      work.push_back(static_cast<double>(profile(first).slots + profile(second).slots));
    }
    return work;
  }
  const BlockProfile& profile(std::uint64_t block) { return sampler_.profile(block); }
  std::uint64_t work() const { return sampler_.work(); }
  const FirstAccesses& first_accesses() const { return sampler_.first_accesses(); }
  /// Writes what whole blocks stored to memory that is as it was before the launch.
  SettledBytes settle() const {
    if (sampler_.any_conflict()) return {};
    kept_.put_back(launch_.memory);
    SettledBytes settled = kept_.settled(launch_.request.grid.count(), launch_.memory);
    // Where the first or the last block takes too long, it may do the work of all.
    const bool all_ran = pairs_.size() >= kMostPairs && edges_ran_;
    if (all_ran && kept_.blocks() >= 2 * kMostPairs) settled.chosen = chosen();
    return settled;
  }

 private:
  ChosenBlocks chosen() const {
    const std::uint64_t blocks = launch_.request.grid.count();
    ChosenBlocks chosen{.storing = kept_.storing(), .of_grid = blocks};
    const auto last = sampler_.profiles().find(blocks - 1);
    if (last == sampler_.profiles().end()) return chosen;
    const std::vector<ByteRange> stored = stored_bytes(*last->second.log);
    if (!stored.empty()) chosen.last_stores_at = stored.front().address;
    return chosen;
  }

  bool has_run(std::uint64_t block) const { return sampler_.profiles().contains(block); }

  void run_pair(const Pair& pair) {
    run_block(pair.first);
    run_block(pair.second);
    pairs_.push_back(pair);
  }

  void run_block(std::uint64_t block) {
    if (has_run(block)) return;
    kept_.keep(*sampler_.profile(block).log, launch_.memory);
  }

  LaunchContext& launch_;
  BlockSampler sampler_;
  KeptStores kept_;
  std::vector<Pair> pairs_;
  bool edges_ran_ = false;  ///< the first block and the last came to their ends
};

LaunchResult failed_launch(const LaunchContext& launch, const LaunchFailure& failure) {
  LaunchResult result;
  result.status = failure.status;
  result.findings = {failure.finding};
  result.executed.resize(launch.kernel.code.size());
  return result;
}

/// The whole grid's counters, as lower bounds.
/// @param heaviest of the blocks that were run before, to find that the grid is to be bounded: it
/// takes as long as the SM that runs that one
LaunchResult bounds_of(const LaunchContext& launch, BoundingBlocks& ran,
                       const BlockWeights::Weight& heaviest) {
  LaunchResult result;
  WorkCounts total;
  BlockWeights weights;
  LaunchTraffic l2(launch.gpu, launch.request.resident_blocks, WatchedPlaces::none,
                   launch.l2_memory);
  std::vector<std::uint64_t> run;
  for (const auto& [first, second] : ran.pairs()) run.insert(run.end(), {first, second});
  std::ranges::sort(run);
  for (const std::uint64_t block : run) {
    const BlockProfile& profile = ran.profile(block);
    add_times(total, work_counts(profile), 1);
    weights.add_times(profile.sums.weights, 1);
    add_loads(result.loads, profile.sums.loads);
    l2.retire(std::make_unique<TrafficLog>(*profile.log));
  }
  weights.add_sm(heaviest);
  const auto blocks = static_cast<double>(launch.request.grid.count());
  const double all = blocks / static_cast<double>(run.size());
  const double times = std::max(1.0, all * counted_share(ran.work_of_pairs()));
  for (std::int64_t& count : total) {
    count = static_cast<std::int64_t>(static_cast<double>(count) * times);
  }
  set_counters(launch.kernel, total, result);
  result.first_accesses = first_by_instruction(launch.kernel, ran.first_accesses());
  result.balance =
      balance_of(launch.kernel, weights, issue_slots(total), warps_of_grid(launch.request));
  // What reaches DRAM does not grow with the blocks: they may all read the same.
  KernelCounters below;
  l2.finish(below);
  add_loads(result.loads, l2.loads());
  result.counters.l2_hit_sectors =
      static_cast<std::uint64_t>(static_cast<double>(below.l2_hit_sectors) * times);
  result.counters.dram_read_bytes = below.dram_read_bytes;
  result.counters.dram_write_bytes = below.dram_write_bytes;
  result.at_least = true;
  result.work = ran.work();
  return result;
}

/// Raises what reaches DRAM to what consecutive blocks ask it for, where they can be run: each half
/// of the grid is told from a place in it.
void add_dram_of_windows(const LaunchContext& launch, LaunchResult& result) {
  constexpr std::uint64_t kWindows = 2, kShareOfWindow = 8;
  // However little is left: or idle arithmetic would hide what the window would show.
  constexpr std::uint64_t kLeastBudget = 80'000'000;
  const std::uint64_t blocks = launch.request.grid.count();
  const KernelCounters& counters = result.counters;
  const auto sectors = static_cast<double>(counters.l2_read_sectors + counters.l2_write_sectors);
  const std::uint64_t length = blocks_of_window(launch.gpu, sectors / static_cast<double>(blocks));
  LaunchContext part = with_share(launch, kShareOfWindow);
  part.instruction_budget = std::max(part.instruction_budget, kLeastBudget);
  const double work = static_cast<double>(counters.warp_instructions) + sectors;
  const double of_window = work / static_cast<double>(blocks) * static_cast<double>(length);
  if (length > blocks / kWindows || of_window > static_cast<double>(part.instruction_budget))
    return;
  DramOfBlock sum;  // of a block of each half
  for (std::uint64_t window = 0; window < kWindows; ++window) {
    const Rehearsal rehearsal(launch.memory);
    const std::uint64_t drawn = drawn_bits(launch.secret, ~window) >> 32;
    const std::uint64_t space = blocks / kWindows - length + 1;
    const std::uint64_t first = window * (blocks / kWindows) + (drawn * space >> 32);
    const std::optional<DramOfBlock> dram = dram_of_window(part, first, length);
    if (!dram) return;
    sum.read_bytes += dram->read_bytes;
    sum.write_bytes += dram->write_bytes;
  }
  const auto raise = [&](std::uint64_t& bytes, double of_blocks) {
    const double told = of_blocks * static_cast<double>(blocks) / kWindows;
    bytes = std::max(bytes, static_cast<std::uint64_t>(told));
  };
  raise(result.counters.dram_read_bytes, sum.read_bytes);
  raise(result.counters.dram_write_bytes, sum.write_bytes);
}

/// Bounds of a grid from blocks all over it. nullopt when not even a few of them fit.
std::optional<LaunchResult> bounds_from_blocks(const LaunchContext& launch,
                                               const BlockWeights::Weight& heaviest) {
  constexpr std::size_t kFewestPairs = 2;
  constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 31;
  if (launch.request.grid.count() > kMostBlocks) return std::nullopt;
  LaunchContext part = with_share(launch, kShareOfBounds);
  BoundingBlocks ran(part);
  {
    const Rehearsal rehearsal(launch.memory);
    try {
      ran.run();
    } catch (const LaunchFailure& failure) {
      return failed_launch(launch, failure);
    }
  }
  if (ran.pairs().size() < kFewestPairs) return std::nullopt;
  LaunchResult result = bounds_of(launch, ran, heaviest);
  try {
    if (!launch.bounds_by_blocks_alone) add_dram_of_windows(launch, result);
  } catch (const LaunchFailure& failure) {
    return failed_launch(launch, failure);
  }
  result.settled = ran.settle();
  return result;
}

/// What all blocks of a launch beside vast memory have stored, which nobody could look through.
SettledBytes stored_whole(const LaunchContext& launch, const KeptStores& kept) {
  return kept.settled(launch.request.grid.count(), launch.memory);
}

/// Runs all blocks, and says where they stored.
LaunchResult run_whole_beside_vast_memory(const LaunchContext& launch) {
  KeptStores kept;
  LaunchResult result = run_side_by_side(launch, &kept);
  if (!result.at_least) result.settled = stored_whole(launch, kept);
  return result;
}

/// Bounds from as much as runs of the launch's beginning.
LaunchResult bounds_from_beginning(const LaunchContext& launch, std::uint64_t share) {
  LaunchContext part = with_share(launch, share);
  // What blocks that tell each other something have stored, others may add to.
  const bool settles = !launch.kernel.info.orders_blocks && launch.request.grid_workspace == 0;
  KeptStores kept;
  LaunchResult result;
  {
    Rehearsal rehearsal(launch.memory);
    const bool keeps = settles || launch.bounds_by_blocks_alone;
    result = run_side_by_side(part, keeps ? &kept : nullptr);
    if (!result.at_least) rehearsal.keep();
  }
  if (!result.at_least && launch.bounds_by_blocks_alone)
    result.settled = stored_whole(launch, kept);
  if (result.at_least && settles) {
    kept.put_back(launch.memory);
    result.settled = kept.settled(launch.request.grid.count(), launch.memory);
  }
  return result;
}

/// Whether most of what was executed takes no issue slot of the machine: copies between registers,
/// constants that nobody uses. Such a program uses up its budget and tells nothing of its time.
bool is_hollow(const LaunchContext& launch, const LaunchResult& result) {
  const std::vector<InstructionInfo>& program = launch.kernel.info.instructions;
  std::uint64_t instructions = 0, slots = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    instructions += result.executed[i].warps;
    slots += program[i].issue_slots() * result.executed[i].warps;
  }
  return slots < instructions / 2;
}

/// Leaves of a bound what was stored, and no time.
void forget_work(LaunchResult& result) {
  result.counters = {};
  result.loads.clear();
  result.accesses.clear();
  result.balance = {};
  std::ranges::fill(result.executed, ExecutionCount{});
}

LaunchResult run_or_bound(const LaunchContext& launch, bool may_sample,
                          const FullRun& run_in_full) {
  const bool alone = stands_alone(launch);
  // All that stores beside vast memory can be undone, and so is bounded.
  if (launch.bounds_by_blocks_alone && !alone) {
    return bounds_from_beginning(launch, kShareOfBounds);
  }
  const Expectation expected = alone ? expectation_of(launch) : Expectation{};
  if (expected.work <= launch.instruction_budget) {
    LaunchResult whole =
        launch.bounds_by_blocks_alone ? run_whole_beside_vast_memory(launch) : run_in_full(launch);
    const bool is_known = !whole.at_least || whole.counters.warp_instructions > 0;
    if (is_known) return whole;
  }
  if (alone) {
    if (may_sample) {
      LaunchContext part = launch;
      part.instruction_budget = launch.instruction_budget / kShareOfSample;
      if (std::optional<LaunchResult> sampled = run_sampled(part)) return std::move(*sampled);
    }
    if (std::optional<LaunchResult> bounds = bounds_from_blocks(launch, expected.heaviest))
      return std::move(*bounds);
  }
  // Blocks have had their share, and the bound is not what is wanted.
  constexpr std::uint64_t kSmallShare = 16;
  return bounds_from_beginning(launch,
                               launch.bounds_by_blocks_alone ? kSmallShare : kShareOfBounds);
}

}  // namespace

LaunchResult run_within_budget(const LaunchContext& launch, bool may_sample,
                               const FullRun& run_in_full) {
  LaunchResult result = run_or_bound(launch, may_sample, run_in_full);
  if (result.at_least && is_hollow(launch, result)) forget_work(result);
  return result;
}

}  // namespace simgpu
