#pragma once

#include <cstdint>

#include "simgpu/model/work.h"

namespace simgpu::model {

/// Cycles until a result of this class may be used, with nothing in the way.
double latency_of(InstructionClass cls, const Work& work);

/// Cycles that one warp needs for its way through the kernel if it never waits for other warps.
/// Within a basic block, up to a barrier, instructions start as soon as their operands are there,
/// one per cycle: the assembler moves loads ahead of what uses them. Every block is followed with
/// the operands its predecessor in program order left under way; a block executed n times counts
/// once as entered and n - 1 times as following itself.
double warp_cycles(const Work& work);

/// Cycles from a block's end until the block in its place does its first instruction and beyond
/// what its instructions take: D. Ernst's gpu-stream has 490 cycles for a round of blocks that only
/// store on an A100, 450 on an H100, of which the model's own chain of instructions is some tens.
inline constexpr double kBlockTurnover = 430;

/// Rounds in which the busiest SM works, `resident_blocks` blocks at a time.
std::uint64_t rounds(const Work& work);

/// The latency term in microseconds: each round takes at least as long as one warp alone, and the
/// next one's blocks take their time to start.
double latency_time(const Work& work);

/// Share of the latency during which a block's other warps wait too, because barriers keep them
/// together: each barrier stalls a block for one access to memory at most.
double stalled_share(const Work& work);

}  // namespace simgpu::model
