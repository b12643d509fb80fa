#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "simgpu/exec/call_stack.h"
#include "simgpu/exec/lane_turns.h"
#include "simgpu/exec/simt_stack.h"
#include "simgpu/lower/lowered.h"

namespace simgpu {

class BlockRunner;

enum class WarpState : std::uint8_t { ready, at_barrier, done };

/// One warp in execution.
struct Warp {
  std::byte* regs = nullptr;  ///< register file, laid out by the lowering
  std::uint32_t mask = 0;     ///< lanes that execute the current instruction
  std::uint32_t active = 0;   ///< lanes that are at the current instruction
  std::uint32_t dead = 0;     ///< lanes that have exited or never existed
  const Lowered* code = nullptr;
  ExecutionCount* counts = nullptr;  ///< by instruction, of the first of each basic block only
  std::uint64_t* guarded_threads = nullptr;  ///< by instruction, of guarded ones only
  const std::uint32_t* lists = nullptr;
  BlockRunner* block = nullptr;
  std::int64_t quantum = 0;         ///< instructions left before another warp gets its turn
  std::int32_t memory_quantum = 0;  ///< global memory accesses left, likewise
  std::uint64_t clock = 0;  ///< instructions executed, up to the end of the current basic block
  const Lowered* resume = nullptr;
  SimtStack stack;
  WarpState state = WarpState::ready;
  std::uint16_t index = 0;            ///< within the block
  std::uint32_t barrier = 0;          ///< number of the barrier it waits at
  std::uint32_t barrier_threads = 0;  ///< threads the barrier waits for, 0 for all
  const Lowered* barrier_instruction = nullptr;
  bool gave_way = false;            ///< its turn ended because it may wait for others
  std::uint32_t waiting_turns = 0;  ///< turns one after the other that ended so, with nothing new
  std::vector<LaneGroup> others;    ///< lanes that go another way than all above, by turns
  bool waits_for_lanes = false;     ///< for some of the others, at an instruction of the whole warp
  bool fails_without_lanes = false;  ///< no others will come there
  CallStack calls;  ///< functions that the active lanes are in, the kernel's own body not counted

  /// Whether a result may be written to all 32 lanes: those that do not execute no longer exist.
  bool full() const { return (mask | dead) == 0xFFFFFFFFU; }

  /// Goes on at instruction `next`: the only way into a basic block.
  const Lowered* go(std::uint32_t next) {
    next = stack.arrive(next);
    active = mask = stack.active();
    return enter(next);
  }

  const Lowered* enter(std::uint32_t next) {
    const Lowered* in = code + next;
    ExecutionCount& count = counts[next];
    ++count.warps;
    count.threads += static_cast<std::uint32_t>(std::popcount(active));
    quantum -= in->block_length;
    clock += in->block_length;
    if (quantum < 0) [[unlikely]] {
      resume = in;
      return nullptr;
    }
    return in;
  }
};

}  // namespace simgpu
