#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/isa/lowered.h"
#include "simgpu/replay/recording.h"

namespace simgpu::replay {

/// Bytes of a slot of the register file that holds predicates, and of one of 64-bit values.
inline constexpr std::uint32_t kPredicateBytes = 4;
inline constexpr std::uint32_t kWideBytes = 256;

/// How the values of each register of a kernel are to be shown: as the instructions that compute
/// with it take them. PTX's registers have a size and no more, and loads have often no type either.
std::vector<ValueType> value_types(const LoweredKernel& kernel);

}  // namespace simgpu::replay
