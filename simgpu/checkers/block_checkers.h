#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/checkers/access_listener.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {

/// The checkers that watch one thread block while it runs: uninitialised reads (global, shared,
/// local) and shared-memory races by barrier interval. One instance per worker thread, reused from
/// block to block.
///
/// The engine itself refuses out-of-bounds and misaligned accesses (it must, to stay alive), so
/// those do not pass through here.
///
/// Race rule: two accesses to one shared byte by different threads, at least one of them a plain
/// store, or one a plain load and the other an atomic, in the same barrier interval, and not
/// ordered by a warp-level synchronisation when both threads are of one warp, nor by strong
/// accesses that release and acquire (flags, mbarriers, locks). Strong accesses do not race with
/// each other, nor do loads that may meet atomics (AccessFacts) with these. An asynchronous copy
/// stores from when it is issued until its thread has waited for it; in between nobody, that thread
/// included, may touch the destination, and others not before the next barrier (RL0313). The first
/// racing pair per pair of instructions is kept in full, later ones are only counted.
class BlockCheckers {
 public:
  /// @param facts by pc; instructions beyond its end have none
  /// @param most_window_bytes that records of races in global memory may take; what they say of
  /// the accesses longest ago goes first
  explicit BlockCheckers(DeviceMemory& memory, std::vector<AccessFacts> facts = {},
                         std::size_t most_window_bytes = ~std::size_t{0});
  ~BlockCheckers();

  /// Who is shown accesses and findings from now on; nullptr: nobody.
  void listen(AccessListener* listener);

  /// A new block: all of shared memory is uninitialised, a new barrier interval begins.
  void begin_block(std::uint64_t block, std::uint32_t shared_bytes, std::uint32_t warps,
                   std::uint32_t local_bytes_per_thread);

  void shared(const WarpAccess& access);
  /// The threads of an asynchronous copy have waited for it: `access` is the one that was passed to
  /// shared() when it was issued, or some of its lanes.
  void copy_done(const WarpAccess& access);
  /// Loads: every byte must have been written. Stores and atomics mark bytes initialised.
  void global(const WarpAccess& access);
  void local(const WarpAccess& access);
  /// A function begins: [first, first + bytes) of its threads' local memory is uninitialised again.
  void new_local_variables(std::uint16_t warp, std::uint32_t mask, std::uint32_t first,
                           std::uint32_t bytes);

  /// A lane of a shuffle reads from `source`, a lane that does not take part (RL0305).
  void absent_source(std::uint16_t warp, std::uint32_t pc, std::uint8_t lane, std::uint8_t source);
  /// Lanes that have loaded what nothing has written: from shared or local memory, or, beside
  /// written bytes, from global memory.
  struct Unwritten {
    RawFinding finding;
    std::array<std::uint16_t, kWarpSize> bytes{};  ///< by lane; bit i is byte i of its access
  };
  /// Of the last access. Who takes it follows the values, and adds the finding when they are used;
  /// otherwise it is one.
  bool has_unwritten() const { return has_unwritten_; }
  std::vector<Unwritten> take_unwritten();
  /// What the engine has found out itself.
  void add(const RawFinding& finding);

  /// All live threads of the block have passed a barrier (bar.sync over the whole block).
  void block_barrier();
  /// A barrier at which only `warps` (by warp) of the block have waited.
  void partial_barrier(const std::vector<bool>& warps, std::uint32_t barrier = 0);
  /// `warp` arrives at a barrier and does not wait (bar.arrive): what it did so far is ordered
  /// before what those do afterwards who wait there.
  void arrive(std::uint16_t warp, std::uint32_t barrier);
  /// __syncwarp, shuffles and votes: the lanes in `mask` of `warp` are ordered.
  void warp_barrier(std::uint16_t warp, std::uint32_t mask);

  /// A memory fence of any scope, by `warp`. What strong accesses order with and without it is
  /// known from shared() and global().
  void fence(std::uint16_t warp);
  /// What an mbarrier at `place` of shared memory orders; see WarpOrder.
  void arrive_at(std::uint16_t warp, std::uint32_t place);
  void end_phase(std::uint32_t place);
  void wait_for_phase(std::uint16_t warp, std::uint32_t place);
  /// [first, first + bytes) of the block's shared memory holds zeros for it to begin with.
  void initialised_shared(std::uint64_t first, std::uint64_t bytes);
  /// What has just been stored there is itself undefined: the bytes are as good as unwritten.
  void unwritten_shared(std::uint64_t first, std::uint64_t bytes);

  /// Findings since the last call, in program order of this block.
  std::vector<RawFinding> take_findings();

 private:
  void check_array(const WarpAccess& access, const AccessFacts& facts,
                   const std::optional<std::int64_t>& stride);
  void note_unwritten(AccessKind kind, RawFinding finding, std::uint16_t bytes);
  void add_unwritten();

  struct State;
  std::unique_ptr<State> state_;
  bool has_unwritten_ = false;
  AccessListener* listener_ = nullptr;
};

}  // namespace simgpu
