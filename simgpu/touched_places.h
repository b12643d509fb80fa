#pragma once

#include <vector>

#include "simgpu/settled_bytes.h"

namespace simgpu {

/// Where work touches device memory. All in order and apart from each other.
struct TouchedPlaces {
  std::vector<ByteRange> read, written;
  std::vector<ByteRange> updated;  ///< by atomics, which need no order among themselves
};

}  // namespace simgpu
