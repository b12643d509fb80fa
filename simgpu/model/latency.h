#pragma once

#include <cstddef>
#include <cstdint>

#include "simgpu/model/warp_path.h"
#include "simgpu/model/work.h"

namespace simgpu::model {

/// Cycles until a result of this class may be used, with nothing in the way.
double latency_of(InstructionClass cls, const Work& work);

/// The same of the instruction with this index of the program. A load waits for the memory that
/// served this very instruction: of what other loads find in L1, its data comes no sooner.
double latency_of(std::size_t instruction, const Work& work);

/// How far a load's requests went, or an atomic's: the shares of them that went beyond L1, and
/// beyond L2 as well.
struct FarShares {
  double beyond_l1 = 0;
  double from_dram = 0;
};
FarShares far_shares(std::size_t instruction, const Work& work);

/// The share of a load's requests that ask for what their warp has had fetched just before: such
/// data is there no sooner than the loads that the warp has under way.
double recent_share(const LoadCounts& loads);

/// The same of those requests of a load, or of an atomic, of which these shares went far.
double latency_of(std::size_t instruction, const Work& work, const FarShares& far);

/// Cycles from a block's end until the block in its place does its first instruction and beyond
/// what its instructions take: D. Ernst's gpu-stream has 490 cycles for a round of blocks that only
/// store on an A100, 450 on an H100. Of these the model's own chain of PTX is some tens; machine
/// code, which has to fetch its indices and parameters first, takes a hundred.
double block_turnover(const Work& work);

/// Cycles that the busiest SM needs to start all of its blocks.
double cycles_of_starts(const Work& work);

/// Rounds in which the busiest SM works, `resident_blocks` blocks at a time.
std::uint64_t rounds(const Work& work);

/// The latency term in microseconds: each round takes at least as long as the mean block alone, the
/// next one's blocks take their time to start, and the launch takes at least as long as its longest
/// block.
double latency_time(const Work& work, const BlockCycles& block);

/// Requests for global memory of the mean of `warps` warps that go beyond L1.
double loads_beyond_l1(const Work& work, double warps);

/// Cycles that the warps of a block wait together, because barriers, or other waits for each other,
/// keep them together: each stalls a block for one access to memory at most.
/// @param meetings of a warp of the block
/// @param beyond_l1 of a warp's requests
double waits_together(const Work& work, double meetings, double beyond_l1);

}  // namespace simgpu::model
