#include "simgpu/exec/sampled_run.h"

#include "simgpu/checkers/findings.h"
#include "simgpu/counters/sampled_l2.h"
#include "simgpu/exec/grid_cells.h"
#include "simgpu/exec/messages.h"

namespace simgpu {
namespace {

/// Grids of fewer blocks, or less work, take no time worth saving.
constexpr std::uint64_t kLeastBlocks = 256;
constexpr std::uint64_t kLeastInstructions = 1'000'000;

/// Adds what the blocks of a cell do, but for what becomes of it in L2.
void add_cell(const LoweredKernel& kernel, const GridCell& cell, LaunchResult& result) {
  KernelCounters block;
  const BlockProfile& profile = cell.first();
  const std::vector<ExecutionCount> executed = by_instruction(kernel, profile.sums);
  add_counters(kernel, executed, profile.sums.memory, block);
  add_requests(*profile.log, block);
  for (const TrafficEntry& entry : profile.log->entries) {
    if (entry.kind == TrafficEntry::Kind::load) block.l2_read_sectors += entry.count;
    if (entry.kind == TrafficEntry::Kind::store) block.l2_write_sectors += entry.count;
  }
  const std::uint64_t blocks = cell.blocks();
  add_scaled(result.counters, block, blocks);
  for (std::size_t i = 0; i < executed.size(); ++i) {
    result.executed[i].warps += blocks * executed[i].warps;
    result.executed[i].threads += blocks * executed[i].threads;
  }
}

void add_l2(const LaunchContext& launch, const GridCells& grid, KernelCounters& counters) {
  KnownTraffic traffic;
  traffic.blocks = launch.request.grid.count();
  traffic.rows = traffic.blocks / launch.request.grid.x;
  traffic.resident_blocks = launch.request.resident_blocks;
  for (const GridCell& cell : grid.cells()) {
    traffic.entries += cell.blocks() * cell.first().log->entries.size();
  }
  traffic.log_of = [&grid](std::uint64_t block, TrafficLog& log) { grid.log_of(block, log); };
  const L2Cache::Counts l2 =
      run_through_l2(traffic, static_cast<std::uint64_t>(launch.gpu.l2_bytes));
  counters.l2_hit_sectors += l2.hits;
  counters.dram_read_bytes += kSectorBytes * l2.dram_reads;
  counters.dram_write_bytes += kSectorBytes * l2.dram_writes;
}

LaunchResult sample(LaunchContext& launch) {
  const std::uint64_t blocks = launch.request.grid.count();
  BlockSampler sampler(launch);
  sampler.profile(0);
  if (sampler.instructions() < kLeastInstructions / blocks) throw NotSampled{};
  const GridCells grid(launch.request.grid, sampler);

  LaunchResult result;
  result.executed.resize(launch.kernel.code.size());
  for (const GridCell& cell : grid.cells()) add_cell(launch.kernel, cell, result);
  add_l2(launch, grid, result.counters);
  FindingList findings;
  for (const RawFinding& raw : sampler.findings()) findings.add(raw);
  for (const RawFinding& raw : findings.take()) {
    result.findings.push_back(to_finding(raw, launch.kernel, launch.memory, launch.request.grid,
                                         launch.request.block, sampler.shared_bytes()));
  }
  result.sampled_blocks = sampler.blocks_run();
  return result;
}

}  // namespace

std::optional<LaunchResult> run_sampled(const LaunchContext& launch) {
  const bool orders_blocks = launch.kernel.info.orders_blocks;
  if (orders_blocks || launch.request.grid.count() < kLeastBlocks) return std::nullopt;
  LaunchContext undoable = launch;
  undoable.undo = true;
  launch.memory.begin_undo();
  try {
    LaunchResult result = sample(undoable);
    launch.memory.commit_undo();
    return result;
  } catch (const NotSampled&) {
  } catch (const LaunchFailure&) {
    // The run in full tells of the first block that fails.
  } catch (...) {
    launch.memory.roll_back();
    throw;
  }
  launch.memory.roll_back();
  return std::nullopt;
}

}  // namespace simgpu
