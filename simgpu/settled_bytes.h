#pragma once

#include <cstdint>
#include <vector>

namespace simgpu {

/// A stretch of device memory.
struct ByteRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool operator==(const ByteRange&) const = default;
};

/// What is final of a launch of which not all blocks ran: what those that ran whole have stored.
/// Empty where that cannot be said.
struct SettledBytes {
  std::vector<ByteRange> ranges;  ///< in order and apart from each other
  /// How many bytes all blocks of the grid store to each allocation that `ranges` lie in, as far as
  /// the blocks that ran tell; `address` is the allocation's.
  std::vector<ByteRange> of_grid;
};

}  // namespace simgpu
