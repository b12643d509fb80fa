#include <algorithm>
#include <cstdint>
#include <utility>

#include "simgpu/exec/lanes.h"

/// Several small integers in a register: two of 16 bits, and conversions to a few of 2 to 16.
namespace simgpu {
namespace {

using Word = std::uint32_t;
constexpr Cost kInteger{.cls = InstructionClass::integer};

/// F of the 16-bit halves as Int.
template <class Int, Int (*F)(Int, Int)>
Word both_halves(Word a, Word b) {
  const auto half = [](Int x, Int y) { return Word{static_cast<std::uint16_t>(F(x, y))}; };
  return half(static_cast<Int>(a), static_cast<Int>(b)) |
         half(static_cast<Int>(a >> 16), static_cast<Int>(b >> 16)) << 16;
}

template <class Int>
Int sum(Int a, Int b) {
  return static_cast<Int>(a + b);
}
template <class Int, bool kRelu>
Int smaller(Int a, Int b) {
  return kRelu ? std::max(std::min(a, b), Int{0}) : std::min(a, b);
}
template <class Int, bool kRelu>
Int larger(Int a, Int b) {
  return kRelu ? std::max({a, b, Int{0}}) : std::max(a, b);
}

/// cvt.pack: a above b, both cut off at the ends of kBits, and above them the low bits of c.
template <unsigned kBits, bool kSigned>
Word packed(std::int32_t a, std::int32_t b, Word c) {
  constexpr std::int32_t kLeast = kSigned ? -(1 << (kBits - 1)) : 0;
  constexpr std::int32_t kMost = (1 << (kSigned ? kBits - 1 : kBits)) - 1;
  constexpr Word kMask = (1U << kBits) - 1;
  const auto part = [=](std::int32_t x) {
    return static_cast<Word>(std::clamp(x, kLeast, kMost)) & kMask;
  };
  const Word both = part(a) << kBits | part(b);
  if constexpr (kBits == 16) return both;
  return both | c << (2 * kBits % 32);
}
template <bool kSigned>
Word packed_halves(std::int32_t a, std::int32_t b) {
  return packed<16, kSigned>(a, b, 0);
}

constexpr Cost kConversion{.cls = InstructionClass::conversion};

void add_packs(std::vector<OpcodeRow>& rows) {
  rows.push_back({"cvt.pack.sat.u16.s32", lanes<&packed_halves<false>>(), kConversion});
  rows.push_back({"cvt.pack.sat.s16.s32", lanes<&packed_halves<true>>(), kConversion});
  rows.push_back({"cvt.pack.sat.u8.s32.b32", lanes<&packed<8, false>>(), kConversion});
  rows.push_back({"cvt.pack.sat.s8.s32.b32", lanes<&packed<8, true>>(), kConversion});
  rows.push_back({"cvt.pack.sat.u4.s32.b32", lanes<&packed<4, false>>(), kConversion});
  rows.push_back({"cvt.pack.sat.s4.s32.b32", lanes<&packed<4, true>>(), kConversion});
  rows.push_back({"cvt.pack.sat.u2.s32.b32", lanes<&packed<2, false>>(), kConversion});
  rows.push_back({"cvt.pack.sat.s2.s32.b32", lanes<&packed<2, true>>(), kConversion});
}

}  // namespace

OpcodeFile packed_integer_opcodes() {
  using S = std::int16_t;
  using U = std::uint16_t;
  std::vector<OpcodeRow> rows{
      {"add.{u16x2|s16x2}", lanes<&both_halves<U, &sum<U>>>(), kInteger},
      {"min.u16x2", lanes<&both_halves<U, &smaller<U, false>>>(), kInteger},
      {"max.u16x2", lanes<&both_halves<U, &larger<U, false>>>(), kInteger},
      {"min.s16x2", lanes<&both_halves<S, &smaller<S, false>>>(), kInteger},
      {"max.s16x2", lanes<&both_halves<S, &larger<S, false>>>(), kInteger},
      {"min.{s16x2.relu|relu.s16x2}", lanes<&both_halves<S, &smaller<S, true>>>(), kInteger},
      {"max.{s16x2.relu|relu.s16x2}", lanes<&both_halves<S, &larger<S, true>>>(), kInteger}};
  add_packs(rows);
  return {.rows = std::move(rows)};
}

}  // namespace simgpu
