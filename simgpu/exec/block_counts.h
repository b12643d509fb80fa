#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/counters/traffic.h"
#include "simgpu/exec/block_weights.h"
#include "simgpu/exec/memory_counts.h"
#include "simgpu/exec/warp.h"
#include "simgpu/isa/lowered.h"

namespace simgpu {

/// How often the warps of the blocks that ran here have executed what, and what that weighs.
class BlockCounts {
 public:
  BlockCounts(const LoweredKernel& kernel, std::uint32_t warps);

  // Where a warp counts: by basic block, and by guarded instruction.
  ExecutionCount* of_warp(std::uint32_t warp) {
    return of_warps_.data() + warp * basic_blocks_.size();
  }
  std::uint64_t* guarded() { return guarded_threads_.data(); }

  void begin_block();
  /// Weighs the block that is done.
  /// @param log what it has done to memory
  /// @param loads of its warps
  /// @param counted of all blocks since clear()
  void end_block(std::span<const Warp> warps, const TrafficLog& log,
                 std::span<const LoadsOfWarps> loads, const MemoryCounts& counted);

  /// By the first instruction of a basic block. What warps have done of a block that is not done is
  /// counted, too, but is no longer theirs.
  const std::vector<ExecutionCount>& executed();
  const std::vector<std::uint64_t>& guarded_threads() const { return guarded_threads_; }
  /// Of the blocks that are done.
  const BlockWeights& weights() const { return weights_; }
  /// Of the one that was done last.
  const BlockWeights::Weight& last_weight() const { return last_weight_; }
  /// All counts start again from nothing.
  void clear();

 private:
  void take_counts();
  void add_pipes(BlockWeights::Weight& block) const;

  const std::size_t warps_;
  const std::vector<std::uint32_t> basic_blocks_;  ///< the first instruction of each
  std::vector<ByPipe<std::uint32_t>> work_;        ///< likewise, work_of() all that is in it
  std::vector<ExecutionCount> executed_;           ///< but for what is in of_warps_
  std::vector<ExecutionCount> of_warps_;           ///< of the block that runs, warp by warp
  std::vector<std::uint64_t> entered_;             ///< BlockOfWarps of the block that was done last
  std::vector<std::uint64_t> guarded_threads_;
  BlockWeights weights_;
  BlockWeights::Weight last_weight_;
  bool is_under_way_ = false;  ///< a block, whose counts nobody has taken
};

}  // namespace simgpu
