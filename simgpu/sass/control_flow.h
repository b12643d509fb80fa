#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simgpu/sass/kernel_code.h"

namespace simgpu::sass {

/// Instructions [first, last) that are executed one after the other, for all lanes that begin them
/// but for those that a predicated EXIT ends.
struct BasicBlock {
  std::uint32_t first = 0, last = 0;
  std::vector<std::uint32_t> leads_to;         ///< blocks, in order, each once
  bool may_end = false;                        ///< lanes may end at its end
  std::vector<std::uint32_t> returns_to = {};  ///< those of leads_to that are behind calls
  /// Where it ends with a call: the function's first block, and the one that it returns to.
  struct Call {
    std::uint32_t function = 0, behind = 0;
    bool operator==(const Call&) const = default;
  };
  std::optional<Call> call = {};
};

/// The basic blocks that the kernel's entry leads to, in order of addresses; that of the entry is
/// the first. A call leads to the function that it calls, and that function's returns lead behind
/// all calls of it: `call` says which return belongs to which call. @param code one that is
/// understood (why_not is empty)
std::vector<BasicBlock> basic_blocks(const KernelCode& code);

/// A kernel's code, cut into its blocks.
struct CutCode {
  KernelCode code;
  std::vector<BasicBlock> blocks;  ///< empty where it is not understood
};

/// A natural loop: the blocks from which its head can be reached again without leaving it. A
/// function that is called in it is not a part of it.
struct Loop {
  std::uint32_t head = 0;
  std::vector<std::uint32_t> blocks;  ///< in order, the head among them
};

/// One for each head, those in a loop before it. Ways back into the middle of code that has several
/// entries are none.
std::vector<Loop> find_loops(const std::vector<BasicBlock>& blocks);

}  // namespace simgpu::sass
