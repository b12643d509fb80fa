#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simgpu/warp_size.h"

namespace simgpu {

/// Where the lanes of a warp went with a memory instruction, the first time that it was executed in
/// the first block that executed it.
struct FirstAccess {
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
  std::uint32_t mask = 0;
  std::uint32_t bytes = 0;                         ///< of each lane
  bool is_shared = false;                          ///< else global
  std::array<std::uint64_t, kWarpSize> address{};  ///< device address, or offset in shared memory
};

/// By memory instruction, or by instruction; nullptr: none, or none that is known.
using FirstAccesses = std::vector<std::shared_ptr<const FirstAccess>>;

/// Of those of several workers, who take blocks in order, the first of each.
inline void keep_first(FirstAccesses& first, const FirstAccesses& others) {
  if (first.size() < others.size()) first.resize(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (others[i] && (!first[i] || others[i]->block < first[i]->block)) first[i] = others[i];
  }
}

}  // namespace simgpu
