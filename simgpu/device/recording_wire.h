#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/replay/recording.h"

namespace simgpu {

/// What is to be recorded, and what came of it, as bytes between the device process and the trusted
/// side.
std::vector<std::byte> encode(const replay::Wanted& wanted);
std::vector<std::byte> encode(const replay::Recorded& recorded);

/// Longest encoded Recorded that is believed.
inline constexpr std::uint64_t kMostRecordedBytes = std::uint64_t{4} << 20;

/// @throws wire::MessageError when the bytes are not what encode() writes: what they refer to is
/// there, and everything has the length that it says
replay::Wanted decode_wanted(std::span<const std::byte> bytes);
replay::Recorded decode_recorded(std::span<const std::byte> bytes);

}  // namespace simgpu
