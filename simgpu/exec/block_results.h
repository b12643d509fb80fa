#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simgpu/checkers/findings.h"
#include "simgpu/counters/stale_loads_of_blocks.h"
#include "simgpu/counters/traffic.h"
#include "simgpu/exec/block_weights.h"
#include "simgpu/exec/counter_sums.h"
#include "simgpu/exec/grid_phases.h"
#include "simgpu/exec/launch_context.h"
#include "simgpu/exec/place_sets.h"
#include "simgpu/exec/printed_text.h"
#include "simgpu/exec/sm_loads.h"
#include "simgpu/exec/touched_memory.h"

namespace simgpu {

class BlockRunner;

/// What a finished block leaves behind.
struct FinishedBlock {
  std::unique_ptr<BlockTraffic::Log> traffic;
  BlockWeights::Weight weight;
  std::vector<RawFinding> findings;
  std::string printed;
};

/// Of the block that the runner has run.
FinishedBlock take_results(BlockRunner& runner);

/// Everything the blocks leave, put together in order of blocks.
class Collector {
 public:
  explicit Collector(const LaunchContext& launch);

  /// @param ran_alone no other block has run since, nor while it did: memory is as it left it
  void retire(FinishedBlock block, bool ran_alone);
  bool conflict() const { return traffic_.conflict(); }
  /// What the SM that has most of it does of the blocks so far.
  BlockWeights::Weight busiest_sm() const { return sms_.busiest(); }
  void finish(LaunchResult& result, std::uint32_t shared_bytes);

 private:
  static constexpr std::size_t kMostPrinted = std::size_t{8} << 20;

  void note_touched(const TrafficLog* log);
  void add_conflicts();

  const LaunchContext& launch_;
  LaunchTraffic traffic_;
  SmLoads sms_;
  TouchedMemory touched_;
  bool is_all_logged_ = true;
  PlaceSets places_;
  FindingList findings_;
  std::unique_ptr<GridPhases> phases_;               ///< of a cooperative launch that is checked
  std::unique_ptr<StaleLoadsOfBlocks> stale_loads_;  ///< where there are such, and they are checked
  PrintedText printed_{kMostPrinted};
};

/// Counters from how often the instructions ran.
/// @param busiest_sm what the SM that has most of it does of these blocks
void fill_result(const LaunchContext& launch, const CounterSums& sums,
                 const BlockWeights::Weight& busiest_sm, LaunchResult& result);

}  // namespace simgpu
