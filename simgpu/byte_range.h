#pragma once

#include <cstdint>

namespace simgpu {

/// A stretch of device memory.
struct ByteRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool operator==(const ByteRange&) const = default;
};

}  // namespace simgpu
