#pragma once

#include <cstdint>

#include "simgpu/checkers/access.h"

namespace simgpu {

/// Wavefronts that one shared-memory instruction of a warp takes: 32 banks of 4 bytes; lanes
/// reading the same word share it; 8- and 16-byte accesses are served in two and four phases of
/// half and quarter warps, as documented for compute capability 5 and later. Loads take half as
/// many phases where lanes i and i ^ 1, or i and i ^ 2, read the same place throughout (NVIDIA's
/// developer forum, "Unexpected shared memory bank conflict", 2019; counted so on an H200). `ideal`
/// is what the same bytes would take without conflicts; conflicts = wavefronts - ideal.
struct SharedWavefronts {
  std::uint32_t wavefronts = 0;
  std::uint32_t ideal = 0;
};
SharedWavefronts shared_wavefronts(const WarpAccess& access);

}  // namespace simgpu
