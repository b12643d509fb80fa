#pragma once

#include <cstring>
#include <vector>

#include "topic.h"

/// Inputs of the items that compute one value of up to three. A kind is a letter:
/// f f32, d f64, h f16, b bf16, H and B pairs of those, i 32-bit integer, l 64-bit, w 16-bit,
/// s amount of a shift or a position, p selector of a byte permutation.
namespace fidelity {

inline int bits_of(char kind) {
  if (kind == 'd' || kind == 'l') return 64;
  return kind == 'h' || kind == 'b' || kind == 'w' ? 16 : 32;
}

inline u64 bits(float x) {
  u32 word;
  std::memcpy(&word, &x, sizeof word);
  return word;
}
inline u64 bits(double x) {
  u64 word;
  std::memcpy(&word, &x, sizeof word);
  return word;
}

/// The most telling first, for pairs and triples take only the first few.
inline std::vector<u64> specials(char kind) {
  switch (kind) {
    case 'f':
      return {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0x00000001,
              0x807fffff, 0x7f7fffff, 0xff8abcde, 0x7f812345, 0xffc54321, 0x00800000, 0xbf800000,
              0x80000001, 0x007fffff, 0xff7fffff, 0x80800000, 0x00800001, 0x00400000, 0x3f000000,
              0x40000000, 0x40400000, 0x3f7fffff, 0x3f800001, 0x7fffffff, 0xffffffff, 0x40490fdb,
              0x3fc90fdb, 0x4b000000, 0x4b7fffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000,
              0xdf000000, 0x5f800000, 0x42fe0000, 0x43000000, 0xc2fc0000, 0xc3150000, 0x7e800000,
              0x7e800001, 0x7f000000, 0x00200000, 0x47c35000, 0x477fe000, 0x477ff000, 0x33000000,
              0x33000001, 0x38800000, 0x387fc000, 0x43e00000, 0x43e80000, 0x3f808000, 0x3f818000,
              0x3f801000, 0x3f803000, 0x3f000001, 0x3fc00000, 0x40200000, 0xbf000000, 0xbfc00000};
    case 'd':
      return {0x0000000000000000, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000,
              0x7ff8000000000000, 0x3ff0000000000000, 0x0000000000000001, 0x800fffffffffffff,
              0x7fefffffffffffff, 0xfff0123456789abc, 0x7ff0000012345678, 0xfff8765432100000,
              0x0010000000000000, 0xbff0000000000000, 0x36a0000000000000, 0x369fffffffffffff,
              0x3690000000000000, 0x3690000000000001, 0x47efffffe0000000, 0x47effffff0000000,
              0x47efffffefffffff, 0x3810000000000000, 0x380fffffffffffff, 0xb7f0000000000000,
              0x3fe0000000000000, 0x3ff8000000000000, 0x4004000000000000, 0x3ff0000010000000,
              0x3ff0000030000000, 0x3ff0000010000001, 0x41e0000000000000, 0x41dfffffffe00000,
              0xc1e0000000000000, 0xc1e0000000200000, 0x43e0000000000000, 0xc3e0000000000000,
              0x43f0000000000000, 0x400921fb54442d18, 0x40862e42fefa39ef, 0xc0874910d52d3052,
              0x7ff8000000000001, 0xffffffffffffffff, 0x433fffffffffffff, 0x3fefffffffffffff};
    case 'h':
      return {0x0000, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0x3c00, 0x0001, 0x83ff, 0x7bff, 0xfc55,
              0x7d23, 0xfe45, 0x0400, 0xbc00, 0x8001, 0xfbff, 0x7fff, 0xffff, 0x3bff, 0x3c01,
              0x4000, 0x3800, 0x4248, 0x3e00, 0x7800, 0x6400, 0x0200, 0x4c00};
    case 'b':
      return {0x0000, 0x8000, 0x7f80, 0xff80, 0x7fc0, 0x3f80, 0x0001, 0x807f, 0x7f7f, 0xff85,
              0x7f93, 0xffc5, 0x0080, 0xbf80, 0x8001, 0xff7f, 0x7fff, 0xffff, 0x3f7f, 0x3f81,
              0x4000, 0x3f00, 0x4049, 0x3fc0, 0x7f00, 0x4300, 0x0040, 0x42fe};
    case 'w':
      return {0, 1, 0xffff, 0x8000, 0x7fff, 2, 0x00ff, 0x1234};
    case 'i':
      return {0,          1,          0xffffffff, 0x80000000, 0x7fffffff, 31,         32,
              0x12345678, 0xfedcba98, 0x0000ffff, 0xffff0000, 0x7f80ff01, 0x80808080, 2,
              0xff,       0x00ff00ff, 0x01000001, 0x00ffffff, 7,          0xfffffff9};
    case 'l':
      return {0,
              1,
              ~u64{0},
              u64{1} << 63,
              ~(u64{1} << 63),
              63,
              0x123456789abcdef0,
              0xffffffff,
              u64{1} << 32,
              0xffffffff00000000,
              0x00ffffffffffffff,
              0x8000008000000000,
              7,
              64,
              u64{1} << 53,
              (u64{1} << 53) + 1,
              (u64{1} << 24) + 1,
              0x7fffffbfffffffff};
    case 's':
      return {0, 1, 31, 32, 33, 7, 64, 255, 0xffffffff, 0x80000000, 16, 24, 256, 0x120, 0x1f08};
    case 'p':
      return {0x3210, 0x7654, 0x0123, 0x89ab, 0xfedc, 0xf0f8, 0x5140, 0, 1, 2, 3, 0xffff7777};
    default:
      break;
  }
  std::vector<u64> pairs;
  const std::vector<u64> single = specials(kind == 'H' ? 'h' : 'b');
  for (std::size_t i = 0; i < single.size(); ++i) {
    pairs.push_back(single[i] | single[(i * 5 + 3) % single.size()] << 16);
  }
  return pairs;
}

/// Any significand; floating-point exponents in the middle of the range half the time.
inline u64 random_value(char kind, Random& random) {
  const u64 any = random.next();
  const bool middle = random.below(2) == 0;
  switch (kind) {
    case 'f':
      return middle ? (any & 0x807fffff) | u64{117 + random.below(20)} << 23
                    : (any & 0x807fffff) | u64{random.below(255)} << 23;
    case 'd':
      return middle ? (any & 0x800fffffffffffff) | u64{1003 + random.below(40)} << 52
                    : (any & 0x800fffffffffffff) | u64{random.below(2047)} << 52;
    case 'h':
      return (any & 0x83ff) | u64{middle ? 11 + random.below(8) : random.below(31)} << 10;
    case 'b':
      return (any & 0x807f) | u64{middle ? 119 + random.below(16) : random.below(255)} << 7;
    case 'H':
      return random_value('h', random) | random_value('h', random) << 16;
    case 'B':
      return random_value('b', random) | random_value('b', random) << 16;
    case 'w':
      return any & 0xffff;
    case 's':
      return middle ? any & 31 : any & 0xff;
    case 'p':
      return any & 0xffff;
    case 'i':
      return any & 0xffffffff;
    default:
      return any;
  }
}

}  // namespace fidelity
