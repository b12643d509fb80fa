#pragma once

#include <cstdint>

/// SplitMix64 (Steele, Lea and Flood, 2014): numbers without order from numbers in order.
namespace simgpu {

/// Its last step: every bit depends on every bit.
inline std::uint64_t mixed_bits(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

/// The `index`th of the sequence that begins with this seed.
inline std::uint64_t drawn_bits(std::uint64_t seed, std::uint64_t index) {
  constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  return mixed_bits(seed + (index + 1) * kGoldenRatio);
}

}  // namespace simgpu
