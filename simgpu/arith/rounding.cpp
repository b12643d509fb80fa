#include "simgpu/arith/rounding.h"

#include <utility>

namespace simgpu::arith {
namespace {

int highest_bit(Uint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? 127 - std::countl_zero(high)
                   : 63 - std::countl_zero(static_cast<std::uint64_t>(x));
}

/// Shifts right, keeping in bit 0 whether anything was lost.
Uint128 shift_right_sticky(Uint128 x, int distance) {
  if (distance <= 0) return x;
  if (distance >= 128) return x != 0 ? 1 : 0;
  const Uint128 kept = x >> distance;
  return (kept << distance) == x ? kept : kept | 1;
}

/// Moves the leading one to bit 125, so that a sum has room above and sticky bits below.
Exact normalised(Exact x) {
  const int shift = 125 - highest_bit(x.significand);
  x.significand = shift >= 0 ? x.significand << shift : shift_right_sticky(x.significand, -shift);
  x.exponent -= shift;
  return x;
}

/// Operands have at most 106 significant bits: with the larger at bit 125, a shift by one or none,
/// the only case in which many leading bits cancel, loses nothing.
Exact add(Exact a, Exact b, Round mode) {
  if (a.significand == 0 && b.significand == 0) {
    const bool negative = a.negative == b.negative ? a.negative : mode == Round::down;
    return {negative, 0, 0};
  }
  if (a.significand == 0) return b;
  if (b.significand == 0) return a;
  a = normalised(a);
  b = normalised(b);
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand)) {
    std::swap(a, b);
  }
  b.significand = shift_right_sticky(b.significand, a.exponent - b.exponent);
  if (a.negative == b.negative) {
    a.significand += b.significand;
  } else {
    a.significand -= b.significand;
    if (a.significand == 0) a.negative = mode == Round::down;
  }
  return a;
}

bool rounds_up(Round mode, bool negative, bool odd, Uint128 discarded, Uint128 half) {
  switch (mode) {
    case Round::nearest_even:
      return discarded > half || (discarded == half && odd);
    case Round::nearest_away:
      return discarded >= half;
    case Round::zero:
      return false;
    case Round::down:
      return negative && discarded != 0;
    case Round::up:
      return !negative && discarded != 0;
  }
  return false;
}

bool overflows_to_infinity(Round mode, bool negative) {
  switch (mode) {
    case Round::nearest_even:
    case Round::nearest_away:
      return true;
    case Round::zero:
      return false;
    case Round::down:
      return negative;
    case Round::up:
      return !negative;
  }
  return true;
}

}  // namespace

template <class F>
typename F::Bits round_to(const Exact& value, Round mode) {
  using Bits = typename F::Bits;
  const Bits sign = value.negative ? F::kSign : Bits{0};
  if (value.significand == 0) return sign;
  const int leading = value.exponent + highest_bit(value.significand);
  const int exponent = leading > F::kMinExponent ? leading : F::kMinExponent;
  // The weight of the result's last place, in units of the significand's.
  int shift = exponent - (F::kPrecision - 1) - value.exponent;
  Uint128 kept = 0;
  if (shift <= 0) {
    kept = value.significand << -shift;
  } else {
    Uint128 significand = value.significand;
    if (shift > 126) {  // so far below the last place that only "not zero" matters
      significand = shift_right_sticky(significand, shift - 120);
      shift = 120;
    }
    kept = significand >> shift;
    const Uint128 discarded = significand - (kept << shift);
    const bool odd = (kept & 1) != 0;
    if (rounds_up(mode, value.negative, odd, discarded, Uint128{1} << (shift - 1))) ++kept;
  }
  const Uint128 hidden = Uint128{1} << (F::kPrecision - 1);
  // A carry out of the significand adds one to the exponent field, as it should.
  const Uint128 biased = std::bit_cast<std::uint32_t>(exponent + F::kBias);  // at least 1
  const Uint128 magnitude = kept < hidden ? kept : biased * hidden + (kept - hidden);
  if (magnitude >= F::kInfinity) {
    const bool infinite = overflows_to_infinity(mode, value.negative);
    return static_cast<Bits>(sign | (infinite ? F::kInfinity : F::kInfinity - 1));
  }
  return static_cast<Bits>(sign | static_cast<Bits>(magnitude));
}

template std::uint16_t round_to<Binary16>(const Exact&, Round);
template std::uint16_t round_to<BrainFloat16>(const Exact&, Round);
template std::uint32_t round_to<TensorFloat32>(const Exact&, Round);
template std::uint32_t round_to<Binary32>(const Exact&, Round);
template std::uint64_t round_to<Binary64>(const Exact&, Round);

Exact exact_value(double x) {
  const std::uint64_t bits = bits_of(x);
  const auto field = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & 0xfffffffffffffu;
  Exact value;
  value.negative = bits >> 63 != 0;
  value.exponent = (field == 0 ? 1 : field) - 1075;
  value.significand = field == 0 ? fraction : fraction | std::uint64_t{1} << 52;
  return value;
}

Exact exact_integer(bool negative, std::uint64_t magnitude) { return {negative, 0, magnitude}; }

Exact exact_sum(double a, double b, Round mode) {
  return add(exact_value(a), exact_value(b), mode);
}

Exact exact_product(double a, double b) {
  const Exact x = exact_value(a);
  const Exact y = exact_value(b);
  return {x.negative != y.negative, x.exponent + y.exponent, x.significand * y.significand};
}

Exact exact_fma(double a, double b, double c, Round mode) {
  return add(exact_product(a, b), exact_value(c), mode);
}

Exact exact_quotient(double a, double b) {
  Exact x = exact_value(a);
  Exact y = exact_value(b);
  if (x.significand == 0) return {x.negative != y.negative, 0, 0};
  // The dividend's leading one at bit 125 and at most 53 bits in the divisor: at least 73 quotient
  // bits.
  x = normalised(x);
  Exact quotient{x.negative != y.negative, x.exponent - y.exponent, x.significand / y.significand};
  if (x.significand % y.significand != 0) {
    quotient.significand = quotient.significand << 1 | 1;
    quotient.exponent -= 1;
  }
  return quotient;
}

Exact exact_square_root(double x) {
  Exact value = exact_value(x);
  if (value.significand == 0) return value;
  value = normalised(value);
  if (value.exponent % 2 != 0) {
    value.significand <<= 1;
    value.exponent -= 1;
  }
  // Bit by bit: the largest root whose square does not exceed the significand (63 bits).
  Uint128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Uint128 candidate = root | Uint128{1} << bit;
    if (candidate * candidate <= value.significand) root = candidate;
  }
  Exact result{false, value.exponent / 2, root};
  if (root * root != value.significand) {
    result.significand = root << 1 | 1;
    result.exponent -= 1;
  }
  return result;
}

}  // namespace simgpu::arith
