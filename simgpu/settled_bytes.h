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

/// What is final of a launch that was cut short, though most of its blocks never ran: what its
/// whole blocks stored. Empty where that cannot be said.
struct SettledBytes {
  std::vector<ByteRange> ranges;   ///< in order and apart from each other
  std::uint64_t whole_blocks = 0;  ///< that stored them
  std::uint64_t blocks = 0;        ///< of the grid
};

}  // namespace simgpu
