#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "simgpu/isa/instruction_info.h"
#include "simgpu/sass/ptx_loops.h"

namespace simgpu::sass {

/// What a launch executed of one line of PTX, that is of one instruction: in all copies that
/// inlining has made of it.
struct LineCount {
  double threads = 0;        ///< for which its guard holds
  double block_threads = 0;  ///< that enter its basic block
  double block_warps = 0;    ///< likewise
  InstructionClass cls = InstructionClass::other;
  bool is_guarded = false;
  bool is_sequence = false;  ///< ptxas makes several instructions of it
  unsigned access_bytes = 0;
  std::uint32_t ptx_block = 0;  ///< first line of its basic block, of the first copy
  double issued = 0;            ///< slots of warps that it takes by PTX
  PtxLoop loop = {};            ///< the innermost one that it is in
};

struct PtxCounts {
  std::unordered_map<std::uint32_t, LineCount> lines;
  double threads = 0;  ///< of the launch
};

/// @param executed of each instruction, in total over the launch
PtxCounts count_lines(std::span<const InstructionInfo> program,
                      std::span<const ExecutionCount> executed);

}  // namespace simgpu::sass
