#pragma once

#include <cstdint>

namespace simgpu {

/// A size or an index in up to three dimensions.
struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

}  // namespace simgpu
