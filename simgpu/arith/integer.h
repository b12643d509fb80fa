#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "simgpu/arith/rounding.h"

/// Integer and bit instructions. Wrap-around is computed in unsigned types: no operand is
/// undefined.
namespace simgpu::arith {

template <class Int>
using UnsignedOf = std::make_unsigned_t<Int>;

/// The type of twice the width: mul.wide's result.
template <class Int>
using WideOf = std::conditional_t<
    sizeof(Int) == 2, std::conditional_t<std::is_signed_v<Int>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(Int) == 4,
                       std::conditional_t<std::is_signed_v<Int>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<Int>, Int128, Uint128>>>;

template <class Int>
inline Int add(Int a, Int b) {
  return static_cast<Int>(static_cast<UnsignedOf<Int>>(a) + static_cast<UnsignedOf<Int>>(b));
}
template <class Int>
inline Int sub(Int a, Int b) {
  return static_cast<Int>(static_cast<UnsignedOf<Int>>(a) - static_cast<UnsignedOf<Int>>(b));
}
template <class Int>
inline Int neg(Int a) {
  return sub(Int{0}, a);
}

inline std::int32_t clamp_s32(std::int64_t x) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp(x, kLow, kHigh));
}
/// add.sat.s32 and sub.sat.s32.
inline std::int32_t add_sat_s32(std::int32_t a, std::int32_t b) {
  return clamp_s32(std::int64_t{a} + b);
}
inline std::int32_t sub_sat_s32(std::int32_t a, std::int32_t b) {
  return clamp_s32(std::int64_t{a} - b);
}

/// A result with the carry (borrow) flag CC.CF it leaves.
template <class Unsigned>
struct WithCarry {
  Unsigned value = 0;
  bool carry = false;
};

/// add.cc (carry in false) and addc{.cc}.
template <class Unsigned>
inline WithCarry<Unsigned> add_carry(Unsigned a, Unsigned b, bool carry_in) {
  const auto partial = static_cast<Unsigned>(a + b);
  const auto sum = static_cast<Unsigned>(partial + static_cast<Unsigned>(carry_in));
  return {sum, partial < a || sum < partial};
}

/// sub.cc (borrow in false) and subc{.cc}; `carry` is the borrow.
template <class Unsigned>
inline WithCarry<Unsigned> sub_borrow(Unsigned a, Unsigned b, bool borrow_in) {
  const auto partial = static_cast<Unsigned>(a - b);
  const auto difference = static_cast<Unsigned>(partial - static_cast<Unsigned>(borrow_in));
  return {difference, a < b || partial < static_cast<Unsigned>(borrow_in)};
}

template <class Int>
inline WideOf<Int> mul_wide(Int a, Int b) {
  using Wide = WideOf<Int>;
  return static_cast<Wide>(a) * static_cast<Wide>(b);
}
/// Unsigned, and at least 32 bits wide: unsigned short would be promoted to int and could overflow.
template <class Int>
inline Int mul_lo(Int a, Int b) {
  using Factor = std::conditional_t<sizeof(Int) == 8, std::uint64_t, std::uint32_t>;
  return static_cast<Int>(static_cast<Factor>(a) * static_cast<Factor>(b));
}
template <class Int>
inline Int mul_hi(Int a, Int b) {
  return static_cast<Int>(mul_wide(a, b) >> (8 * sizeof(Int)));
}
template <class Int>
inline Int mad_lo(Int a, Int b, Int c) {
  return add(mul_lo(a, b), c);
}
template <class Int>
inline Int mad_hi(Int a, Int b, Int c) {
  return add(mul_hi(a, b), c);
}
template <class Int>
inline WideOf<Int> mad_wide(Int a, Int b, WideOf<Int> c) {
  using Bits = UnsignedOf<WideOf<Int>>;
  return static_cast<WideOf<Int>>(static_cast<Bits>(mul_wide(a, b)) + static_cast<Bits>(c));
}
/// mad.hi.sat.s32.
inline std::int32_t mad_hi_sat_s32(std::int32_t a, std::int32_t b, std::int32_t c) {
  return clamp_s32(std::int64_t{mul_hi(a, b)} + c);
}

/// The low 24 bits, sign-extended for s32.
inline std::int64_t low24(std::int32_t x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << 8) >> 8;
}
inline std::int64_t low24(std::uint32_t x) { return x & 0xffffffu; }
/// mul24.lo: bits 0-31 of the 48-bit product; mul24.hi: bits 16-47.
template <class Int>
inline Int mul24_lo(Int a, Int b) {
  return static_cast<Int>(low24(a) * low24(b));
}
template <class Int>
inline Int mul24_hi(Int a, Int b) {
  return static_cast<Int>((low24(a) * low24(b)) >> 16);
}
template <class Int>
inline Int mad24_lo(Int a, Int b, Int c) {
  return add(mul24_lo(a, b), c);
}
template <class Int>
inline Int mad24_hi(Int a, Int b, Int c) {
  return add(mul24_hi(a, b), c);
}
inline std::int32_t mad24_hi_sat_s32(std::int32_t a, std::int32_t b, std::int32_t c) {
  return clamp_s32(std::int64_t{mul24_hi(a, b)} + c);
}

/// div and rem by zero are unspecified in PTX. GPUs give all ones, as the quotient and as the
/// remainder, for signed operands too. MIN / -1 wraps to MIN, remainder 0.
template <class Int>
inline Int div(Int a, Int b) {
  if (b == 0) return static_cast<Int>(~Int{0});
  if constexpr (std::is_signed_v<Int>) {
    if (b == -1) return neg(a);
  }
  return static_cast<Int>(a / b);
}
template <class Int>
inline Int rem(Int a, Int b) {
  if (b == 0) return static_cast<Int>(~Int{0});
  if constexpr (std::is_signed_v<Int>) {
    if (b == -1) return 0;
  }
  return static_cast<Int>(a % b);
}

template <class Int>
inline Int abs(Int a) {
  return a < 0 ? neg(a) : a;
}
template <class Int>
inline Int min(Int a, Int b) {
  return a < b ? a : b;
}
template <class Int>
inline Int max(Int a, Int b) {
  return a > b ? a : b;
}
/// min.relu / max.relu (s32, s16x2): never below zero.
template <class Int>
inline Int relu(Int a) {
  return a < 0 ? Int{0} : a;
}
/// sad: c + |a - b|.
template <class Int>
inline Int sad(Int a, Int b, Int c) {
  return add(c, a < b ? sub(b, a) : sub(a, b));
}

// NOLINTBEGIN(bugprone-signed-char-misuse): bytes are numbers here

/// dp4a: four products of bytes added to c; A and B are std::int8_t or std::uint8_t.
template <class A, class B>
inline std::uint32_t dp4a(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (int i = 0; i < 32; i += 8) {
    const int x = static_cast<A>(a >> i);
    const int y = static_cast<B>(b >> i);
    c += static_cast<std::uint32_t>(x * y);
  }
  return c;
}
/// dp2a.lo (.hi): two 16-bit halves of a times the lower (upper) two bytes of b, added to c.
template <class A, class B>
inline std::uint32_t dp2a(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool high) {
  const std::uint32_t bytes = high ? b >> 16 : b;
  for (int i = 0; i < 2; ++i) {
    const int x = static_cast<A>(a >> (16 * i));
    const int y = static_cast<B>(bytes >> (8 * i));
    c += static_cast<std::uint32_t>(x * y);
  }
  return c;
}

// NOLINTEND(bugprone-signed-char-misuse)

/// Shifts by the width or more give 0, or the sign everywhere.
template <class Int>
inline Int shl(Int a, std::uint32_t amount) {
  constexpr std::uint32_t kBits = 8 * sizeof(Int);
  const auto bits = static_cast<UnsignedOf<Int>>(a);
  return amount >= kBits ? Int{0} : static_cast<Int>(static_cast<std::uint64_t>(bits) << amount);
}
template <class Int>
inline Int shr(Int a, std::uint32_t amount) {
  constexpr std::uint32_t kBits = 8 * sizeof(Int);
  const std::uint32_t clamped = amount < kBits ? amount : kBits - 1;
  const auto shifted = static_cast<Int>(a >> clamped);
  if constexpr (std::is_unsigned_v<Int>) return amount < kBits ? shifted : Int{0};
  return shifted;
}

/// shf: the funnel b:a (b is the upper word) shifted; .wrap takes the amount modulo 32, .clamp at
/// most 32.
inline std::uint32_t funnel_amount(std::uint32_t amount, bool wrap) {
  return wrap ? amount & 31u : std::min(amount, 32u);
}
inline std::uint32_t shf_left(std::uint32_t a, std::uint32_t b, std::uint32_t amount, bool wrap) {
  const std::uint64_t funnel = static_cast<std::uint64_t>(b) << 32 | a;
  return static_cast<std::uint32_t>(funnel << funnel_amount(amount, wrap) >> 32);
}
inline std::uint32_t shf_right(std::uint32_t a, std::uint32_t b, std::uint32_t amount, bool wrap) {
  const std::uint64_t funnel = static_cast<std::uint64_t>(b) << 32 | a;
  return static_cast<std::uint32_t>(funnel >> funnel_amount(amount, wrap));
}

/// bfe: `length` bits from `position`, both taken modulo 256; beyond the top the sign bit of the
/// field (signed) or zero fills.
template <class Int>
inline Int bfe(Int a, std::uint32_t position, std::uint32_t length) {
  constexpr int kTop = 8 * sizeof(Int) - 1;
  const int pos = static_cast<int>(position & 0xffu);
  const int len = static_cast<int>(length & 0xffu);
  if (len == 0) return 0;
  const auto bits = static_cast<UnsignedOf<Int>>(a);
  const UnsignedOf<Int> field = pos > kTop ? 0 : bits >> pos;
  const bool filled = std::is_signed_v<Int> && (bits >> std::min(pos + len - 1, kTop) & 1u) != 0;
  // Bits of the field that come from `a`; the rest is fill.
  const int taken = pos > kTop ? 0 : std::min(len, kTop - pos + 1);
  const UnsignedOf<Int> mask =
      taken > kTop ? ~UnsignedOf<Int>{0}
                   : static_cast<UnsignedOf<Int>>((UnsignedOf<Int>{1} << taken) - 1);
  return static_cast<Int>((field & mask) | (filled ? static_cast<UnsignedOf<Int>>(~mask) : 0));
}

/// bfi d, a, b, position, length: `a`'s low bits over `b`, from position.
template <class Unsigned>
inline Unsigned bfi(Unsigned a, Unsigned b, std::uint32_t position, std::uint32_t length) {
  constexpr std::uint32_t kBits = 8 * sizeof(Unsigned);
  const std::uint32_t pos = position & 0xffu;
  const std::uint32_t len = length & 0xffu;
  if (pos >= kBits) return b;
  const Unsigned ones = len >= kBits ? ~Unsigned{0} : (Unsigned{1} << len) - 1;
  const Unsigned mask = ones << pos;
  return (b & ~mask) | (a << pos & mask);
}

/// bfind: position of the most significant bit that is not a sign copy, or all ones if there is
/// none. .shiftamt: the shift left that would bring it to the top.
template <class Int>
inline std::uint32_t bfind(Int a, bool shift_amount) {
  using Bits = UnsignedOf<Int>;
  const auto bits = static_cast<Bits>(a < 0 ? ~a : a);
  if (bits == 0) return 0xffffffffu;
  const auto leading = static_cast<std::uint32_t>(std::countl_zero(bits));
  return shift_amount ? leading : 8 * sizeof(Int) - 1 - leading;
}

inline std::uint32_t brev(std::uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
inline std::uint64_t brev(std::uint64_t x) {
  return static_cast<std::uint64_t>(brev(static_cast<std::uint32_t>(x))) << 32 |
         brev(static_cast<std::uint32_t>(x >> 32));
}
template <class Unsigned>
inline std::uint32_t clz(Unsigned a) {
  return static_cast<std::uint32_t>(std::countl_zero(a));
}
template <class Unsigned>
inline std::uint32_t popc(Unsigned a) {
  return static_cast<std::uint32_t>(std::popcount(a));
}

/// prmt: how the four selectors come about.
enum class PermuteMode : std::uint8_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };
std::uint32_t prmt(std::uint32_t a, std::uint32_t b, std::uint32_t control, PermuteMode mode);

/// The common mode: four 4-bit selectors, bit 3 of each replicating the byte's sign.
inline std::uint32_t prmt_index(std::uint32_t a, std::uint32_t b, std::uint32_t control) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(b) << 32 | a;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t selector = control >> (4 * i) & 0xfu;
    auto byte = static_cast<std::uint32_t>(bytes >> (8 * (selector & 7u)) & 0xffu);
    if ((selector & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0u;
    result |= byte << (8 * i);
  }
  return result;
}

/// lop3: the truth table's bit a*4 + b*2 + c, for every bit position.
inline std::uint32_t lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t result = 0;
  for (std::uint32_t row = 0; row < 8; ++row) {
    const std::uint32_t selected = (row & 4u ? a : ~a) & (row & 2u ? b : ~b) & (row & 1u ? c : ~c);
    result |= table >> row & 1u ? selected : 0u;
  }
  return result;
}

/// bmsk: `length` ones from bit `position`; .wrap takes both modulo 32, .clamp limits them to 32.
inline std::uint32_t bmsk(std::uint32_t position, std::uint32_t length, bool wrap) {
  const std::uint32_t pos = funnel_amount(position, wrap);
  const std::uint32_t len = funnel_amount(length, wrap);
  const std::uint64_t ones = (std::uint64_t{1} << len) - 1;
  return static_cast<std::uint32_t>(ones << pos);
}

/// fns: position of the n-th set bit of mask from `base`, upwards for n > 0, downwards for n < 0;
/// the set bit at base itself counts as the first. n = 0 asks for base. All ones where there is
/// none.
std::uint32_t fns(std::uint32_t mask, std::uint32_t base, std::int32_t n);

/// szext: the low `length` bits, sign- or zero-extended; .wrap takes length modulo 32, .clamp at
/// most 32.
template <class Int>
inline Int szext(Int a, std::uint32_t length, bool wrap) {
  const std::uint32_t len = funnel_amount(length, wrap);
  if (len == 0) return 0;
  const std::uint32_t shift = 32 - len;
  return static_cast<Int>(static_cast<Int>(static_cast<std::uint32_t>(a) << shift) >> shift);
}

}  // namespace simgpu::arith
