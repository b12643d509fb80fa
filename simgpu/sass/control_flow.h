#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simgpu/sass/kernel_code.h"

namespace simgpu::sass {

/// Instructions [first, last) that are executed one after the other, for all lanes that begin them
/// but for those that a predicated EXIT ends.
struct BasicBlock {
  std::uint32_t first = 0, last = 0;
  std::vector<std::uint32_t> leads_to;  ///< blocks, in order, each once
  bool may_end = false;                 ///< lanes may end at its end
};

/// The basic blocks that the kernel's entry leads to, in order of addresses; that of the entry is
/// the first. A call leads to the function that it calls, and that function's returns lead behind
/// all calls of it. @param code one that is understood (why_not is empty)
std::vector<BasicBlock> basic_blocks(const KernelCode& code);

/// A kernel's code, cut into its blocks.
struct CutCode {
  KernelCode code;
  std::vector<BasicBlock> blocks;  ///< empty where it is not understood
};

/// A natural loop: the blocks from which its head can be reached again without leaving it.
struct Loop {
  std::uint32_t head = 0;
  std::vector<std::uint32_t> blocks;  ///< in order, the head among them
};

/// One for each head, those in a loop before it. Ways back into the middle of code that has several
/// entries are none.
std::vector<Loop> find_loops(const std::vector<BasicBlock>& blocks);

}  // namespace simgpu::sass
