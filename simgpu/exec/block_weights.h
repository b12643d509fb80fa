#pragma once

#include <array>
#include <cstdint>

#include "simgpu/exec/work_balance.h"

namespace simgpu {

/// What blocks did, in a few numbers for each.
struct BlockWeights {
  struct Weight {
    std::uint64_t instructions = 0, sectors = 0, wavefronts = 0;
    std::uint64_t longest_way = 0;  ///< of a warp
    /// Instructions of the warps whose index in the block, modulo 4, is this one's.
    std::array<std::uint64_t, 4> by_scheduler{};
    std::uint64_t busiest_scheduler = 0;  ///< the most of a block's four
  };
  Weight all;              ///< of all blocks together
  Weight heaviest;         ///< the most of each in one block, or on one SM where that is known
  std::uint64_t ways = 0;  ///< of all warps together
  std::uint64_t warps = 0;
  std::uint64_t blocks = 0;

  /// @param ways_of_block  of all its warps together
  void add(const Weight& block, std::uint64_t ways_of_block, std::uint64_t warps_of_block);
  /// Of `times` times what these blocks are.
  void add_times(const BlockWeights& other, std::uint64_t times);
  /// Some SM has all of this.
  void add_sm(const Weight& sm);
};

/// Of a launch of which these blocks ran.
/// @param instructions of the whole launch
/// @param warps        likewise
WorkBalance balance_of(const BlockWeights& ran, std::uint64_t instructions, std::uint64_t warps);

/// The length of a warp's way. A proxy: the model tells what the mean warp's way takes, and this
/// only how much longer another is.
constexpr std::uint64_t way_of(std::uint64_t instructions, std::uint64_t global_loads,
                               std::uint64_t slept_ns) {
  constexpr std::uint64_t kInstructionsOfALoad = 300;  // about the latency of L2
  return instructions + kInstructionsOfALoad * global_loads + slept_ns;
}

}  // namespace simgpu
