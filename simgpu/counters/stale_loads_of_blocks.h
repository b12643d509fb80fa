#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/counters/traffic_log.h"

namespace simgpu {

/// As StaleLoads, between blocks: a load that takes memory to be constant behind an atomic, of what
/// another block has stored. What blocks do without order is a race of its own (RL0304).
class StaleLoadsOfBlocks {
 public:
  /// @param by_pc which instructions are such loads
  explicit StaleLoadsOfBlocks(std::vector<bool> by_pc) : by_pc_(std::move(by_pc)) {}

  /// Goes through one block's log; each block has one, and they may come in any order.
  void add(const TrafficLog& log);
  /// One for each pair of instructions.
  std::vector<RawFinding> take_findings() { return std::exchange(findings_, {}); }

 private:
  struct Side {
    std::uint64_t block = 0;
    std::uint32_t pc = 0;
    std::uint16_t warp = 0;
    std::uint8_t lane = 0, access_bytes = 0;
    AccessKind kind = AccessKind::load;
    std::uint32_t bytes = 0;  ///< of the sector
    bool mixes = false;       ///< TrafficEntry::mixes
  };
  /// What is known of a sector; bits are bytes, sides the first ones.
  struct Sector {
    std::uint32_t stored = 0, loaded = 0;
    Side writer, reader;
  };
  static constexpr std::size_t kMostSectors = std::size_t{1} << 21;

  /// The lane that touched a byte of the sector, where that is known.
  static std::optional<std::uint8_t> lane_at(const Side& side, std::uint32_t byte);
  void touch(const Side& side, std::uint64_t sector, std::uint32_t bytes);
  void report(const Sector& known, std::uint64_t sector, std::uint32_t bytes);

  std::vector<bool> by_pc_;
  std::unordered_map<std::uint64_t, Sector> sectors_;
  std::vector<RawFinding> findings_;
};

}  // namespace simgpu
