#include "simgpu/exec/block_counts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "simgpu/isa/pipes.h"

namespace simgpu {
namespace {

std::vector<std::uint32_t> first_of_basic_blocks(const LoweredKernel& kernel) {
  std::vector<std::uint32_t> first;
  for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
    if (kernel.info.instructions[i].starts_block) first.push_back(i);
  }
  return first;
}

}  // namespace

BlockCounts::BlockCounts(const LoweredKernel& kernel, std::uint32_t warps)
    : warps_(warps),
      basic_blocks_(first_of_basic_blocks(kernel)),
      work_(basic_blocks_.size()),
      executed_(kernel.code.size()),
      of_warps_(warps * basic_blocks_.size()),
      entered_(warps * basic_blocks_.size()),
      guarded_threads_(kernel.code.size()) {
  for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
    if (kernel.hidden[i]) continue;
    const ByPipe<std::uint32_t> work = work_of(kernel.info.instructions[i]);
    for (std::size_t k = 0; k < work.size(); ++k) work_[kernel.code[i].basic_block][k] += work[k];
  }
}

void BlockCounts::begin_block() {
  if (std::exchange(is_under_way_, true)) take_counts();  // of a block that has failed
}

const std::vector<ExecutionCount>& BlockCounts::executed() {
  take_counts();
  return executed_;
}

/// Takes what the warps have counted.
void BlockCounts::take_counts() {
  const std::size_t blocks = basic_blocks_.size();
  for (std::size_t i = 0; i < blocks; ++i) {
    ExecutionCount& sum = executed_[basic_blocks_[i]];
    for (std::size_t warp = 0; warp < warps_; ++warp) {
      ExecutionCount& count = of_warps_[warp * blocks + i];
      entered_[i * warps_ + warp] = count.warps;
      sum.warps += count.warps;
      sum.threads += count.threads;
      count = {};
    }
  }
}

void BlockCounts::end_block(std::span<const Warp> warps, const TrafficLog& log,
                            std::span<const LoadsOfWarps> loads, const MemoryCounts& counted) {
  take_counts();
  is_under_way_ = false;
  BlockWeights::Weight block;
  std::array<std::uint64_t, kMostWarpsOfBlock> slept_ns{};
  std::uint64_t ways = 0;
  for (const Warp& warp : warps) {
    block.slots += warp.slots;
    block.by_scheduler[warp.index % block.by_scheduler.size()] += warp.slots;
    block.longest_way = std::max(block.longest_way, warp.way());
    block.longest_own_time = std::max(block.longest_own_time, warp.own_time());
    block.longest_time = std::max(block.longest_time, warp.time());
    ways += warp.way();
    slept_ns[warp.index] = warp.slept_ns;
  }
  block.busiest_scheduler = *std::ranges::max_element(block.by_scheduler);
  add_pipes(block);
  block.sectors = log.load_sectors + log.store_sectors + log.atomic_sectors;
  block.wavefronts = counted.shared_load_wavefronts + counted.shared_store_wavefronts +
                     counted.shared_atomic_wavefronts - weights_.all.wavefronts;
  weights_.add(block, ways, warps_);
  weights_.add_warps({warps_, entered_, loads, slept_ns});
  last_weight_ = block;
}

void BlockCounts::add_pipes(BlockWeights::Weight& block) const {
  for (std::size_t i = 0; i < work_.size(); ++i) {
    std::uint64_t entered = 0;
    for (std::size_t warp = 0; warp < warps_; ++warp) entered += entered_[i * warps_ + warp];
    if (entered == 0) continue;
    for (std::size_t k = 0; k < kPipes.size(); ++k) block.pipes[k] += entered * work_[i][k];
  }
}

void BlockCounts::clear() {
  take_counts();
  std::ranges::fill(executed_, ExecutionCount{});
  std::ranges::fill(guarded_threads_, 0);
  weights_ = {};
}

}  // namespace simgpu
