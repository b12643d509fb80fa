#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

/// Operands for tests: special values first, then random bit patterns of every magnitude.
/// Deterministic.
namespace simgpu::arith {

inline std::vector<float> float_operands(std::size_t random_count, std::uint32_t seed) {
  std::vector<float> values;
  for (const std::uint32_t bits :
       {0x00000000u, 0x80000000u, 0x3f800000u, 0xbf800000u, 0x7f800000u, 0xff800000u, 0x7fc00000u,
        0xffc00000u, 0x7f800001u, 0x00000001u, 0x80000001u, 0x007fffffu, 0x00800000u, 0x80800000u,
        0x7f7fffffu, 0xff7fffffu, 0x3f000000u, 0x3f7fffffu, 0x3f800001u, 0x40000000u, 0x4effffffu,
        0x4f000000u, 0xcf000000u, 0xcf000001u, 0x4f7fffffu, 0x4f800000u, 0x33800000u, 0x387fc000u,
        0x477fefffu, 0x477ff000u, 0x42fe0000u, 0x437f0000u, 0x7e800000u, 0x7e800001u, 0x7f000000u,
        0x3fc00000u, 0x40200000u, 0xbf000000u, 0xbfc00000u, 0x4b7fffffu, 0x5f000000u}) {
    values.push_back(std::bit_cast<float>(bits));
  }
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < random_count; ++i) {
    std::uint32_t bits = random();
    // Half of them near 1, where sums cancel and products neither vanish nor overflow.
    if (i % 2 == 0) bits = (bits & 0x807fffffu) | (0x3f800000u + ((bits >> 8 & 0xfu) << 23));
    values.push_back(std::bit_cast<float>(bits));
  }
  return values;
}

inline std::vector<double> double_operands(std::size_t random_count, std::uint32_t seed) {
  std::vector<double> values;
  for (const float x : float_operands(0, 0)) values.push_back(static_cast<double>(x));
  for (const std::uint64_t bits : std::initializer_list<std::uint64_t>{
           0x0000000000000001u, 0x000fffffffffffffu, 0x0010000000000000u, 0x7fefffffffffffffu,
           0xffefffffffffffffu, 0x3fefffffffffffffu, 0x3ff0000000000001u, 0x41dfffffffc00000u,
           0x43dfffffffffffffu, 0x43e0000000000000u, 0x43efffffffffffffu, 0x43f0000000000000u,
           0x47efffffe0000000u, 0x47efffffefffffffu, 0x47effffff0000000u, 0x36a0000000000000u,
           0x3690000000000000u, 0x3690000000000001u, 0x380fffffffffffffu}) {
    values.push_back(std::bit_cast<double>(bits));
  }
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < random_count; ++i) {
    std::uint64_t bits = random();
    if (i % 2 == 0) {
      bits = (bits & 0x800fffffffffffffu) | (0x3ff0000000000000u + ((bits >> 40 & 0x1fu) << 52));
    }
    values.push_back(std::bit_cast<double>(bits));
  }
  return values;
}

}  // namespace simgpu::arith
