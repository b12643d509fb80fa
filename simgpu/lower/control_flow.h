#pragma once

#include <cstdint>
#include <vector>

namespace simgpu {

/// The control-flow graph of a kernel by basic blocks, in program order. The virtual exit node is
/// `successors.size()`; it may be a successor, and a block without any leads there.
struct ControlFlow {
  std::vector<std::uint32_t> starts;  ///< blocks with which bodies other than the kernel's begin
  std::vector<std::uint32_t>
      first;  ///< first instruction of each block; one past the last block: the end
  std::vector<std::vector<std::uint32_t>> successors;

  std::uint32_t blocks() const { return static_cast<std::uint32_t>(successors.size()); }
};

/// Immediate post-dominator of every block, by the iterative algorithm of Cooper, Harvey and
/// Kennedy ("A Simple, Fast Dominance Algorithm") on the reversed graph; works for irreducible
/// graphs too. The exit node (flow.blocks()) stands for "only at the end", also for blocks from
/// which the end cannot be reached.
std::vector<std::uint32_t> immediate_post_dominators(const ControlFlow& flow);

}  // namespace simgpu
