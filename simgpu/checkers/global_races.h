#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/checkers/findings.h"
#include "simgpu/checkers/memory_races.h"
#include "simgpu/checkers/warp_order.h"

namespace simgpu {

/// Races in global memory between the threads of one block (RL0316). Memory is watched in windows,
/// as many as the block's warps need at a time; what a block touched before its last barrier needs
/// none. If a block touches more than that between two barriers, what it touched longest ago is
/// forgotten, and races with it are missed. What is found depends on the block alone.
class GlobalRaces {
 public:
  void begin_block(std::uint64_t block, std::uint32_t warps);
  /// Times begin anew: everything is forgotten.
  void forget_all() { ways_.clear(); }
  /// @param stride the lanes' distance, where it is known to be the same throughout
  void access(const WarpAccess& access, const std::optional<std::int64_t>& stride,
              const WarpOrder& order, FindingList& findings);

 private:
  static constexpr std::uint32_t kWindowBytes = 512;  ///< what a warp reads 16 bytes at a time
  static constexpr std::uint32_t kWays = 4;
  static constexpr std::uint32_t kWindowsPerWarp = 16;

  struct Window {
    std::uint64_t number = ~std::uint64_t{0};  ///< address / kWindowBytes
    std::uint64_t block = ~std::uint64_t{0};
    WarpOrder::Time used_until = 0;  ///< no access in it is later
    std::uint64_t last_use = 0;
    MemoryRaces races{{"RL0316", "RL0316", "RL0316"}};
  };
  MemoryRaces& window_of(std::uint64_t number, const WarpOrder& order);

  std::uint64_t block_ = 0;
  std::uint64_t uses_ = 0;
  std::vector<Window> ways_;  ///< kWays of each set, one after the other
};

}  // namespace simgpu
