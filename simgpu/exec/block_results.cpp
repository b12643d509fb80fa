#include "simgpu/exec/block_results.h"

#include <algorithm>
#include <set>
#include <utility>

#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/messages.h"

namespace simgpu {
namespace {

/// Blocks that do not run side by side cannot tell each other anything out of order.
WatchedPlaces watched_places(const LaunchContext& launch) {
  if (launch.checkers || launch.sectors) return WatchedPlaces::all;
  return launch.repeats_on_conflict ? WatchedPlaces::conflicts : WatchedPlaces::none;
}

/// Whether every block may have asked an atomic which work is its own.
bool has_asked_for_work(const LaunchContext& launch, const LaunchResult& result) {
  std::uint64_t asked = 0;
  for (std::size_t i = 0; i < result.executed.size(); ++i) {
    const InstructionInfo& info = launch.kernel.info.instructions[i];
    if (is_atomic(info.cls) && !info.writes.empty()) asked += result.executed[i].warps;
  }
  return asked >= launch.request.grid.count();
}

/// What watches loads that take memory to be constant; nothing where the kernel has none.
std::unique_ptr<StaleLoadsOfBlocks> stale_loads(const KernelInfo& kernel) {
  std::vector<bool> by_pc;
  for (const InstructionInfo& info : kernel.instructions) by_pc.push_back(info.reads_unchanged);
  if (std::ranges::find(by_pc, true) == by_pc.end()) return nullptr;
  return std::make_unique<StaleLoadsOfBlocks>(std::move(by_pc));
}

}  // namespace

FinishedBlock take_results(BlockRunner& runner) {
  std::unique_ptr<BlockTraffic::Log> traffic = runner.take_traffic();
  return {std::move(traffic), runner.counts().last_weight(), runner.take_findings(),
          runner.take_printed()};
}

Collector::Collector(const LaunchContext& launch)
    : launch_(launch),
      traffic_(launch.gpu, launch.request.resident_blocks, watched_places(launch),
               launch.l2_memory),
      sms_(launch.gpu.sm_count, launch.request.resident_blocks),
      touched_(launch.memory) {
  const std::uint64_t workspace = launch.request.grid_workspace;
  if (launch.checkers && workspace != 0) phases_ = std::make_unique<GridPhases>(workspace);
  if (launch.checkers) stale_loads_ = stale_loads(launch.kernel.info);
}

void Collector::retire(FinishedBlock block, bool ran_alone) {
  note_touched(block.traffic.get());
  if (launch_.places && block.traffic) places_.add(*block.traffic);
  if (phases_ && block.traffic) phases_->add(*block.traffic);
  if (stale_loads_ && block.traffic) stale_loads_->add(*block.traffic);
  sms_.add(block.weight);
  const bool keeps_values = ran_alone && launch_.checkers && launch_.request.grid.count() > 1;
  traffic_.retire(std::move(block.traffic), keeps_values ? &launch_.memory : nullptr);
  for (const RawFinding& raw : block.findings) findings_.add(raw);
  printed_.append(block.printed);
}

void Collector::note_touched(const TrafficLog* log) {
  if (!launch_.notes_stores) return;
  if (log == nullptr) {
    is_all_logged_ = false;
    return;
  }
  touched_.add_loads(*log);
  touched_.add_stores(*log);
}

/// What is known of whole blocks first: a phase adds only pairs of instructions that it alone
/// tells of.
void Collector::add_conflicts() {
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  for (const RawFinding& raw : traffic_.take_findings()) {
    known.insert(std::minmax(raw.pc, raw.other_pc));
    findings_.add(raw);
  }
  if (stale_loads_) {
    for (const RawFinding& raw : stale_loads_->take_findings()) findings_.add(raw);
  }
  if (!phases_) return;
  for (const RawFinding& raw : phases_->take_findings()) {
    if (!known.contains(std::minmax(raw.pc, raw.other_pc))) findings_.add(raw);
  }
}

void Collector::finish(LaunchResult& result, std::uint32_t shared_bytes) {
  traffic_.finish(result.counters);
  add_loads(result.loads, traffic_.loads());
  if (launch_.sectors) result.sectors = traffic_.touched();
  if (launch_.places) result.places = places_.take();
  if (launch_.checkers) add_conflicts();
  for (const RawFinding& raw : findings_.take()) {
    if (is_of_a_library(raw, launch_.kernel.info) || is_only_guessed(raw, launch_.kernel.info)) {
      continue;
    }
    result.findings.push_back(to_finding(raw, launch_.kernel, launch_.memory, launch_.request.grid,
                                         launch_.request.block, shared_bytes));
  }
  result.printed = printed_.take();
  if (!launch_.notes_stores) return;
  touched_.note_changes(launch_.memory);
  const bool only_stores = result.findings.empty() && result.printed.empty();
  if (is_all_logged_ && only_stores && !launch_.kernel.info.reads_time) {
    result.touched = touched_.constant();
  }
}

void fill_result(const LaunchContext& launch, const CounterSums& sums,
                 const BlockWeights::Weight& busiest_sm, LaunchResult& result) {
  result.executed = by_instruction(launch.kernel, sums);
  add_counters(launch.kernel, result.executed, sums.memory, result.counters);
  result.accesses = accesses_by_instruction(launch.kernel, sums);
  result.first_accesses = first_by_instruction(launch.kernel, sums.first);
  add_loads(result.loads, sums.loads);
  result.asked_for_work = has_asked_for_work(launch, result);
  BlockWeights weights = sums.weights;
  weights.add_sm(busiest_sm);
  result.balance = balance_of(launch.kernel, weights, weights.all.slots, weights.warps);
}

}  // namespace simgpu
