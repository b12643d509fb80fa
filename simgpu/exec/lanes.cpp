#include "simgpu/exec/lanes.h"

#include <cstring>

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

void write_slot(Warp& warp, const SlotRange& slot, const std::byte* kept) {
  if (slot.bytes == slot_bytes(SlotKind::predicate)) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, kept, sizeof(bits));
    write_predicate(warp, slot.offset, bits);
  } else if (slot.bytes == slot_bytes(SlotKind::word)) {
    alignas(64) Word32 values[kWarpSize];
    std::memcpy(values, kept, sizeof(values));
    blend(words(warp, slot.offset), values, warp.mask);
  } else {
    alignas(64) Word64 values[kWarpSize];
    std::memcpy(values, kept, sizeof(values));
    blend(pairs(warp, slot.offset), values, warp.mask);
  }
}

}  // namespace simgpu
