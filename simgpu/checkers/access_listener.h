#pragma once

#include <cstdint>

#include "simgpu/checkers/access.h"

namespace simgpu {

enum class MemorySpace : std::uint8_t { shared, global, local };

/// Is shown what the warps of a block access, and what the checkers make of it, as it happens. All
/// of it is of the block that runs.
class AccessListener {
 public:
  virtual ~AccessListener() = default;

  /// Before the checkers look at it; findings about the access come behind it.
  virtual void accessed(MemorySpace /*space*/, const WarpAccess& /*access*/) {}
  /// An asynchronous copy into shared memory has been waited for: its bytes are there now.
  virtual void copy_arrived(const WarpAccess& /*copy*/) {}
  virtual void found(const RawFinding& /*finding*/) {}
  /// All live threads of the block have passed a barrier.
  virtual void passed_barrier() {}
};

}  // namespace simgpu
