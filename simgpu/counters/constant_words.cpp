#include "simgpu/counters/constant_words.h"

#include <algorithm>
#include <bit>

#include "simgpu/counters/traffic_log.h"

namespace simgpu {

std::uint32_t constant_words(std::uint32_t mask,
                             const std::array<std::uint64_t, kWarpSize>& addresses,
                             std::uint32_t bytes) {
  const std::uint32_t unit = std::max(bytes, kWordBytes);
  std::array<std::uint64_t, kWarpSize> words;
  auto end = words.begin();
  for (; mask != 0; mask &= mask - 1) *end++ = addresses[std::countr_zero(mask)] / unit;
  std::sort(words.begin(), end);
  return static_cast<std::uint32_t>(std::unique(words.begin(), end) - words.begin());
}

}  // namespace simgpu
