#pragma once

#include <array>
#include <cstdint>

#include "simgpu/exec/call_stack.h"
#include "simgpu/exec/simt_stack.h"
#include "simgpu/exec/vain_tries.h"
#include "simgpu/isa/lowered.h"

namespace simgpu {

enum class WarpState : std::uint8_t { ready, at_barrier, done };

/// An instruction that lanes cannot execute before others of their warp have come to one like it,
/// or have exited: shuffles, votes, `__syncwarp`, barriers.
struct LaneWait {
  const Lowered* in = nullptr;  ///< nullptr: the lanes do not wait
  bool at_barrier = false;      ///< of the block: it counts threads, and exchanges no values
  bool proceeds = false;        ///< with the lanes that are there, since no others will come
  std::uint32_t lanes = 0;      ///< that execute it
  std::array<std::uint32_t, 32> named{};  ///< by lane: which lanes have to be there

  /// Lanes that have gone on behind the place where they were to meet these, and where.
  std::uint32_t skipped = 0;
  std::uint32_t may_have_returned = 0;  ///< among these: what follows is stores and the end alone
  std::uint32_t skipped_to = 0;
  const Lowered* skipped_at = nullptr;  ///< the instruction that they left out

  /// The lanes that are waited for: neither there nor in `exited`.
  std::uint32_t missing(std::uint32_t exited) const {
    std::uint32_t wanted = 0;
    for (unsigned lane = 0; lane < named.size(); ++lane) {
      if ((lanes >> lane & 1U) != 0) wanted |= named[lane];
    }
    return wanted & ~(lanes | exited);
  }
  void end() {
    in = nullptr;
    proceeds = false;
  }
};

/// Thrown by such an instruction before it has done anything: to be tried again.
struct WaitForLanes {
  LaneWait wait;
};

/// Where lanes of a warp are that go one way, what they wait for, and what they have tried.
struct LaneState {
  /// Turns after which lanes that see the same values every time wait for good.
  static constexpr std::uint32_t kMostWaitingTurns = 1024;

  const Lowered* resume = nullptr;
  SimtStack stack;
  CallStack calls;  ///< functions that the active lanes are in, the kernel's own body not counted
  WarpState state = WarpState::ready;
  std::uint32_t barrier = 0;          ///< number of the barrier they wait at
  std::uint32_t barrier_threads = 0;  ///< threads the barrier waits for, 0 for all
  const Lowered* barrier_instruction = nullptr;
  std::uint32_t waiting_turns = 0;  ///< turns in a row that ended in waiting, with nothing new
  LaneWait wait;                    ///< for lanes that go another way
  Poll poll;                        ///< the last load that may wait for others
  VainTries tries;

  /// All that go this way, those in callers of the function included.
  std::uint32_t all_lanes() const { return stack.all_lanes() | calls.lanes(); }
};

}  // namespace simgpu
