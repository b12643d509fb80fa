#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "simgpu/checkers/access.h"
#include "simgpu/checkers/findings.h"

namespace simgpu {

/// Finds loads that take global memory to be constant (ld.global.nc, as __ldg() and const
/// __restrict__ make it, and textures) and come behind a store of the same block to the same bytes
/// (RL0318): the cache that they go through does not see it, whatever barriers lie between. A load
/// before the store is left alone.
class StaleLoads {
 public:
  void begin_block(std::uint64_t block);
  /// Whoever stores.
  void store(const WarpAccess& access);
  /// Such a load.
  void load(const WarpAccess& access, FindingList& findings) const;

 private:
  struct Site {
    std::uint32_t pc = 0;
    std::uint16_t warp = 0;
    std::uint8_t lane = 0;
    AccessKind kind = AccessKind::store;
  };
  static constexpr std::uint64_t kSectorBytes = 32, kWordBytes = 4;
  /// What the block has stored to a sector.
  struct Stored {
    std::uint32_t bytes = 0;                           ///< bits
    std::array<Site, kSectorBytes / kWordBytes> last;  ///< by word
  };
  static constexpr std::size_t kMostSectors = std::size_t{1} << 20;

  std::uint64_t block_ = 0;
  std::unordered_map<std::uint64_t, Stored> sectors_;
  std::uint64_t lowest_ = ~std::uint64_t{0}, highest_ = 0;  ///< sector that was stored to
};

}  // namespace simgpu
