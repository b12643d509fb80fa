#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simgpu/lower/lowered.h"

namespace simgpu::native {

/// A run of instructions that is done natively in one piece.
struct SegmentSpan {
  std::uint32_t first = 0;   ///< instruction
  std::uint32_t length = 0;  ///< instructions
};

/// Kernels as C++ text. It holds nothing that a student wrote: names of functions of simgpu/arith,
/// and numbers.
struct Translation {
  std::string text;  ///< empty when there is nothing to compile
  /// Of each kernel, in the order of the text's table, which has `functions` of them.
  std::vector<std::vector<SegmentSpan>> segments;
  std::size_t functions = 0;
};

/// Every stretch of instructions whose handlers have a Form; none of a kernel that is too large.
Translation translate(std::span<const LoweredKernel* const> kernels);

}  // namespace simgpu::native
