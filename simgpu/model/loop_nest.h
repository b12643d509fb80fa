#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "simgpu/isa/instruction_info.h"

/// The way of a warp through a kernel: straight code and loops, as often as they were executed.
namespace simgpu::model {

/// Instructions [first, last), of which only the first can be come to from elsewhere.
struct Stretch {
  std::size_t first = 0, last = 0;
  double probability = 1;  ///< below one where the assembler makes predicates of a short branch
  /// A short branch that stores: what comes before it has to be known when that is issued.
  bool stores_if = false;
};

/// A part of the way: straight code, or a loop with parts of its own.
struct Step {
  double times = 1;           ///< in each turn of the loop around it, or of the whole kernel
  std::vector<Stretch> code;  ///< of straight code: basic blocks that follow each other
  std::vector<Step> body;     ///< of a loop; empty for straight code
  bool waits = false;         ///< for asynchronous copies
  /// All that it has under way is waited for at its end, each time. Which loop such code is in is
  /// not known any more, and so not what would be waited for later: it takes no less so.
  bool drains = false;
};

/// The steps of the mean of `warps` warps, each behind those that can lead to it. Loops are the
/// strongly connected parts of what was executed, each with the block by which it is entered as its
/// head, and the loops inside it are those of what is left without that block: so every way back is
/// a loop, however the code is cut. A way back that nobody takes is none.
std::vector<Step> find_steps(std::span<const InstructionInfo> program,
                             std::span<const ExecutionCount> executed, double warps);

/// A loop by its basic blocks, each told by its first instruction.
struct Loop {
  std::vector<std::size_t> blocks;  ///< in order
  std::size_t head = 0;             ///< the one by which it is entered
  std::vector<std::size_t> before;  ///< those outside that may lead to it
};

/// All loops of what was executed, those in a loop before it. Ways back to the same head are loops
/// of their own where they go through fewer blocks: a block may wait in a loop of its own at the
/// head of another. Nothing where there are so many, in each other, that nobody wrote them to be
/// understood.
std::optional<std::vector<Loop>> find_loops(std::span<const InstructionInfo> program,
                                            std::span<const ExecutionCount> executed);

}  // namespace simgpu::model
