#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simgpu/exec/warp_roles.h"
#include "simgpu/exec/work_balance.h"

namespace simgpu {

struct LoweredKernel;

/// What blocks did, in a few numbers for each.
struct BlockWeights {
  struct Weight {
    /// Issue slots: what the machine's assembler drops or folds is no work, however much of it
    /// there is.
    std::uint64_t slots = 0;
    std::uint64_t sectors = 0, wavefronts = 0;
    ByPipe<std::uint64_t> pipes{};  ///< work_of() all instructions
    // Of the warp with most of it:
    std::uint64_t longest_way = 0;
    std::uint64_t longest_own_time = 0;
    std::uint64_t longest_time = 0;  ///< with its waits at barriers
    /// Issue slots of the warps whose index in the block, modulo 4, is this one's.
    std::array<std::uint64_t, 4> by_scheduler{};
    std::uint64_t busiest_scheduler = 0;  ///< the most of a block's four

    /// Adds what SMs share of another's, which is no way of a warp: slots, sectors, wavefronts and
    /// pipes.
    void add_loads(const Weight& other, std::uint64_t times = 1);
    /// Of the same, the most of both.
    void raise_loads(const Weight& other);
  };
  Weight all;              ///< of all blocks together
  Weight heaviest;         ///< the most of each in one block, or on one SM where that is known
  std::uint64_t ways = 0;  ///< of all warps together
  std::uint64_t warps = 0;
  std::uint64_t blocks = 0;
  WarpRoles roles;
  std::vector<SchedulerCounts> entered;  ///< by basic block

  /// @param ways_of_block  of all its warps together
  void add(const Weight& block, std::uint64_t ways_of_block, std::uint64_t warps_of_block);
  /// Of `times` times what these blocks are.
  void add_times(const BlockWeights& other, std::uint64_t times);
  /// What the warps of a block that add() is told of did.
  void add_warps(const BlockOfWarps& block);
  /// Some SM has all of this.
  void add_sm(const Weight& sm);
};

/// Of a launch of which these blocks ran.
/// @param kernel whose code they ran
/// @param slots of the whole launch
/// @param warps likewise
WorkBalance balance_of(const LoweredKernel& kernel, const BlockWeights& ran, std::uint64_t slots,
                       std::uint64_t warps);

}  // namespace simgpu
