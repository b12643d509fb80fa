#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "simgpu/sass/control_flow.h"
#include "simgpu/sass/kernel_code.h"
#include "simgpu/sass/ptx_counts.h"

namespace simgpu::sass {

/// An instruction of PTX of which ptxas makes one machine instruction in each copy of its code, so
/// that it tells how often the copies are executed together.
struct Anchor {
  using Copies = std::map<std::uint32_t, unsigned>;  ///< by basic block of machine code

  Copies copies;
  /// Those that are executed for lanes for which a predicate holds: nobody knows how many.
  Copies predicated;
  double threads = 0;  ///< that execute it
  /// Only that no fewer do: all copies have a predicate, or the PTX has a guard. A predicated copy
  /// is executed by all that come to its block, whether its predicate holds or not.
  bool is_at_least = false;
  /// Of `copies`, where `is_at_least`: what one of them counts. ptxas may have made a branch of a
  /// guard, so that only those for which it holds come to the copy.
  double times = 1;
  /// That say this, and how many instructions count as one copy.
  std::map<std::uint32_t, unsigned> ptx_lines = {};
  /// How certain that is: the more, the less ptxas may do to such an instruction. Those that say
  /// the same are one anchor, with the sum of their weights.
  double weight = 0;
};

/// What may neither be left out, nor be done for lanes that the program leaves out.
inline constexpr double kCertain = 20;
/// What is done once, unless its operands do not change in a loop, or it has been done already.
inline constexpr double kLikely = 1;

/// The weight of an instruction as the copy of one of this line; 0 where it is none, or may be more
/// or less than one.
double anchor_weight(const Instruction& instruction, const LineCount& line);

/// @param blocks the code's basic_blocks()
std::vector<Anchor> find_anchors(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                                 const PtxCounts& counts);

}  // namespace simgpu::sass
