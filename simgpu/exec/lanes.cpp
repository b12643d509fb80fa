#include "simgpu/exec/lanes.h"

namespace simgpu {

void blend(Word32* to, const Word32* from, std::uint32_t mask) {
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    to[lane] = (mask >> lane) & 1U ? from[lane] : to[lane];
  }
}

void blend(Word64* to, const Word64* from, std::uint32_t mask) {
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    to[lane] = (mask >> lane) & 1U ? from[lane] : to[lane];
  }
}

}  // namespace simgpu
