#include "simgpu/exec/opcode_tests/operands.h"

#include <random>

namespace simgpu::opcode_tests {
namespace {

using Values = std::vector<std::uint64_t>;

const Values& specials(const std::string& type) {
  static const Values f16 = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe01,
                             0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x7bff, 0xfbff, 0x3800,
                             0x3e00, 0x4100, 0x5bff, 0x6400, 0x6bff, 0x3c01, 0x7c01, 0x4400};
  static const Values bf16 = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0xffc1,
                              0x0001, 0x8001, 0x007f, 0x0080, 0x8080, 0x7f7f, 0xff7f, 0x3f00,
                              0x3fc0, 0x4020, 0x437f, 0x4f00, 0x5f00, 0x3f81, 0x7f81, 0x4080};
  static const Values f32 = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                             0x7fc00000, 0xffc12345, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
                             0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x3fc00000, 0x40200000,
                             0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x7f000001, 0x33800000,
                             0x477fefff, 0x3f801000};
  static const Values f64 = {
      0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
      0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000012345678,
      0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
      0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000, 0x3ff8000000000000,
      0x4004000000000000, 0x41dfffffffc00000, 0x41e0000000000000, 0x43e0000000000000,
      0x43f0000000000000, 0x47efffffefffffff, 0x36a0000000000000, 0x3ff0000000000001};
  static const Values integer = {
      0,          1,          2,          3,          4,          7,      8,
      15,         16,         24,         31,         32,         33,     63,
      64,         255,        0x7fff,     0x8000,     0xffff,     0x3210, 0x7fffff,
      0xffffff,   0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, ~0ull,  0x7fffffffffffffff,
      1ull << 63, ~1ull};
  static const Values predicate = {0, 1};
  if (type == "f16") return f16;
  if (type == "bf16") return bf16;
  if (type == "f32") return f32;
  if (type == "f64") return f64;
  if (type == "pred") return predicate;
  return integer;
}

/// Bit patterns of every magnitude, or (two in three) floats near 1 and integers of few bits.
std::uint64_t random_value(const std::string& type, std::mt19937_64& random) {
  const std::uint64_t bits = random();
  if (random() % 3 == 0) return bits;
  const std::uint64_t small = random() % 8;
  if (type == "f16") return (bits & 0x83ff) | (0x3400 + (small << 10));
  if (type == "bf16") return (bits & 0x807f) | (0x3e00 + (small << 7));
  if (type == "f32") return (bits & 0x807fffff) | (0x3e000000 + (small << 23));
  if (type == "f64") return (bits & 0x800fffffffffffff) | (0x3fc0000000000000 + (small << 52));
  return bits >> random() % 64;
}

std::uint64_t packed_pair(std::uint64_t low, std::uint64_t high) {
  return (low & 0xffff) | (high & 0xffff) << 16;
}

}  // namespace

std::vector<Lane> operands_for(const std::vector<std::string>& types, std::uint32_t lanes) {
  std::mt19937_64 random(7);
  std::vector<Lane> result(lanes);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    std::size_t index = lane;
    for (std::size_t k = 0; k < types.size(); ++k) {
      const bool two = types[k].ends_with("x2");
      const std::string type = two ? types[k].substr(0, types[k].size() - 2) : types[k];
      const Values& values = specials(type);
      const auto pick = [&](std::size_t i) {
        return lane < 3 * lanes / 4 ? values[i % values.size()] : random_value(type, random);
      };
      // The first two operands run through all pairs, further ones through a mixture.
      const std::size_t at = k < 2 ? index : lane * 11 + lane / 13 + k;
      result[lane][k] = two ? packed_pair(pick(at), pick(at + 5 + lane / 7)) : pick(at);
      index /= values.size();
    }
  }
  return result;
}

}  // namespace simgpu::opcode_tests
