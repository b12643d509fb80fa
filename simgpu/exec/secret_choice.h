#pragma once

#include <cmath>
#include <cstdint>

#include "simgpu/counters/random_bits.h"

/// Which blocks run of a launch that does not run whole. The trusted side keeps the secret, and the
/// kernel is known by then: no kernel can treat those blocks otherwise than the others.
namespace simgpu {

/// The `index`th of a sequence of places among `count` that spread evenly, in step with no power of
/// two. The secret decides where the sequence begins.
/// @pre count > 0
inline std::uint64_t spread_place(std::uint64_t secret, std::uint64_t index, std::uint64_t count) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double begin = static_cast<double>(mixed_bits(secret) >> 11) * 0x1p-53;
  const double turns = begin + static_cast<double>(index) * kGoldenRatio;
  const double place = (turns - std::floor(turns)) * static_cast<double>(count);
  const auto whole = static_cast<std::uint64_t>(place);
  return whole < count ? whole : count - 1;
}

}  // namespace simgpu
