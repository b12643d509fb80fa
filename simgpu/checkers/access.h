#pragma once

#include <array>
#include <cstdint>

#include "simgpu/codes/code.h"
#include "simgpu/warp_size.h"

namespace simgpu {

/// `copy`: an asynchronous copy (cp.async) into shared memory, from when it is issued.
enum class AccessKind : std::uint8_t { load, store, atomic, copy };

/// What an access of PTX's memory model orders: bits of WarpAccess::order. Atomics are strong, and
/// so are loads and stores with .relaxed, .acquire or .release, and .volatile ones of global
/// memory.
inline constexpr std::uint8_t kStrong = 1;
inline constexpr std::uint8_t kAcquires = 2;
inline constexpr std::uint8_t kReleases = 4;
inline constexpr std::uint8_t kOrdersBlock = 8;  ///< scope .cta: nothing between blocks
/// Of an mbarrier, which orders those alone that wait for it: see WarpOrder::arrive_at.
inline constexpr std::uint8_t kOnMbarrier = 16;
/// Of an atomic, no order: lanes that meet on one address are served one after the other.
inline constexpr std::uint8_t kLanesOneByOne = 32;

constexpr bool reads(AccessKind kind) {
  return kind == AccessKind::load || kind == AccessKind::atomic;
}
constexpr bool writes(AccessKind kind) { return kind != AccessKind::load; }

/// How the lanes' addresses of a memory instruction lie to each other.
enum class Shape : std::uint8_t {
  unknown,
  uniform,      ///< all the same
  consecutive,  ///< all 32 lanes, each right behind the one before
  scattered,
};

/// One memory instruction of one warp, as the engine hands it to counters and checkers. Lane i
/// takes part when bit i of `mask` is set; it touches [address[i], address[i] + bytes). Addresses
/// are device addresses for global memory, and offsets from the block's first shared byte, or the
/// thread's first local byte, for those spaces.
struct WarpAccess {
  AccessKind kind = AccessKind::load;
  std::uint8_t bytes = 4;  ///< per lane: 1 to 16
  std::uint16_t warp = 0;  ///< within the block
  std::uint32_t pc = 0;    ///< index into the kernel's lowered instructions
  std::uint32_t mask = 0;
  const std::array<std::uint64_t, kWarpSize>* address = nullptr;
  /// Values about to be stored, 32 lanes of `bytes` each, or nullptr: two lanes or warps that store
  /// the same value to one place are not reported as a write-write race.
  const std::uint8_t* values = nullptr;
  bool bypasses_l1 = false;        ///< a load that only L2 caches (cp.async.cg)
  Shape shape = Shape::unknown;    ///< of the lanes that take part, if whoever tells of it knows
  std::uint8_t order = 0;          ///< kStrong …; 0 for a plain access
  bool meets_atomics = false;      ///< see AccessFacts; strong loads do so too
  std::uint8_t texture_lanes = 0;  ///< for which the texture units fetch or filter
  std::uint64_t slots = 0;         ///< issue slots of the warp in this block so far
  std::uint64_t time = 0;          ///< of the warp, in cycles since its block began

  /// Strong for other blocks too.
  bool orders_blocks() const { return (order & (kStrong | kOrdersBlock)) == kStrong; }
};

/// What lowering knows of a memory instruction, for the checkers.
struct AccessFacts {
  /// Of a load: the bytes from which something is computed. It may read unwritten bytes beside
  /// written ones if nobody uses them: they are a struct's padding.
  std::uint16_t used_bytes = 0xFFFF;
  /// A load that may meet the atomics of other threads: a .volatile one, or one that only guesses
  /// what an atomic of its own thread will find there (lower/guesses.h).
  bool meets_atomics = false;
  bool reads_unchanged = false;  ///< a load that takes global memory to be constant
  /// The array in shared memory from which the address is computed, where that is known: it begins
  /// at the first byte and ends before the second one. {0, 0} where it is not.
  std::uint32_t array_begin = 0, array_end = 0;
};

/// What is wrong where lanes of a warp need each other.
enum class LaneFault : std::uint8_t {
  unnamed_source,  ///< a shuffle reads from a lane that its mask does not name
  exited_source,   ///< a shuffle's value from a lane that has exited is used
  no_source,       ///< of one from a lane that is no thread of the block
  unnamed_caller,  ///< an exchange's mask leaves out the lane that executes it
  not_here,        ///< an exchange names lanes that do not come
  not_at_barrier,  ///< a barrier of the block that lanes of a warp leave out
};

inline constexpr std::uint32_t kNoBranch = 0xffffffff;

/// What a checker reports, in terms of the lowered program; the launch turns it into a
/// simgpu::Finding (source line, demangled names, thread index from lane).
struct RawFinding {
  Code code;
  std::uint32_t pc = 0;
  std::uint64_t block = 0;  ///< linear block index
  std::uint16_t warp = 0;
  std::uint8_t lane = 0;
  AccessKind kind = AccessKind::load;
  std::uint8_t bytes = 0;
  std::uint64_t address = 0;  ///< as in WarpAccess
  bool has_other = false;     ///< the fields below describe the other side of a race
  std::uint32_t other_pc = 0;
  std::uint64_t other_block = 0;
  std::uint16_t other_warp = 0;
  std::uint8_t other_lane = 0;
  AccessKind other_kind = AccessKind::load;
  /// Of a race between blocks: whether the warp and lane are those that touched the address. Else
  /// they are of the block, and nobody knows which of its threads it was.
  bool knows_thread = true, other_knows_thread = true;
  /// Of a race between blocks: the atomic that would order them is there, a fence is missing.
  bool lacks_fence = false;
  // Of RL0305, where `address` is the lane that is asked or waited for.
  LaneFault lane_fault = LaneFault::unnamed_source;
  std::uint8_t lanes_here = 0, lanes_running = 0;
  std::uint32_t parted_pc = kNoBranch;  ///< the branch at which the lanes parted, where it is known
  bool unless_returned = false;         ///< see Finding
  /// Of a read of what nothing has written: the first such byte, from `address` on, and how many.
  std::uint8_t unwritten_first = 0, unwritten_count = 0;
  std::uint64_t occurrences = 1;
};

}  // namespace simgpu
