#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/byte_range.h"

namespace simgpu {

/// Blocks that were chosen by the secret, as many from each part of a grid as from any other.
struct ChosenBlocks {
  std::uint64_t storing = 0;         ///< how many of them stored anything
  std::uint64_t of_grid = 0;         ///< blocks of the grid; 0: none were chosen like that
  std::uint64_t last_stores_at = 0;  ///< where the grid's last block stores first; 0: nowhere
};

/// What is final of a launch of which not all blocks ran: what those that ran whole have stored.
/// Beside vast memory, of one that ran whole too. Empty where that cannot be said.
struct SettledBytes {
  std::vector<ByteRange> ranges;  ///< in order and apart from each other
  /// How many bytes all blocks of the grid store to each allocation that `ranges` lie in, as far as
  /// the blocks that ran tell; `address` is the allocation's.
  std::vector<ByteRange> of_grid;
  ChosenBlocks chosen = {};
};

}  // namespace simgpu
