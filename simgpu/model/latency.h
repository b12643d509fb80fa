#pragma once

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

/// The latency term in microseconds: SMs run `resident_blocks` blocks at a time, and each such
/// round takes at least as long as one warp alone.
double latency_time(const Work& work);

}  // namespace simgpu::model
