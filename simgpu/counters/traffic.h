#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/counters/access_counts.h"
#include "simgpu/counters/load_counts.h"
#include "simgpu/counters/traffic_log.h"
#include "simgpu/report.h"
#include "specs/gpu_spec.h"

namespace simgpu {

class DeviceMemory;
class SectorCache;

/// A warp's load whose lanes lie side by side, or all in one place.
struct LaneRange {
  std::uint8_t bytes = 4;  ///< per lane
  std::uint16_t warp = 0;  ///< within the block
  std::uint32_t pc = 0;    ///< index into the kernel's lowered instructions
  Shape shape = Shape::unknown;
  std::uint32_t mask = 0;
  std::uint64_t address = 0;  ///< of the first lane
  std::uint64_t slots = 0;    ///< issue slots of the warp in this block so far
  std::uint64_t time = 0;     ///< of the warp, in cycles since its block began
};

/// Global-memory traffic of one thread block: coalesces each warp access into 32-byte sectors, runs
/// them through the block's share of L1, and logs what goes on to L2. One per worker; filled while
/// a block runs.
class BlockTraffic {
 public:
  /// @param l1_bytes the block's share of its SM's L1: what shared memory leaves, over resident
  /// blocks
  /// @param most_entries of a log; what goes beyond is only counted
  explicit BlockTraffic(std::uint64_t l1_bytes, std::size_t most_entries = TrafficLog::kMaxEntries);
  ~BlockTraffic();
  BlockTraffic(BlockTraffic&&) noexcept;
  BlockTraffic& operator=(BlockTraffic&&) noexcept;

  void begin_block(std::uint64_t block);
  void global(const WarpAccess& access);
  /// As global(), for the plain loads of all lanes of a range of whole words; false, and nothing
  /// done, for others.
  bool load(const LaneRange& range);
  /// A fence for the whole GPU (__threadfence). That it is one thread's is not looked at.
  void fence();
  /// A warp has waited for copies at an mbarrier; so many groups of them came later.
  void wait_at_mbarrier(std::uint32_t pc, std::size_t warp, std::uint32_t groups_left);
  /// Warp-wide stores of the block so far.
  std::uint64_t store_requests() const;
  /// Sectors that the block has asked for so far.
  std::uint64_t requested_sectors() const;
  /// Of all blocks that were taken since clear_loads(); what became of them in L2 is not known
  /// here.
  const LoadCountsByPc& loads() const;
  /// Of all blocks since clear_loads(), the one that runs included.
  const AccessCountsByPc& accesses() const;
  /// Of the block that runs, or was taken last.
  std::span<const LoadsOfWarps> loads_of_block() const;
  void clear_loads();
  /// How long a warp has to wait for its loads since the last call, in cycles: for the longest one.
  std::uint64_t take_wait();

  using Log = TrafficLog;
  /// Hands over the finished block's log and counts; the object is ready for begin_block again.
  std::unique_ptr<Log> take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What a launch has to know of the places that its blocks touch.
enum class WatchedPlaces : std::uint8_t {
  none,
  conflicts,  ///< LaunchTraffic::conflict() only
  all,        ///< who touched what: findings, and touched()
};

/// L2 and DRAM of one launch. Blocks retire in launch order, whatever order workers finished them
/// in, so that every count is the same for any number of workers. Blocks that are resident together
/// (a wave) are interleaved as the hardware would run them side by side.
class LaunchTraffic {
 public:
  /// @param resident_blocks blocks that run at the same time on the whole GPU
  /// @param l2_memory L2Cache::storage() of this GPU, or nullptr: the launch gets its own
  LaunchTraffic(const gpu_spec::GpuSpec& gpu, std::uint64_t resident_blocks,
                WatchedPlaces watched = WatchedPlaces::all, SectorCache* l2_memory = nullptr);
  ~LaunchTraffic();

  /// Logs must come in order of block index.
  /// @param left BlockConflicts::add()
  void retire(std::unique_ptr<BlockTraffic::Log> log, const DeviceMemory* left = nullptr);
  /// Flushes the last wave and writes back dirty sectors; adds the counts to `counters`.
  void finish(KernelCounters& counters);
  /// How far the loads went in L2.
  const LoadCountsByPc& loads() const;

  /// Whether two different blocks touched one 4-byte word, at least one of them by a plain store,
  /// the other by any access that is not ordered by the launch; false where nobody watches. With
  /// several workers such a launch
  /// must be repeated serially, because its result depends on the order of blocks.
  bool conflict() const;
  /// All sectors that the launch touched, in order.
  std::vector<TouchedSector> touched() const;
  /// The conflicts as findings (RL0304), for the checker.
  std::vector<RawFinding> take_findings();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace simgpu
