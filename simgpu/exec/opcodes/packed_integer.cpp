#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "simgpu/exec/lanes.h"

/// Several small integers in a register: two of 16 bits, and the absolute differences among PTX's
/// video instructions.
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

/// Small integers of kBits, A's signed or not, of a and B's of b: their absolute differences, or
/// the sum of them and c.
template <unsigned kBits, bool kSignedA, bool kSignedB, bool kAdds>
Word absolute_differences(Word a, Word b, Word c) {
  constexpr unsigned kUnused = 32 - kBits;
  const auto part = [](Word x, unsigned at, bool is_signed) {
    const Word top = x << (kUnused - at);
    return is_signed ? std::int64_t{static_cast<std::int32_t>(top) >> kUnused}
                     : std::int64_t{top >> kUnused};
  };
  Word result = kAdds ? c : 0;
  for (unsigned at = 0; at < 32; at += kBits) {
    const auto difference =
        static_cast<Word>(std::llabs(part(a, at, kSignedA) - part(b, at, kSignedB)));
    result += kAdds ? difference : (difference & ((1U << kBits) - 1)) << at;
  }
  return result;
}

template <unsigned kBits, bool kSignedA, bool kSignedB>
void add_differences(std::vector<OpcodeRow>& rows) {
  const std::string types = std::string(kSignedA ? ".s32" : ".u32") + (kSignedB ? ".s32" : ".u32");
  const std::string name = "vabsdiff" + std::to_string(32 / kBits) + ".{u32|s32}" + types;
  rows.push_back(
      {name, lanes<&absolute_differences<kBits, kSignedA, kSignedB, false>>(), kInteger});
  rows.push_back(
      {name + ".add", lanes<&absolute_differences<kBits, kSignedA, kSignedB, true>>(), kInteger});
}

}  // namespace

std::vector<OpcodeRow> packed_integer_rows() {
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
  add_differences<8, false, false>(rows);
  add_differences<8, true, true>(rows);
  add_differences<8, true, false>(rows);
  add_differences<8, false, true>(rows);
  add_differences<16, false, false>(rows);
  add_differences<16, true, true>(rows);
  add_differences<16, true, false>(rows);
  add_differences<16, false, true>(rows);
  return rows;
}

}  // namespace simgpu
