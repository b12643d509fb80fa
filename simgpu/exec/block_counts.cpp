#include <algorithm>
#include <array>
#include <utility>

#include "simgpu/exec/block_runner.h"

/// What a block and its warps are counted for.
namespace simgpu {

std::unique_ptr<BlockTraffic::Log> BlockRunner::take_traffic() {
  other_work_ += kWorkOfASector * traffic_.requested_sectors();
  std::unique_ptr<BlockTraffic::Log> log = traffic_.take();
  weigh_block(*log);
  return log;
}

const std::vector<ExecutionCount>& BlockRunner::counts() {
  take_counts();
  return counts_;
}

/// Takes what the warps have counted.
void BlockRunner::take_counts() {
  const std::size_t warps = warps_.size();
  const std::size_t blocks = basic_blocks_.size();
  for (std::size_t i = 0; i < blocks; ++i) {
    ExecutionCount& sum = counts_[basic_blocks_[i]];
    for (std::size_t warp = 0; warp < warps; ++warp) {
      ExecutionCount& count = of_warps_[warp * blocks + i];
      entered_[i * warps + warp] = count.warps;
      sum.warps += count.warps;
      sum.threads += count.threads;
      count = {};
    }
  }
}

void BlockRunner::weigh_block(const TrafficLog& log) {
  take_counts();
  is_under_way_ = false;
  BlockWeights::Weight block;
  std::array<std::uint64_t, kMostWarpsOfBlock> slept_ns{};
  std::uint64_t ways = 0;
  for (const Warp& warp : warps_) {
    block.slots += warp.slots;
    block.by_scheduler[warp.index % block.by_scheduler.size()] += warp.slots;
    block.longest_way = std::max(block.longest_way, warp.way());
    block.longest_own_time = std::max(block.longest_own_time, warp.own_time());
    block.longest_time = std::max(block.longest_time, warp.time());
    ways += warp.way();
    slept_ns[warp.index] = warp.slept_ns;
  }
  block.busiest_scheduler = *std::ranges::max_element(block.by_scheduler);
  for (std::size_t i = 0; i < work_.size(); ++i) {
    std::uint64_t entered = 0;
    for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
      entered += entered_[i * warps_.size() + warp];
    }
    if (entered == 0) continue;
    for (std::size_t k = 0; k < kPipes.size(); ++k) block.pipes[k] += entered * work_[i][k];
  }
  block.sectors = log.load_sectors + log.store_sectors + log.atomic_sectors;
  block.wavefronts = memory_counts_.shared_load_wavefronts +
                     memory_counts_.shared_store_wavefronts +
                     memory_counts_.shared_atomic_wavefronts - weights_.all.wavefronts;
  weights_.add(block, ways, warps_.size());
  weights_.add_warps({warps_.size(), entered_, traffic_.loads_of_block(), slept_ns});
  last_weight_ = block;
}

std::vector<RawFinding> BlockRunner::take_findings() {
  return checkers_ ? checkers_->take_findings() : std::vector<RawFinding>{};
}

void BlockRunner::clear_counts() {
  take_counts();
  std::ranges::fill(counts_, ExecutionCount{});
  std::ranges::fill(guarded_threads_, 0);
  memory_counts_ = {};
  traffic_.clear_loads();
  weights_ = {};
}

}  // namespace simgpu
