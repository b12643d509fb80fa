#pragma once

#include <string>
#include <vector>

#include "simgpu/sass/control_flow.h"
#include "simgpu/sass/kernel_code.h"
#include "simgpu/sass/least_deviation.h"
#include "simgpu/sass/ptx_counts.h"

namespace simgpu::sass {

/// How often a launch executes machine code, told by how often it executed PTX.
struct Alignment {
  struct BlockCount {
    double threads = 0;
    double warps = 0;
  };
  std::vector<BlockCount> blocks;  ///< of basic_blocks(); empty where nothing is known
  double issued = 0;               ///< warp instructions in all
  /// Of the instructions of PTX by which it was told (stores, barriers, arithmetic …), the share
  /// that machine code would execute too often or not often enough, 0 to 1.
  double deviation = 0;
  std::string why_not;  ///< why it is not to be relied on; empty where it is
};

/// As many threads come into each block of machine code as leave it, and what is made of an
/// instruction of PTX, in whichever blocks its copies are, is executed as often as that. Of all
/// counts that agree with this, those with the fewest instructions: ptxas unrolls a loop for its
/// copies to be used.
/// @param code one that is understood, and `blocks` its basic_blocks()
/// @param budget of work for this kernel and others; where it does not suffice, `why_not` says so
Alignment align(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                const PtxCounts& counts, WorkBudget& budget);

/// With as much work as it takes.
Alignment align(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                const PtxCounts& counts);

}  // namespace simgpu::sass
