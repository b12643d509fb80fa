#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simgpu/exec/call_stack.h"
#include "simgpu/exec/simt_stack.h"
#include "simgpu/lower/lowered.h"

namespace simgpu {

/// What a warp did last that may be one of many tries: an instruction, its addresses and values.
struct Poll {
  const Lowered* in = nullptr;
  std::vector<std::byte> bytes;
};

/// An atomic that changed nothing, as often as it was the same one in a row, while its block
/// changed nothing else.
struct IdleAtomic {
  Poll poll;
  std::uint32_t times = 0;
  std::uint64_t effects = 0;  ///< BlockRunner::effects() at that time
};

/// Lanes of a warp that go their own way while others of it go theirs: what is the warp's own
/// otherwise.
struct LaneGroup {
  SimtStack stack;
  CallStack calls;
  const Lowered* resume = nullptr;
  std::uint32_t waiting_turns = 0;
  Poll poll;
  IdleAtomic idle;
  bool waits_for_lanes = false;  ///< at an instruction that needs lanes of other groups

  std::uint32_t lanes() const { return stack.all_lanes(); }
};

/// Thrown by an instruction that cannot be done without lanes of other groups, before it has done
/// anything: to be tried again.
struct WaitForLanes {
  const Lowered* in = nullptr;
};

}  // namespace simgpu
