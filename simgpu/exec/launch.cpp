#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "simgpu/exec/block_results.h"
#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/bounded_run.h"
#include "simgpu/exec/counter_sums.h"
#include "simgpu/exec/cpu_features.h"
#include "simgpu/exec/launch_budget.h"
#include "simgpu/exec/sampled_run.h"
#include "simgpu/exec/side_by_side.h"

namespace simgpu {
namespace {

/// Several threads take blocks in order; what they leave is put together in order of blocks.
class ParallelRun {
 public:
  ParallelRun(const LaunchContext& launch, unsigned workers)
      : launch_(launch), workers_(workers), collector_(launch), sums_(launch.kernel) {}

  /// nullopt when the result depends on the order of blocks, or a block failed: to be run serially.
  std::optional<LaunchResult> run() {
    std::vector<std::jthread> threads;
    threads.reserve(workers_);
    for (unsigned i = 0; i < workers_; ++i) threads.emplace_back([this] { work(); });
    for (std::jthread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    if (stop_.load()) return std::nullopt;
    LaunchResult result;
    for (const auto& [worker, work] : work_) result.work += work;
    collector_.finish(result, shared_bytes_);
    fill_result(launch_, sums_, collector_.busiest_sm(), result);
    return result;
  }

  /// Whether run() gave up because a block, or all together, took more than their limit.
  bool took_too_long() const { return took_too_long_; }

 private:
  /// Blocks a worker may be ahead of the slowest one, and what the logs that wait for it may hold
  /// before nobody goes on: 512 MiB.
  static constexpr std::uint64_t kMostAhead = 256;
  static constexpr std::size_t kMostWaiting = (std::size_t{512} << 20) / sizeof(TrafficEntry);

  void work() {
    try {
      BlockRunner runner(launch_);
      const std::uint64_t blocks = launch_.request.grid.count();
      while (!stop_.load(std::memory_order_relaxed)) {
        const std::uint64_t block = next_.fetch_add(1);
        if (block >= blocks) break;
        runner.run(block);
        if (!hand_in(block, take_results(runner), runner)) break;
      }
      const std::lock_guard lock(mutex_);
      sums_.add(runner);
      shared_bytes_ = runner.block().memory.shared_bytes();
    } catch (const LaunchFailure& failure) {
      // Which limit is met first, a block's or that of all, depends on who came how far.
      stop(failure.finding.kind() == FindingKind::too_long);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
      stop_.store(true);
      retired_.notify_all();
    }
  }

  static std::size_t entries_of(const FinishedBlock& block) {
    return block.traffic ? block.traffic->entries.size() : 0;
  }

  void stop(bool took_too_long) {
    const std::lock_guard lock(mutex_);
    took_too_long_ = took_too_long_ || took_too_long;
    stop_.store(true);
    retired_.notify_all();
  }

  /// Blocks in order, as far as they have come; one worker at a time, while the others go on.
  void retire_all(std::unique_lock<std::mutex>& lock) {
    if (is_retiring_) return;
    is_retiring_ = true;
    while (!stop_.load() && !waiting_.empty() && waiting_.begin()->first == next_retired_) {
      FinishedBlock block = std::move(waiting_.begin()->second);
      waiting_entries_ -= entries_of(block);
      waiting_.erase(waiting_.begin());
      lock.unlock();
      collector_.retire(std::move(block), false);
      lock.lock();
      ++next_retired_;
      if (collector_.conflict()) stop_.store(true);
      retired_.notify_all();
    }
    is_retiring_ = false;
  }

  bool hand_in(std::uint64_t block, FinishedBlock finished, const BlockRunner& runner) {
    std::unique_lock lock(mutex_);
    waiting_entries_ += entries_of(finished);
    waiting_.emplace(block, std::move(finished));
    retire_all(lock);
    work_[&runner] = runner.work();
    std::uint64_t total = 0;
    for (const auto& [worker, work] : work_) total += work;
    if (total > launch_.instruction_budget) {
      took_too_long_ = true;
      stop_.store(true);
      retired_.notify_all();
    }
    // The block that is retired next is with a worker that is running it: somebody always goes on.
    retired_.wait(lock, [&] {
      return stop_.load() ||
             (block < next_retired_ + kMostAhead && waiting_entries_ <= kMostWaiting);
    });
    return !stop_.load();
  }

  const LaunchContext& launch_;
  const unsigned workers_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards everything below
  std::condition_variable retired_;
  std::map<std::uint64_t, FinishedBlock> waiting_;
  std::size_t waiting_entries_ = 0;
  std::map<const BlockRunner*, std::uint64_t> work_;
  std::uint64_t next_retired_ = 0;
  bool took_too_long_ = false;
  bool is_retiring_ = false;  // collector_ belongs to whoever has set it
  Collector collector_;
  CounterSums sums_;
  std::uint32_t shared_bytes_ = 0;
  std::exception_ptr error_;
};

LaunchResult refuse(const LoweredKernel& kernel, const std::string& what) {
  LaunchResult result;
  result.status = LaunchStatus::unsupported;
  result.executed.resize(kernel.code.size());
  Finding finding;
  finding.code = "RL0312";
  finding.kernel = kernel.info.name;
  finding.message = "The kernel uses what the simulated GPU does not have: " + what;
  result.findings.push_back(std::move(finding));
  return result;
}

void check_request(const LoweredKernel& kernel, const LaunchRequest& request) {
  constexpr std::uint64_t kMostThreads = 1024;
  if (request.parameters.size() != kernel.info.parameter_bytes) {
    throw std::invalid_argument(
        "kernel " + kernel.info.name + " takes " + std::to_string(kernel.info.parameter_bytes) +
        " bytes of parameters, not " + std::to_string(request.parameters.size()));
  }
  if (request.grid.count() == 0 || request.block.count() == 0 ||
      request.block.count() > kMostThreads) {
    throw std::invalid_argument("a block has 1 to 1024 threads and a grid at least one block");
  }
}

/// Of a launch that bounds itself, which takes too long.
LaunchResult beyond_budget() {
  LaunchResult result;
  result.at_least = true;
  return result;
}

bool is_uneven(const WorkBalance& balance, const LaunchContext& launch) {
  constexpr double kMuch = 1.25;
  const std::uint64_t blocks = launch.request.grid.count();
  const auto sms = static_cast<std::uint64_t>(launch.gpu.sm_count);
  const double even = static_cast<double>((blocks + sms - 1) / sms) / static_cast<double>(blocks);
  const double busiest =
      std::max({balance.busiest_instructions, balance.busiest_sectors, balance.busiest_wavefronts});
  return busiest > kMuch * even ||
         std::max({balance.longest_of_block, balance.longest, balance.kept_waiting}) > kMuch;
}

/// Runs every block, one after another. Where each asks an atomic which work is its own, the first
/// one would get all of it, which is even on a GPU, where all ask at the same time: a launch that
/// seems uneven for that is run once more, by turns. What is uneven then is so on a GPU, too.
/// Blocks that begin together, and so ask together, take turns at once, as do those that may wait
/// for each other: one after another, each would find at once what it is for. Checked launches are
/// not timed, and keep to the order that tells most.
LaunchResult run_fairly(LaunchContext launch) {
  const bool may_ask =
      std::ranges::any_of(launch.kernel.info.instructions, [](const InstructionInfo& instruction) {
        return is_atomic(instruction.cls) && !instruction.writes.empty();
      });
  const bool is_cooperative = launch.request.grid_workspace != 0;
  const bool is_by_turns = is_cooperative || launch.kernel.info.may_wait_for_blocks;
  if (!may_ask && !is_by_turns) return run_side_by_side(launch);
  DeviceMemory& memory = launch.memory;
  launch.asks_take_turns = is_by_turns && !launch.checkers;
  const bool may_repeat = !launch.checkers && !launch.undo && !memory.bounds_undo() && !is_by_turns;
  if (may_repeat) {
    launch.undo = true;
    memory.begin_undo();
  }
  LaunchResult result = run_side_by_side(launch);
  const bool repeats = may_repeat && result.status == LaunchStatus::ok && !result.at_least &&
                       result.asked_for_work && is_uneven(result.balance, launch);
  if (repeats) {
    memory.roll_back();
    launch.undo = false;
    launch.asks_take_turns = true;
    return run_side_by_side(launch);
  }
  if (may_repeat) memory.commit_undo();
  const bool is_fair = launch.asks_take_turns || !is_uneven(result.balance, launch);
  if (result.asked_for_work && !is_fair) result.balance = {};
  return result;
}

/// Runs every block; of a grid with more of them than can be run only the beginning, for what may
/// be wrong there.
LaunchResult run_in_full(LaunchContext launch, unsigned most_workers) {
  constexpr std::uint64_t kWorkOfALook = 1'000'000;
  if (has_too_many_blocks(launch)) {
    launch.instruction_budget = std::min(launch.instruction_budget, kWorkOfALook);
  }
  DeviceMemory& memory = launch.memory;
  const std::uint64_t blocks = launch.request.grid.count();
  const auto workers = static_cast<unsigned>(
      std::min({std::uint64_t{most_workers}, blocks, blocks_that_fit(launch)}));
  if (workers > 1 && !launch.kernel.info.orders_blocks && launch.request.grid_workspace == 0) {
    launch.undo = launch.repeats_on_conflict = true;
    memory.begin_undo();
    ParallelRun run(launch, workers);
    std::optional<LaunchResult> result;
    try {
      result = run.run();
    } catch (...) {
      memory.roll_back();
      throw;
    }
    const bool may_be_unfair = result && result->asked_for_work;
    if (result && !(may_be_unfair && is_uneven(result->balance, launch))) {
      memory.commit_undo();
      return std::move(*result);
    }
    memory.roll_back();
    launch.undo = launch.repeats_on_conflict = false;
    if (run.took_too_long())
      return launch.bounds_long_launches ? beyond_budget() : fail_long_launch(launch);
  }
  return run_fairly(launch);
}

}  // namespace

LaunchResult execute(const Program& program, const LaunchRequest& request, DeviceMemory& memory,
                     const gpu_spec::GpuSpec& gpu, const EngineOptions& options) {
  require_cpu_features();
  const auto found = program.kernels.find(request.kernel);
  if (found == program.kernels.end()) {
    throw std::invalid_argument("the program has no kernel " + request.kernel);
  }
  const LoweredKernel& kernel = found->second;
  if (!kernel.info.unsupported.empty()) {
    return refuse(kernel, fmt::format("{}", fmt::join(kernel.info.unsupported, ", ")));
  }
  check_request(kernel, request);

  const LaunchContext launch{
      .kernel = kernel,
      .request = request,
      .memory = memory,
      .gpu = gpu,
      .checkers = options.checkers,
      .sectors = options.sectors,
      .places = options.places,
      .first_accesses = options.first_accesses,
      .instruction_budget = options.instruction_budget,
      .warp_instructions = kernel.info.reads_clock
                               ? ~std::uint64_t{0}
                               : most_warp_instructions(options.warp_limit_us, gpu),
      .bounds_long_launches = options.bounds_long_launches,
      .bounds_by_blocks_alone = options.bounds_by_blocks_alone,
      .secret = options.secret,
      .notes_stores = options.sampled,
      .first_block = options.first_block,
      .backwards = options.backwards && kernel.info.sees_order,
      .l2_memory = options.l2_memory,
      .observer = options.observer};
  const bool cooperative = request.grid_workspace != 0;
  if (cooperative && request.grid.count() > blocks_that_fit(launch)) {
    return refuse(kernel,
                  "cooperative launches whose blocks' registers, shared and local memory "
                  "take more than 2 GiB together");
  }
  if (options.observer != nullptr) {
    options.observer->begin_launch(launch);
    memory.note_change_anywhere();
    LaunchResult result = run_side_by_side(launch);
    options.observer->end_launch(result);
    return result;
  }
  if (options.sampled && !cooperative) {
    if (std::optional<LaunchResult> result = run_sampled(launch)) return std::move(*result);
  }
  if (!options.sampled) memory.note_change_anywhere();
  try {
    if (launch.backwards) return run_side_by_side(launch);
    if (options.bounds_long_launches) {
      // On one worker it would be bounded in another way, and by other blocks, than elsewhere.
      const unsigned workers = std::max(options.workers, 2U);
      const bool may_sample = !options.sampled && !options.bounds_by_blocks_alone;
      return run_within_budget(launch, may_sample, [&](const LaunchContext& whole) {
        return run_in_full(whole, workers);
      });
    }
    return run_in_full(launch, options.workers);
  } catch (...) {
    memory.note_change_anywhere();
    throw;
  }
}

}  // namespace simgpu
