#include "simgpu/exec/sampled_run.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "simgpu/checkers/findings.h"
#include "simgpu/counters/block_conflicts.h"
#include "simgpu/counters/byte_set.h"
#include "simgpu/counters/sampled_l2.h"
#include "simgpu/exec/block_classes.h"
#include "simgpu/exec/grid_cells.h"
#include "simgpu/exec/grid_fold.h"
#include "simgpu/exec/kept_stores.h"
#include "simgpu/exec/messages.h"
#include "simgpu/exec/place_sets.h"
#include "simgpu/exec/sm_loads.h"
#include "simgpu/exec/touched_memory.h"

namespace simgpu {
namespace {

/// Grids of fewer blocks, or less work, take no time worth saving.
constexpr std::uint64_t kLeastBlocks = 64;
constexpr std::uint64_t kLeastInstructions = 1'000'000;
/// No grid is told from fewer blocks, those included that are run to see whether they tell.
constexpr std::uint64_t kFewestSamples = 12;
/// Nor do grids of not many blocks, if their blocks are alike.
constexpr std::uint64_t kLeastEqualBlocks = 256;

/// What all blocks of a grid do, told from some.
struct KnownGrid {
  WorkCounts total;
  BlockWeights weights;  ///< each block counted equally often
  LoadCountsByPc loads;  ///< likewise; not what becomes of them in L2
  KnownTraffic traffic;
  /// Takes in what all blocks touch.
  std::function<void(KindFilter, ByteSet&)> add_touched;
};

KnownTraffic traffic_of(const LaunchRequest& request, const Dim3& shape, const WorkCounts& total) {
  KnownTraffic traffic;
  traffic.blocks = shape.count();
  traffic.rows = traffic.blocks / shape.x;
  traffic.resident_blocks = request.resident_blocks;
  traffic.entries = log_entries(total);
  traffic.sectors = log_sectors(total);
  return traffic;
}

/// The busiest SM of a grid whose blocks weigh what `weight_of` says.
template <typename WeightOf>
BlockWeights::Weight busiest_sm(const LaunchContext& launch, const WeightOf& weight_of) {
  constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 21;
  if (launch.request.grid.count() > kMostBlocks) return {};  // too many to be uneven by their order
  SmLoads sms(launch.gpu.sm_count, launch.request.resident_blocks);
  for (std::uint64_t block = 0; block < launch.request.grid.count(); ++block) {
    sms.add(weight_of(block));
  }
  return sms.busiest();
}

/// @param shape the launch's grid, or what that is folded to
KnownGrid of_cells(const LaunchContext& launch, const Dim3& shape, std::uint64_t period,
                   BlockSampler& sampler) {
  const auto grid = std::make_shared<GridCells>(shape, period, sampler);
  KnownGrid known;
  for (const GridCell& cell : grid->cells()) {
    add_times(known.total, work_counts(cell.first()), static_cast<std::int64_t>(cell.blocks()));
    known.weights.add_times(cell.first().sums.weights, cell.blocks());
    add_loads(known.loads, cell.first().sums.loads, cell.blocks());
  }
  known.weights.add_sm(
      busiest_sm(launch, [&](std::uint64_t block) { return grid->weight_of(block); }));
  known.traffic = traffic_of(launch.request, shape, known.total);
  known.add_touched = [grid](KindFilter wanted, ByteSet& touched) {
    grid->add_touched(wanted, touched);
  };
  known.traffic.log_of = [grid](std::uint64_t block, TrafficLog& log) { grid->log_of(block, log); };
  return known;
}

KnownGrid of_classes(const LaunchContext& launch, BlockSampler& sampler) {
  const auto grid = std::make_shared<BlockClasses>(launch.request.grid, sampler);
  KnownGrid known{
      grid->total(), grid->weights(), grid->loads(),
      traffic_of(launch.request, launch.request.grid, grid->total()),
      [grid](KindFilter wanted, ByteSet& touched) { grid->add_touched(wanted, touched); }};
  known.weights.add_sm(
      busiest_sm(launch, [&](std::uint64_t block) { return grid->weight_of(block); }));
  known.traffic.even = false;
  known.traffic.log_of = [grid](std::uint64_t block, TrafficLog& log) { grid->log_of(block, log); };
  return known;
}

/// What `find` finds, unless it finds that the grid is not of its kind.
template <typename Find>
std::optional<KnownGrid> try_kind(const BlockSampler& sampler, const Find& find) {
  try {
    return find();
  } catch (const NotSampled&) {
    if (sampler.has_given_up()) throw;
    return std::nullopt;
  }
}

/// Tries the kinds of grids, those first that need the fewest blocks.
KnownGrid known_grid(const LaunchContext& launch, BlockSampler& sampler) {
  const Dim3& grid = launch.request.grid;
  if (grid.count() < kLeastEqualBlocks) return of_classes(launch, sampler);
  const auto cells_of = [&](const Dim3& shape, std::uint64_t period) {
    return try_kind(sampler, [&] { return of_cells(launch, shape, period, sampler); });
  };
  if (auto known = cells_of(grid, 1)) return *std::move(known);
  for (const Dim3& shape : folded(grid, sampler)) {
    if (auto known = cells_of(shape, 1)) return *std::move(known);
  }
  for (const std::uint64_t period : GridCells::kLongPeriods) {
    if (auto known = cells_of(grid, period)) return *std::move(known);
  }
  return of_classes(launch, sampler);
}

void add_l2(const KnownTraffic& traffic, const gpu_spec::GpuSpec& gpu, LaunchResult& result) {
  const KnownL2 l2 = run_through_l2(traffic, static_cast<std::uint64_t>(gpu.l2_bytes));
  result.counters.l2_hit_sectors += l2.counts.hits;
  result.counters.dram_read_bytes += kSectorBytes * l2.counts.dram_reads;
  result.counters.dram_write_bytes += kSectorBytes * l2.counts.dram_writes;
  add_loads(result.loads, l2.loads);
}

/// What all blocks store, each byte once: who stores to the same places twice does not write more
/// of a tensor. Nothing where that is not known.
std::vector<ByteRange> stored_by_grid(const KnownGrid& grid, const DeviceMemory& memory) {
  ByteSet stored;
  grid.add_touched(is_plain_store, stored);
  if (!stored.is_complete()) return {};
  std::vector<ByteRange> all = stored.by_allocation(memory);
  keep_largest(all, kMostStoredAllocations);
  return all;
}

std::shared_ptr<const TouchedPlaces> places_of(const KnownGrid& grid) {
  PlaceSets places;
  places.add_grid(grid.add_touched);
  return places.take();
}

/// Where the blocks that ran have stored.
std::vector<ByteRange> stored_by(const BlockSampler& sampler) {
  std::vector<ByteRange> all;
  for (const auto& [block, profile] : sampler.profiles()) {
    const std::vector<ByteRange> ranges = stored_bytes(*profile.log);
    all.insert(all.end(), ranges.begin(), ranges.end());
  }
  merge_ranges(all);
  return all;
}

/// What the blocks that ran have touched.
std::vector<TouchedSector> sectors_of(const BlockSampler& sampler) {
  BlockConflicts all;
  for (const auto& [block, profile] : sampler.profiles()) all.add(*profile.log);
  return all.touched();
}

/// Tells memory what the blocks stored, and the result what it depends on.
void note_touched(const LaunchContext& launch, const BlockSampler& sampler, LaunchResult& result) {
  TouchedMemory touched(launch.memory);
  for (const auto& [block, profile] : sampler.profiles()) {
    touched.add_loads(*profile.log);
    touched.add_stores(*profile.log);
  }
  touched.note_changes(launch.memory);
  if (result.findings.empty() && !launch.kernel.info.reads_time)
    result.touched = touched.constant();
}

LaunchResult sample(LaunchContext& launch) {
  const std::uint64_t blocks = launch.request.grid.count();
  BlockSampler sampler(launch);
  const std::uint64_t first = sampler.profile(0).slots;
  const std::uint64_t last = sampler.profile(blocks - 1).slots;
  if (std::max(first, last) < kLeastInstructions / blocks) throw NotSampled{};
  // Where so few blocks would take more than the budget, the attempt is not worth its time.
  if (sampler.work() / 2 > launch.instruction_budget / kFewestSamples) throw NotSampled{};
  KnownGrid grid = known_grid(launch, sampler);

  LaunchResult result;
  set_counters(launch.kernel, grid.total, result);
  result.balance = balance_of(launch.kernel, grid.weights, issue_slots(grid.total),
                              warps_of_grid(launch.request));
  result.first_accesses = first_by_instruction(launch.kernel, sampler.first_accesses());
  result.loads = std::move(grid.loads);
  add_l2(grid.traffic, launch.gpu, result);
  FindingList findings;
  for (const RawFinding& raw : sampler.findings()) findings.add(raw);
  for (const RawFinding& raw : findings.take()) {
    result.findings.push_back(to_finding(raw, launch.kernel, launch.memory, launch.request.grid,
                                         launch.request.block, sampler.shared_bytes()));
  }
  result.sampled_blocks = sampler.blocks_run();
  result.work = sampler.work();
  result.settled = {.ranges = stored_by(sampler), .of_grid = stored_by_grid(grid, launch.memory)};
  if (launch.places) result.places = places_of(grid);
  if (launch.sectors) result.sectors = sectors_of(sampler);
  note_touched(launch, sampler, result);
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
