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

/// Loads and atomics that may be tries, one after the other, while their block changed nothing: by
/// instruction what each saw last.
struct VainTries {
  static constexpr std::size_t kMostPolls = 32;
  std::vector<Poll> polls;
  std::uint32_t times = 0;    ///< that one of them saw what it had seen before
  std::uint32_t atomics = 0;  ///< among these
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
  VainTries tries;
  bool waits_for_lanes = false;  ///< at an instruction that needs lanes of other groups

  std::uint32_t lanes() const { return stack.all_lanes(); }
};

/// Thrown by an instruction that cannot be done without lanes of other groups, before it has done
/// anything: to be tried again.
struct WaitForLanes {
  const Lowered* in = nullptr;
};

}  // namespace simgpu
