#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "simgpu/checkers/findings.h"
#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/counter_sums.h"
#include "simgpu/exec/cpu_features.h"
#include "simgpu/exec/messages.h"
#include "simgpu/exec/sampled_run.h"
#include "simgpu/exec/touched_memory.h"
#include "simgpu/native/native_kernels.h"

namespace simgpu {
namespace {

constexpr std::size_t kMostPrinted = std::size_t{8} << 20;

/// What a finished block leaves behind.
struct FinishedBlock {
  std::unique_ptr<BlockTraffic::Log> traffic;
  std::vector<RawFinding> findings;
  std::string printed;
};

FinishedBlock run_block(BlockRunner& runner, std::uint64_t block) {
  runner.run(block);
  return {runner.take_traffic(), runner.take_findings(), runner.take_printed()};
}

/// Everything the blocks leave, put together in order of blocks.
class Collector {
 public:
  Collector(const LaunchContext& launch)
      : launch_(launch),
        traffic_(launch.gpu, launch.request.resident_blocks),
        touched_(launch.memory) {}

  void retire(FinishedBlock block) {
    if (launch_.notes_stores && block.traffic) touched_.add_stores(*block.traffic);
    traffic_.retire(std::move(block.traffic));
    for (const RawFinding& raw : block.findings) findings_.add(raw);
    if (printed_.size() < kMostPrinted) {
      printed_.append(block.printed, 0, kMostPrinted - printed_.size());
    }
  }

  bool conflict() const { return traffic_.conflict(); }

  void finish(LaunchResult& result, std::uint32_t shared_bytes) {
    traffic_.finish(result.counters);
    if (launch_.sectors) result.sectors = traffic_.touched();
    if (launch_.notes_stores) touched_.note_changes(launch_.memory);
    if (launch_.checkers) {
      for (const RawFinding& raw : traffic_.take_findings()) findings_.add(raw);
    }
    for (const RawFinding& raw : findings_.take()) {
      result.findings.push_back(to_finding(raw, launch_.kernel, launch_.memory,
                                           launch_.request.grid, launch_.request.block,
                                           shared_bytes));
    }
    result.printed = std::move(printed_);
  }

 private:
  const LaunchContext& launch_;
  LaunchTraffic traffic_;
  TouchedMemory touched_;
  FindingList findings_;
  std::string printed_;
};

void fill_result(const LaunchContext& launch, const CounterSums& sums, LaunchResult& result) {
  result.executed = by_instruction(launch.kernel, sums);
  add_counters(launch.kernel, result.executed, sums.memory, result.counters);
}

LaunchResult run_serially(const LaunchContext& launch) {
  LaunchResult result;
  BlockRunner runner(launch);
  Collector collector(launch);
  std::optional<LaunchFailure> failure;
  const std::uint64_t blocks = launch.request.grid.count();
  try {
    for (std::uint64_t block = 0; block < blocks; ++block) {
      collector.retire(run_block(runner, block));
    }
  } catch (const LaunchFailure& ended) {
    failure = ended;
    collector.retire({runner.take_traffic(), runner.take_findings(), runner.take_printed()});
  }
  collector.finish(result, runner.shared_bytes());
  if (failure) {
    result.status = failure->status;
    result.findings.push_back(failure->finding);
  }
  CounterSums sums(launch.kernel.code.size());
  sums.add(runner);
  fill_result(launch, sums, result);
  return result;
}

/// Several threads take blocks in order; what they leave is put together in order of blocks.
class ParallelRun {
 public:
  ParallelRun(const LaunchContext& launch, unsigned workers)
      : launch_(launch), workers_(workers), collector_(launch), sums_(launch.kernel.code.size()) {}

  /// nullopt when the result depends on the order of blocks, or a block failed: to be run serially.
  std::optional<LaunchResult> run() {
    std::vector<std::jthread> threads;
    threads.reserve(workers_);
    for (unsigned i = 0; i < workers_; ++i) threads.emplace_back([this] { work(); });
    for (std::jthread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    if (stop_.load()) return std::nullopt;
    LaunchResult result;
    collector_.finish(result, shared_bytes_);
    fill_result(launch_, sums_, result);
    return result;
  }

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
        FinishedBlock finished = run_block(runner, block);
        if (!hand_in(block, std::move(finished), runner)) break;
      }
      const std::lock_guard lock(mutex_);
      sums_.add(runner);
      shared_bytes_ = runner.shared_bytes();
    } catch (const LaunchFailure&) {
      stop();
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

  void stop() {
    const std::lock_guard lock(mutex_);
    stop_.store(true);
    retired_.notify_all();
  }

  bool hand_in(std::uint64_t block, FinishedBlock finished, const BlockRunner& runner) {
    std::unique_lock lock(mutex_);
    waiting_entries_ += entries_of(finished);
    waiting_.emplace(block, std::move(finished));
    while (!waiting_.empty() && waiting_.begin()->first == next_retired_) {
      waiting_entries_ -= entries_of(waiting_.begin()->second);
      collector_.retire(std::move(waiting_.begin()->second));
      waiting_.erase(waiting_.begin());
      ++next_retired_;
    }
    work_[&runner] = runner.work();
    std::uint64_t total = 0;
    for (const auto& [worker, work] : work_) total += work;
    if (collector_.conflict() || total > launch_.instruction_budget) stop_.store(true);
    retired_.notify_all();
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
  Collector collector_;
  CounterSums sums_;
  std::uint32_t shared_bytes_ = 0;
  std::exception_ptr error_;
};

LaunchResult refuse(const LoweredKernel& kernel) {
  LaunchResult result;
  result.status = LaunchStatus::unsupported;
  result.executed.resize(kernel.code.size());
  Finding finding;
  finding.code = "RL0312";
  finding.kind = FindingKind::unsupported;
  finding.kernel = kernel.info.name;
  finding.message = "The kernel uses what the simulated GPU does not have: ";
  for (std::size_t i = 0; i < kernel.info.unsupported.size(); ++i) {
    finding.message += (i > 0 ? ", " : "") + kernel.info.unsupported[i];
  }
  result.findings.push_back(std::move(finding));
  return result;
}

/// Workers that may run blocks at a time, so that deep stacks and many registers do not exhaust the
/// machine; at least one. What one block may have is bounded by lowering and by the GPU's memory.
std::uint64_t blocks_that_fit(const LaunchContext& launch) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;
  return std::max<std::uint64_t>(kMostBytes / std::max<std::uint64_t>(block_bytes(launch), 1), 1);
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

/// Runs every block.
LaunchResult run_in_full(LaunchContext launch, unsigned most_workers) {
  DeviceMemory& memory = launch.memory;
  const std::uint64_t blocks = launch.request.grid.count();
  const auto workers = static_cast<unsigned>(
      std::min({std::uint64_t{most_workers}, blocks, blocks_that_fit(launch)}));
  if (workers > 1 && !launch.kernel.info.orders_blocks) {
    launch.undo = true;
    memory.begin_undo();
    std::optional<LaunchResult> result;
    try {
      result = ParallelRun(launch, workers).run();
    } catch (...) {
      memory.roll_back();
      throw;
    }
    if (result) {
      memory.commit_undo();
      return std::move(*result);
    }
    memory.roll_back();
    launch.undo = false;
  }
  return run_serially(launch);
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
  if (!kernel.info.unsupported.empty()) return refuse(kernel);
  check_request(kernel, request);

  std::optional<native::NativeLaunch> native;
  // Watched, a kernel spends its time with the checkers, and native code gains nothing.
  if (options.native != nullptr && !options.checkers) native.emplace(*options.native, kernel);
  const LaunchContext launch{.kernel = kernel,
                             .request = request,
                             .memory = memory,
                             .gpu = gpu,
                             .checkers = options.checkers,
                             .sectors = options.sectors,
                             .instruction_budget = options.instruction_budget,
                             .notes_stores = options.sampled,
                             .native = native ? &*native : nullptr};
  if (options.sampled) {
    if (std::optional<LaunchResult> result = run_sampled(launch)) return std::move(*result);
  }
  if (native) native->expect(request.grid.count());
  if (!options.sampled) memory.note_change_anywhere();
  try {
    return run_in_full(launch, options.workers);
  } catch (...) {
    memory.note_change_anywhere();
    throw;
  }
}

}  // namespace simgpu
