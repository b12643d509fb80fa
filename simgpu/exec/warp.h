#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "simgpu/counters/lines_under_way.h"
#include "simgpu/exec/call_stack.h"
#include "simgpu/exec/lane_state.h"
#include "simgpu/exec/simt_stack.h"
#include "simgpu/isa/lowered.h"

namespace simgpu {

struct ThreadBlock;

/// What has come of a warp's time in the current block of threads.
struct WarpTimes {
  std::uint64_t slots = 0;        ///< of issue, that its instructions take of the machine
  std::uint64_t slept_ns = 0;     ///< that it asked for
  std::uint64_t loads = 0;        ///< from memory
  std::uint64_t load_cycles = 0;  ///< that it has waited for them, and for L2 at fences
  std::uint64_t waited = 0;       ///< cycles at barriers and flags, for warps that came later
  /// Loads for which nothing has waited yet: the first of them, and when all are there. Executed
  /// again, it needs its register back, and the warp waits for them.
  const Lowered* first_under_way = nullptr;
  std::uint64_t all_there = 0;
};

/// One warp in execution. Its lane state is that of the lanes which have the turn: of all, unless
/// some go another way.
struct Warp : LaneState, WarpTimes {
  std::byte* regs = nullptr;  ///< register file, laid out by the lowering
  std::uint32_t mask = 0;     ///< lanes that execute the current instruction
  std::uint32_t active = 0;   ///< lanes that are at the current instruction
  std::uint32_t dead = 0;     ///< lanes that have exited or never existed
  std::uint32_t existed = 0;  ///< lanes that are threads of the block
  const Lowered* code = nullptr;
  ExecutionCount* counts = nullptr;          ///< by basic block
  std::uint64_t* guarded_threads = nullptr;  ///< by instruction, of guarded ones only
  const std::uint32_t* lists = nullptr;
  ThreadBlock* block = nullptr;
  std::int64_t quantum = 0;         ///< instructions left before another warp gets its turn
  std::int32_t memory_quantum = 0;  ///< global memory accesses left, likewise
  std::uint64_t clock = 0;  ///< instructions executed, up to the end of the current basic block
  std::uint16_t index = 0;  ///< within the block
  /// A word of shared memory that the warp waits for to change, and what it was; nullptr: none.
  const std::byte* sleeps_on = nullptr;
  std::uint64_t slept_on = 0;
  bool follows = false;           ///< some of its registers are undefined (undefined_values.h)
  bool gave_way = false;          ///< its turn ended because it may wait for others
  std::vector<LaneState> others;  ///< lanes that go another way, by turns

  /// Whether a result may be written to all 32 lanes: those that do not execute no longer exist.
  bool full() const { return (mask | dead) == 0xFFFFFFFFU; }

  /// Cycles that it has spent in the current block of threads, and those that have passed.
  std::uint64_t own_time() const { return slots + load_cycles + slept_ns; }
  std::uint64_t time() const { return own_time() + waited; }
  /// A load is about to be executed.
  void begin_load(const Lowered* in) {
    if (in->result_use != ResultUse::later || in != first_under_way) return;
    if (all_there > time()) load_cycles += all_there - time();
    first_under_way = nullptr;
  }
  /// Data that a load asked for is there so many cycles from now.
  void end_load(const Lowered* in, std::uint64_t cycles) {
    ++loads;
    if (in->result_use == ResultUse::soon) {
      load_cycles += cycles;
      return;
    }
    if (first_under_way == nullptr) {
      first_under_way = in;
      all_there = 0;
    }
    all_there = std::max(all_there, time() + cycles);
  }
  /// The length of its way, whatever its loads find in L1: blocks of which one asks for more than
  /// the other are in that order by this, too.
  std::uint64_t way() const { return slots + kCyclesBeyondL1 * loads + slept_ns; }

  /// The instruction at which it goes on, or begins.
  const Lowered* goes_on_at() const { return resume != nullptr ? resume : code; }

  /// Whether a turn ends so that the warp waits for others.
  enum class Waiting : std::uint8_t { no, yes, for_good, unknown };
  /// Ends its turn, to go on at `next`.
  const Lowered* give_way(const Lowered* next, Waiting waiting) {
    resume = next;
    gave_way = true;
    if (waiting == Waiting::yes) ++waiting_turns;
    if (waiting == Waiting::for_good) waiting_turns = kMostWaitingTurns;
    if (waiting == Waiting::no) waiting_turns = 0;
    return nullptr;
  }
  /// Its wait for an mbarrier has failed: it needs no turn until the barrier is another one.
  void sleep_on(const std::byte* barrier) {
    sleeps_on = barrier;
    std::memcpy(&slept_on, barrier, sizeof(slept_on));
  }

  /// Goes on at instruction `next`: the only way into a basic block.
  const Lowered* go(std::uint32_t next) {
    next = stack.arrive(next);
    active = mask = stack.active();
    return enter(next);
  }

  const Lowered* enter(std::uint32_t next) {
    const Lowered* in = code + next;
    ExecutionCount& count = counts[in->basic_block];
    ++count.warps;
    count.threads += static_cast<std::uint32_t>(std::popcount(active));
    quantum -= in->block_length;
    clock += in->block_length;
    slots += in->block_slots;
    if (quantum < 0) [[unlikely]] {
      resume = in;
      return nullptr;
    }
    return in;
  }
};

}  // namespace simgpu
