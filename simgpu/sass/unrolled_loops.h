#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simgpu/sass/control_flow.h"
#include "simgpu/sass/kernel_code.h"
#include "simgpu/sass/ptx_counts.h"

namespace simgpu::sass {

/// A loop of machine code, by its head, with copies of the body of a loop of PTX in each turn; or a
/// basic block with several such copies in a row.
struct CopiedTurns {
  std::uint32_t block = 0;
  unsigned copies = 1;
  /// Of a loop, the turns for each entry, if all of PTX's were there; 0: of a block in no such
  /// loop.
  double turns = 0;
  /// How often threads come there over the launch, if all of them take as many turns: whatever is
  /// left over, fewer turns than there are copies, is done where there are fewer copies. Nothing
  /// for a single copy, of which nobody knows what is left to it.
  std::optional<double> threads = {};
};

/// Loops without a copy of anything that is known to be in a loop are left out.
/// @param blocks the code's basic_blocks(), and `loops` its find_loops()
std::vector<CopiedTurns> find_copied_turns(const KernelCode& code,
                                           const std::vector<BasicBlock>& blocks,
                                           const std::vector<Loop>& loops, const PtxCounts& counts);

}  // namespace simgpu::sass
