#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/counters/traffic_log.h"

namespace simgpu {

/// Finds loads that take memory to be constant (ld.global.nc, as __ldg() and const __restrict__
/// make it, and textures) and come behind a store of the same launch to the same bytes (RL0318):
/// the caches that they go through do not see it, whatever barriers lie between. A load before the
/// store is left alone. What blocks do without order is a race of its own (RL0304), so that of two
/// blocks only a load counts that comes behind an atomic.
class ReadOnlyLoads {
 public:
  /// @param by_pc which instructions are such loads
  explicit ReadOnlyLoads(std::vector<bool> by_pc) : by_pc_(std::move(by_pc)) {}

  /// Goes through one block's log; each block has one.
  void add(const TrafficLog& log);
  /// One for each pair of instructions.
  std::vector<RawFinding> take_findings();

 private:
  struct Side {
    std::uint64_t block = 0;
    std::uint32_t pc = 0;
    std::uint16_t warp = 0;
    std::uint8_t lane = 0, access_bytes = 0;
    AccessKind kind = AccessKind::load;
  };
  /// What is known of a sector; bits are bytes.
  struct Sector {
    std::uint32_t stored = 0;
    std::uint32_t stored_by_writer = 0;  ///< by the writer's block
    std::uint32_t loaded = 0;  ///< behind an atomic: a block whose log comes later may have stored
    Side writer, reader;       ///< the last who stored, the first who loaded
  };
  static constexpr std::size_t kMostSectors = std::size_t{1} << 21;

  void load(const Side& side, std::uint64_t sector, std::uint32_t bytes, bool is_behind_atomic);
  void store(const Side& side, std::uint64_t sector, std::uint32_t bytes);
  void report(const Side& load, const Side& store, std::uint64_t sector, std::uint32_t bytes);

  std::vector<bool> by_pc_;
  std::unordered_map<std::uint64_t, Sector> sectors_;
  std::vector<RawFinding> findings_;
};

}  // namespace simgpu
