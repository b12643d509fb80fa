#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "simgpu/isa/instruction_info.h"

namespace simgpu::model {

/// One past the last instruction of the basic block that begins with instruction `begin`.
inline std::size_t end_of_block(std::span<const InstructionInfo> program, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < program.size() && !program[end].starts_block) ++end;
  return end;
}

/// How often warps entered the basic block [begin, end). Instructions that lowering has added to it
/// are not counted.
inline std::uint64_t entries(std::span<const ExecutionCount> executed, std::size_t begin,
                             std::size_t end) {
  std::uint64_t most = 0;
  for (std::size_t i = begin; i < end; ++i) most = std::max(most, executed[i].warps);
  return most;
}

}  // namespace simgpu::model
