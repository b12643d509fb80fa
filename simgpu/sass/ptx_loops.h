#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "simgpu/isa/instruction_info.h"

namespace simgpu::sass {

/// How often threads go round the innermost loop of PTX that a basic block is in.
struct PtxLoop {
  std::uint32_t number = 0;  ///< of the loop, from 1; 0: in none
  double entries = 0;        ///< of threads, over the launch; 0: it is in no loop, or nobody knows
  double turns = 0;          ///< of the loop, for each entry, in the mean
};

/// Of each instruction. Known are the loops of which it is clear by the counts of basic blocks
/// along which ways threads came: all that nvcc makes, but for those that a branch enters directly
/// and leaves to where the branch else leads.
std::vector<PtxLoop> find_ptx_loops(std::span<const InstructionInfo> program,
                                    std::span<const ExecutionCount> executed);

}  // namespace simgpu::sass
