#include "simgpu/model/meetings.h"

#include <algorithm>
#include <cstddef>

#include "simgpu/model/basic_blocks.h"

namespace simgpu::model {
namespace {

/// Of the basic block that begins with an instruction.
double executions(std::size_t begin, const Work& work) {
  return static_cast<double>(entries(work.executed, begin, end_of_block(work.program, begin)));
}

/// A poll ends as often as warps come to it.
double ended_polls(std::span<const Loop> polls, const Work& work) {
  double ended = 0;
  for (const Loop& poll : polls) {
    double entered = 0;
    for (const std::size_t block : poll.before) entered += executions(block, work);
    ended += std::min(entered, executions(poll.head, work));
  }
  return ended;
}

}  // namespace

double meetings_of_a_warp(const Work& work, std::span<const Loop> polls, double warps) {
  const double barriers = work.warp_instructions(InstructionClass::barrier);
  return std::max(barriers, ended_polls(polls, work)) / warps;
}

}  // namespace simgpu::model
