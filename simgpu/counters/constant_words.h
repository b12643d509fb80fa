#pragma once

#include <array>
#include <cstdint>

#include "simgpu/checkers/access.h"

namespace simgpu {

/// Wavefronts of a warp's load of constants: the constant cache gives out one word at a time, to
/// all lanes that ask for it. Loads of 8 and 16 bytes count as one of theirs.
/// @param bytes per lane
std::uint32_t constant_words(std::uint32_t mask,
                             const std::array<std::uint64_t, kWarpSize>& addresses,
                             std::uint32_t bytes);

}  // namespace simgpu
