#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/report.h"

namespace simgpu {

/// An Activity as bytes, for the way from the device process to the trusted side.
std::vector<std::byte> encode(const Activity& activity);

/// @throws wire::MessageError when the bytes are not what encode() writes
Activity decode_activity(std::span<const std::byte> bytes);

}  // namespace simgpu
