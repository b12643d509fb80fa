#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "simgpu/provenance/origin_report.h"

namespace simgpu {

/// Origins as bytes, for the way from the device process to the trusted side.
std::vector<std::byte> encode_origins(const std::vector<MemoryOrigin>& origins);

/// @throws wire::MessageError when the bytes are not what encode_origins() writes
std::vector<MemoryOrigin> decode_origins(std::span<const std::byte> bytes);

}  // namespace simgpu
