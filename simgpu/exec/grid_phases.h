#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/counters/traffic_log.h"

namespace simgpu {

/// Races between blocks in what lies between two grid.sync() of a cooperative launch. What a block
/// did in one such phase is ordered against other phases of others, and against the same phase only
/// by further atomics. BlockConflicts knows but the first and the last synchronisation of a block,
/// so that to it all in between is ordered.
class GridPhases {
 public:
  /// @param workspace device address of the words that grid.sync() counts in
  explicit GridPhases(std::uint64_t workspace);

  /// Keeps a finished block's log; in order of blocks.
  void add(const TrafficLog& log);
  /// RL0304, one for each pair of instructions of a phase. None when there was too much to keep, or
  /// no grid.sync().
  std::vector<RawFinding> take_findings();

 private:
  struct Block {
    TrafficLog log;
    std::vector<std::size_t> ends;  ///< of its phases, in entries
  };
  TrafficLog phase_of(const Block& block, std::size_t phase) const;
  bool is_workspace(const TrafficEntry& entry) const;

  std::uint64_t workspace_sector_;
  std::uint64_t kept_ = 0;
  bool too_much_ = false;
  std::vector<Block> blocks_;
};

}  // namespace simgpu
