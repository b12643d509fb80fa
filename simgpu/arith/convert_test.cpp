#include "simgpu/arith/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "simgpu/arith/test_values.h"

namespace simgpu::arith {
namespace {

/// Rounds |x| < 2^120 to an integer by its fields, in 128 bits: nothing of the host's rounding is
/// used.
Int128 integral_of(double x, Round mode) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);
  auto significand = static_cast<Uint128>(std::ldexp(fraction, 53));
  const int shift = 53 - exponent;
  const bool negative = std::signbit(x);
  if (shift <= 0) {
    const auto magnitude = static_cast<Int128>(significand << -shift);
    return negative ? -magnitude : magnitude;
  }
  if (shift > 100) {
    significand = significand != 0 ? 1 : 0;  // far below one half
  }
  const int distance = std::min(shift, 100);
  Uint128 whole = significand >> distance;
  const Uint128 rest = significand - (whole << distance);
  const Uint128 half = Uint128{1} << (distance - 1);
  const bool up = mode == Round::nearest_even ? rest > half || (rest == half && (whole & 1) != 0)
                  : mode == Round::down       ? negative && rest != 0
                  : mode == Round::up         ? !negative && rest != 0
                                              : false;
  if (up) ++whole;
  return negative ? -static_cast<Int128>(whole) : static_cast<Int128>(whole);
}

template <class Int>
Int clamped(Int128 x) {
  // NOLINTBEGIN(bugprone-signed-char-misuse): bytes are numbers here
  const Int128 low = std::numeric_limits<Int>::min();
  const Int128 high = std::numeric_limits<Int>::max();
  // NOLINTEND(bugprone-signed-char-misuse)
  return static_cast<Int>(x < low ? low : x > high ? high : x);
}

template <class Int, class Float, Round kRound>
void check_to_integer(const std::vector<Float>& values) {
  for (const Float x : values) {
    const Int actual = float_to_integer<Int, kRound>(x);
    if (std::isnan(x)) {
      const bool top_bit = sizeof(Float) == 8 || sizeof(Int) == 8;
      const auto expected = static_cast<Int>(top_bit ? 1ull << (8 * sizeof(Int) - 1) : 0ull);
      ASSERT_EQ(actual, expected);
    } else if (std::fabs(x) > 1e30) {
      ASSERT_EQ(actual, x > 0 ? std::numeric_limits<Int>::max() : std::numeric_limits<Int>::min());
    } else {
      ASSERT_EQ(actual, clamped<Int>(integral_of(static_cast<double>(x), kRound))) << x;
    }
  }
}

template <class Int>
class ToInteger : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(ToInteger, Integers);

template <class Int, class Float>
void check_every_mode(const std::vector<Float>& values) {
  check_to_integer<Int, Float, Round::nearest_even>(values);
  check_to_integer<Int, Float, Round::zero>(values);
  check_to_integer<Int, Float, Round::down>(values);
  check_to_integer<Int, Float, Round::up>(values);
}

TYPED_TEST(ToInteger, RoundsAndClampsF32) {
  auto values = float_operands(20000, 41);
  for (int i = -1200; i <= 1200; ++i) values.push_back(static_cast<float>(i) / 4);
  for (const int bits : {7, 8, 15, 16, 31, 32, 63, 64}) {
    const float power = std::ldexp(1.0f, bits);
    for (const float x : {power, std::nextafter(power, 0.0f), std::nextafter(power, 1e30f)}) {
      values.push_back(x);
      values.push_back(-x);
    }
  }
  check_every_mode<TypeParam>(values);
}

TYPED_TEST(ToInteger, RoundsAndClampsF64) {
  auto values = double_operands(20000, 42);
  for (const int bits : {7, 8, 15, 16, 31, 32, 63, 64}) {
    const double power = std::ldexp(1.0, bits);
    for (const double offset : {-1.5, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0}) {
      values.push_back(power + offset);
      values.push_back(-power + offset);
    }
  }
  check_every_mode<TypeParam>(values);
}

TEST(Convert, FlushesSubnormalsBeforeRoundingToIntegers) {
  EXPECT_EQ((float_to_integer<std::int32_t, Round::up, true>(0x1p-140f)), 0);
  EXPECT_EQ((float_to_integer<std::int32_t, Round::up, false>(0x1p-140f)), 1);
  EXPECT_EQ(bits_of(integral_f32<Round::up, true>(-0x1p-140f)), 0x80000000u);
  EXPECT_EQ(integral_f32<Round::up>(0x1p-140f), 1.0f);
}

TEST(Convert, ClampsIntegersToTheNarrowerRange) {
  EXPECT_EQ((saturate_integer<std::int8_t>(300)), 127);
  EXPECT_EQ((saturate_integer<std::int8_t>(-300)), -128);
  EXPECT_EQ((saturate_integer<std::uint8_t>(-1)), 0);
  EXPECT_EQ((saturate_integer<std::uint32_t>(std::int64_t{-5})), 0u);
  EXPECT_EQ((saturate_integer<std::int32_t>(~std::uint64_t{0})), 0x7fffffff);
  EXPECT_EQ((saturate_integer<std::int64_t>(~std::uint64_t{0})), 0x7fffffffffffffff);
  EXPECT_EQ((saturate_integer<std::uint16_t>(std::int8_t{5})), 5);
}

/// |result - x| decides in exact 128-bit integers whether the float is the right neighbour.
template <class Float, Round kRound, class Int>
void check_from_integer(Int x) {
  const Float r = integer_to_float<Float, kRound>(x);
  const auto exact = static_cast<Int128>(x);
  const auto as_integer = [](Float y) { return integral_of(static_cast<double>(y), Round::zero); };
  const Float above = std::nextafter(r, std::numeric_limits<Float>::infinity());
  const Float below = std::nextafter(r, -std::numeric_limits<Float>::infinity());
  const auto where = [&] { return testing::Message() << +x << " became " << r; };
  if (as_integer(r) == exact) return;
  const Int128 error = exact - as_integer(r);
  const Int128 size = error < 0 ? -error : error;
  if (kRound == Round::nearest_even) {
    const Int128 up = as_integer(above) - exact;
    const Int128 down = exact - as_integer(below);
    ASSERT_TRUE(size <= up && size <= down) << where();
    if (size == up || size == down) {
      ASSERT_EQ(bits_of(r) & 1, 0u) << where();
    }
  } else if (kRound == Round::down || (kRound == Round::zero && x > 0)) {
    ASSERT_TRUE(error > 0 && as_integer(above) > exact) << where();
  } else {
    ASSERT_TRUE(error < 0 && as_integer(below) < exact) << where();
  }
}

template <class Int>
void check_from_integers() {
  std::mt19937_64 random(43);
  for (int i = 0; i < 60000; ++i) {
    const std::uint64_t bits = random() >> (random() % 64);
    // Every other one straddles a tie of f32 or f64.
    const std::uint64_t tie = bits & ~0x1ffull;
    const auto x = static_cast<Int>(i % 4 == 0 ? tie : i % 4 == 1 ? tie + 0x80 : bits);
    check_from_integer<float, Round::nearest_even>(x);
    check_from_integer<float, Round::zero>(x);
    check_from_integer<float, Round::down>(x);
    check_from_integer<float, Round::up>(x);
    check_from_integer<double, Round::nearest_even>(x);
    check_from_integer<double, Round::zero>(x);
    check_from_integer<double, Round::down>(x);
    check_from_integer<double, Round::up>(x);
  }
}

TEST(Convert, RoundsSignedIntegersToFloats) { check_from_integers<std::int64_t>(); }
TEST(Convert, RoundsUnsignedIntegersToFloats) { check_from_integers<std::uint64_t>(); }
TEST(Convert, RoundsNarrowIntegersToFloats) {
  check_from_integers<std::int32_t>();
  check_from_integers<std::uint32_t>();
}

TEST(Convert, KeepsTheEndsOfIntegerRanges) {
  EXPECT_EQ((integer_to_float<float, Round::zero>(std::numeric_limits<std::int64_t>::min())),
            -0x1p63f);
  EXPECT_EQ((integer_to_float<float, Round::zero>(~std::uint64_t{0})), 0x1.fffffep63f);
  EXPECT_EQ((integer_to_float<float, Round::nearest_even>(~std::uint64_t{0})), 0x1p64f);
  EXPECT_EQ((integer_to_float<float, Round::zero>(std::int32_t{0})), 0.0f);
  EXPECT_EQ((integer_to_f16<Round::nearest_even>(65519)), 0x7bff);
  EXPECT_EQ((integer_to_f16<Round::nearest_even>(65520)), 0x7c00);
  EXPECT_EQ((integer_to_f16<Round::zero>(std::int64_t{-1000000})), 0xfbff);
  EXPECT_EQ((integer_to_f16<Round::nearest_even>(std::int32_t{2049})), 0x6800);
  EXPECT_EQ((integer_to_bf16<Round::up>(std::uint32_t{257})), 0x4381);
}

/// Narrowing f64 to f32 against the host's, in the mode's neighbours.
TEST(Convert, NarrowsF64InEveryMode) {
  for (const double x : double_operands(50000, 44)) {
    if (std::isnan(x)) {
      const std::uint64_t bits = bits_of(x);
      ASSERT_EQ(bits_of(f64_to_f32<Round::down>(x)),
                (bits >> 63 << 31) | 0x7fc00000u | (bits >> 29 & 0x3fffffu));
      continue;
    }
    const float down = f64_to_f32<Round::down>(x);
    const float up = f64_to_f32<Round::up>(x);
    ASSERT_LE(double{down}, x);
    ASSERT_GE(double{up}, x);
    if (double{down} == x || double{up} == x) {
      ASSERT_EQ(down, up) << x;
    } else {
      ASSERT_EQ(std::nextafter(down, up), up) << x;
    }
    ASSERT_EQ(f64_to_f32<Round::zero>(x), x > 0 ? down : up);
    ASSERT_EQ(bits_of(f64_to_f32<Round::nearest_even>(x)), bits_of(static_cast<float>(x)));
  }
}

TEST(Convert, KeepsNansFromAndToF64) {
  EXPECT_EQ(bits_of(f64_to_f32<Round::nearest_even>(double_of(0xfff0123456789abcu))), 0xffc091a2u);
  EXPECT_EQ((narrow_to_half<F16, Round::zero>(double_of(0xfff8765432100000u))), 0xfe1d);
  EXPECT_EQ((narrow_to_half<Bf16, Round::nearest_even>(double_of(0xfff8765432100000u))), 0xffc3);
  EXPECT_EQ((narrow_to_half<F16, Round::zero>(float_of(0xffc12345u))), 0x7fff) << "f32's is one";
  EXPECT_EQ(bits_of(f32_to_f64(widen_half_keeping_nan<F16>(0xfc55))), 0xfff9540000000000u);
  EXPECT_EQ(bits_of(f32_to_f64(float_of(0xff8abcdeu))), 0xfff9579bc0000000u);
  EXPECT_EQ(bits_of(f32_to_f64<true>(float_of(0xff8abcdeu))), 0x7fffffffe0000000u);
}

TEST(Convert, ClampsAndFlushesFloats) {
  EXPECT_EQ((f64_to_f32<Round::nearest_even, true>(-0x1p-140)), 0.0f);
  EXPECT_EQ((f64_to_f32<Round::nearest_even, false, true>(2.5)), 1.0f);
  EXPECT_EQ((f32_to_f64<true>(0x1p-140f)), 0.0);
  EXPECT_EQ((f32_to_f64<false>(0x1p-140f)), 0x1p-140);
  EXPECT_EQ((f32_to_f64<false, true>(-3.0f)), 0.0);
  EXPECT_EQ((integral_f32<Round::nearest_even>(2.5f)), 2.0f);
  EXPECT_EQ((integral_f32<Round::nearest_even, false, true>(2.5f)), 1.0f);
  EXPECT_EQ((integral_f64<Round::down>(-2.5)), -3.0);
  EXPECT_EQ((widen_half<F16, true>(0x4000)), 1.0f);
  EXPECT_FALSE(std::signbit(f32_to_f64(float_of(kNanF32Bits)))) << "a NaN prints without a sign";
}

TEST(Convert, NarrowsToHalvesInEveryModeAndPacksTheFirstOperandHigh) {
  EXPECT_EQ((narrow_to_packed<F16, Round::nearest_even>(1.0f, 2.0f)), 0x3c004000u);
  EXPECT_EQ((narrow_to_packed<Bf16, Round::nearest_even>(1.0f, -2.0f)), 0x3f80c000u);
  EXPECT_EQ((narrow_to_packed<Bf16, Round::zero, Clamp::relu>(1.00999f, -2.0f)), 0x3f810000u);
  EXPECT_EQ((narrow_to_half<F16, Round::up>(1.0001f)), 0x3c01);
  EXPECT_EQ((narrow_to_half<F16, Round::down>(-1.0001f)), 0xbc01);
  EXPECT_EQ((narrow_to_half<F16, Round::nearest_even>(1.0 + 0x1p-11 + 0x1p-50)), 0x3c01)
      << "from f64 with one rounding, not through f32";
  EXPECT_EQ((narrow_to_half<F16, Round::up, true>(0x1p-140f)), 0);
  EXPECT_EQ((narrow_to_half<F16, Round::up, false>(0x1p-140f)), 1);
  EXPECT_EQ((narrow_to_half<F16, Round::zero, false, Clamp::sat>(7.0f)), 0x3c00);
}

}  // namespace
}  // namespace simgpu::arith
