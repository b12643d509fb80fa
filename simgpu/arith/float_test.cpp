#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "simgpu/arith/float32.h"
#include "simgpu/arith/float64.h"
#include "simgpu/arith/test_values.h"

namespace simgpu::arith {
namespace {

/// The oracle of every directed operation: the host's own operation under fesetround.
class HostRounding {
 public:
  explicit HostRounding(Round mode) {
    std::fesetround(mode == Round::nearest_even ? FE_TONEAREST
                    : mode == Round::zero       ? FE_TOWARDZERO
                    : mode == Round::down       ? FE_DOWNWARD
                                                : FE_UPWARD);
  }
  ~HostRounding() { std::fesetround(FE_TONEAREST); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;
};

template <class Float, class Operation>
Float on_host(Round mode, Operation operation) {
  const HostRounding rounding(mode);
  volatile Float result = operation();
  return result;
}

/// Bitwise equality, all NaNs alike: which NaN is tested by itself.
template <class Float>
testing::AssertionResult same(Float actual, Float expected) {
  if (std::isnan(actual) && std::isnan(expected)) return testing::AssertionSuccess();
  if (bits_of(actual) == bits_of(expected)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << actual << " instead of " << expected << std::hexfloat
                                     << " (" << actual << ", " << expected << ")";
}

template <Round kRound>
void check_f32() {
  const auto values = float_operands(260, 1);
  for (volatile float a : values) {
    EXPECT_TRUE(same<float>(sqrt_f32<kRound>(a),
                            on_host<float>(kRound, [&] { return std::sqrt(float{a}); })))
        << "sqrt " << a;
    EXPECT_TRUE(same<float>(rcp_f32<kRound>(a), on_host<float>(kRound, [&] { return 1.0f / a; })))
        << "rcp " << a;
    for (volatile float b : values) {
      const auto where = [&] { return testing::Message() << a << ", " << b; };
      ASSERT_TRUE(same<float>(add_f32<kRound>(a, b), on_host<float>(kRound, [&] { return a + b; })))
          << "add " << where();
      ASSERT_TRUE(same<float>(sub_f32<kRound>(a, b), on_host<float>(kRound, [&] { return a - b; })))
          << "sub " << where();
      ASSERT_TRUE(same<float>(mul_f32<kRound>(a, b), on_host<float>(kRound, [&] { return a * b; })))
          << "mul " << where();
      ASSERT_TRUE(same<float>(div_f32<kRound>(a, b), on_host<float>(kRound, [&] { return a / b; })))
          << "div " << where();
    }
  }
  const auto small = float_operands(40, 2);
  for (volatile float a : small) {
    for (volatile float b : small) {
      for (volatile float c : small) {
        ASSERT_TRUE(same<float>(fma_f32<kRound>(a, b, c),
                                on_host<float>(kRound, [&] { return __builtin_fmaf(a, b, c); })))
            << "fma " << a << ", " << b << ", " << c;
      }
    }
  }
}

template <Round kRound>
void check_f64() {
  const auto values = double_operands(200, 3);
  for (volatile double a : values) {
    EXPECT_TRUE(same<double>(sqrt_f64<kRound>(a),
                             on_host<double>(kRound, [&] { return std::sqrt(double{a}); })))
        << "sqrt " << a;
    EXPECT_TRUE(same<double>(rcp_f64<kRound>(a), on_host<double>(kRound, [&] { return 1.0 / a; })))
        << "rcp " << a;
    for (volatile double b : values) {
      const auto where = [&] { return testing::Message() << a << ", " << b; };
      ASSERT_TRUE(
          same<double>(add_f64<kRound>(a, b), on_host<double>(kRound, [&] { return a + b; })))
          << "add " << where();
      ASSERT_TRUE(
          same<double>(sub_f64<kRound>(a, b), on_host<double>(kRound, [&] { return a - b; })))
          << "sub " << where();
      ASSERT_TRUE(
          same<double>(mul_f64<kRound>(a, b), on_host<double>(kRound, [&] { return a * b; })))
          << "mul " << where();
      ASSERT_TRUE(
          same<double>(div_f64<kRound>(a, b), on_host<double>(kRound, [&] { return a / b; })))
          << "div " << where();
    }
  }
  const auto small = double_operands(20, 4);
  for (volatile double a : small) {
    for (volatile double b : small) {
      for (volatile double c : small) {
        ASSERT_TRUE(same<double>(fma_f64<kRound>(a, b, c),
                                 on_host<double>(kRound, [&] { return __builtin_fma(a, b, c); })))
            << "fma " << a << ", " << b << ", " << c;
      }
    }
  }
}

TEST(Float32, RoundsToNearestEven) { check_f32<Round::nearest_even>(); }
TEST(Float32, RoundsTowardZero) { check_f32<Round::zero>(); }
TEST(Float32, RoundsDown) { check_f32<Round::down>(); }
TEST(Float32, RoundsUp) { check_f32<Round::up>(); }
TEST(Float64, RoundsToNearestEven) { check_f64<Round::nearest_even>(); }
TEST(Float64, RoundsTowardZero) { check_f64<Round::zero>(); }
TEST(Float64, RoundsDown) { check_f64<Round::down>(); }
TEST(Float64, RoundsUp) { check_f64<Round::up>(); }

/// Nearly cancelling fma operands: c is the rounded product, nudged.
TEST(Float64, KeepsEveryBitOfAProductThatNearlyCancels) {
  for (volatile double a : double_operands(2000, 5)) {
    volatile double b = 1.0 + std::ldexp(static_cast<double>(bits_of(double{a}) % 999983), -40);
    volatile double c = -(a * b);
    ASSERT_TRUE(same<double>(fma_f64<Round::down>(a, b, c),
                             on_host<double>(Round::down, [&] { return __builtin_fma(a, b, c); })))
        << a << " * " << b << " + " << c;
  }
}

template <Round kRound>
void check_near_cancellation() {
  for (volatile float a : float_operands(2000, 6)) {
    const volatile float b = 1.0f + std::ldexp(static_cast<float>(bits_of(float{a}) % 8191), -20);
    for (const int nudge : {-1, 0, 1}) {
      const volatile float c = float_of(bits_of(-(a * b)) + static_cast<std::uint32_t>(nudge));
      ASSERT_TRUE(same<float>(fma_f32<kRound>(a, b, c),
                              on_host<float>(kRound, [&] { return __builtin_fmaf(a, b, c); })))
          << a << " * " << b << " + " << c;
    }
  }
}

TEST(Float32, KeepsEveryBitOfAProductThatNearlyCancels) {
  check_near_cancellation<Round::zero>();
  check_near_cancellation<Round::down>();
  check_near_cancellation<Round::up>();
}

TEST(Float32, ProducesOneCanonicalNan) {
  const float infinity = float_of(0x7f800000u);
  EXPECT_EQ(bits_of(add_f32(infinity, -infinity)), 0x7fffffffu);
  EXPECT_EQ(bits_of(mul_f32<Round::up>(infinity, 0.0f)), 0x7fffffffu);
  EXPECT_EQ(bits_of(fma_f32(float_of(0xffc12345u), 1.0f, 1.0f)), 0x7fffffffu);
  EXPECT_EQ(bits_of(sqrt_f32<>(-1.0f)), 0x7fffffffu);
  EXPECT_EQ(bits_of(div_f32<Round::zero>(0.0f, 0.0f)), 0x7fffffffu);
  EXPECT_EQ(bits_of(min_f32(float_of(0xffc00001u), float_of(0x7f800001u))), 0x7fffffffu);
  EXPECT_EQ(bits_of(abs_f32(float_of(0xffc00001u))), 0x7fffffffu);
  EXPECT_EQ(bits_of(neg_f32(float_of(0x7fffffffu))), 0x7fffffffu);
}

TEST(Float64, KeepsTheNanOfTheLastOperandAndMakesItQuiet) {
  const double a = double_of(0xfff0123456789abcu);
  const double b = double_of(0x7ff8000000000007u);
  EXPECT_EQ(bits_of(add_f64(a, 1.0)), 0xfff8123456789abcu);
  EXPECT_EQ(bits_of(add_f64(1.0, a)), 0xfff8123456789abcu);
  EXPECT_EQ(bits_of(add_f64(a, b)), 0x7ff8000000000007u);
  EXPECT_EQ(bits_of(sub_f64(b, a)), 0xfff8123456789abcu);
  EXPECT_EQ(bits_of(mul_f64<Round::down>(a, b)), 0x7ff8000000000007u);
  EXPECT_EQ(bits_of(fma_f64(0.0, double_of(0x7ff0000000000000u), a)), 0xfff8123456789abcu);
  EXPECT_EQ(bits_of(min_f64(b, a)), 0xfff8123456789abcu);
  EXPECT_EQ(bits_of(div_f64(a, b)), 0xfff8123456789abcu) << "but of a quotient the dividend";
  EXPECT_EQ(bits_of(sqrt_f64(a)), 0xfff8123456789abcu);
  EXPECT_EQ(bits_of(abs_f64(a)), 0xfff8123456789abcu) << "the sign of a NaN stays";
  EXPECT_EQ(bits_of(neg_f64(a)), 0xfff8123456789abcu);
  EXPECT_EQ(bits_of(mul_f64(0.0, double_of(0x7ff0000000000000u))), kNanF64Bits);
  EXPECT_EQ(bits_of(rcp_approx_ftz_f64(a)), 0x7fffffff00000000u);
  EXPECT_EQ(bits_of(rsqrt_approx_ftz_f64(-1.0)), 0x7fffffff00000000u);
}

TEST(Float32, FlushesSubnormalOperandsAndResultsKeepingTheirSign) {
  const float tiny = float_of(0x80000123u);
  EXPECT_EQ(bits_of(add_f32<Round::nearest_even, true>(tiny, -0.0f)), 0x80000000u);
  EXPECT_EQ(bits_of(add_f32<Round::nearest_even, false>(tiny, -0.0f)), 0x80000123u);
  EXPECT_EQ(bits_of(mul_f32<Round::nearest_even, true>(0x1p-100f, -0x1p-30f)), 0x80000000u);
  EXPECT_EQ(bits_of(mul_f32<Round::nearest_even, true>(0x1p-100f, 0x1p-26f)), 0x00800000u);
  EXPECT_EQ(bits_of(mul_f32<Round::up, true>(tiny, 0x1p100f)), 0x80000000u);
  EXPECT_EQ(bits_of(fma_f32<Round::zero, true>(tiny, 0x1p120f, 1.0f)), 0x3f800000u);
  EXPECT_EQ(bits_of(abs_f32<true>(tiny)), 0u);
  EXPECT_EQ(bits_of(neg_f32<true>(tiny)), 0u);
  EXPECT_EQ(bits_of(max_f32<true>(tiny, -1.0f)), 0x80000000u);
}

TEST(Float32, SaturatesToTheUnitInterval) {
  constexpr auto kNearest = Round::nearest_even;
  EXPECT_EQ(bits_of(add_f32<kNearest, false, true>(0.75f, 0.5f)), bits_of(1.0f));
  EXPECT_EQ(bits_of(add_f32<kNearest, false, true>(0.25f, 0.5f)), bits_of(0.75f));
  EXPECT_EQ(bits_of(sub_f32<kNearest, false, true>(0.25f, 0.5f)), 0u);
  EXPECT_EQ(bits_of(mul_f32<kNearest, false, true>(-0.0f, 0.5f)), 0u);
  EXPECT_EQ(bits_of(fma_f32<kNearest, false, true>(float_of(0x7fc00000u), 1.0f, 1.0f)), 0u);
}

TEST(Float32, OrdersZerosAndPassesOverNansInMinAndMax) {
  const float nan = float_of(0x7fc00000u);
  EXPECT_EQ(bits_of(min_f32(0.0f, -0.0f)), 0x80000000u);
  EXPECT_EQ(bits_of(min_f32(-0.0f, 0.0f)), 0x80000000u);
  EXPECT_EQ(bits_of(max_f32(-0.0f, 0.0f)), 0u);
  EXPECT_EQ(bits_of(max_f32(0.0f, -0.0f)), 0u);
  EXPECT_EQ(min_f32(nan, 3.0f), 3.0f);
  EXPECT_EQ(max_f32(3.0f, nan), 3.0f);
  EXPECT_EQ(bits_of(min_f32<false, true>(nan, 3.0f)), 0x7fffffffu);
  EXPECT_EQ(bits_of(max_f32<false, true>(3.0f, nan)), 0x7fffffffu);
  EXPECT_EQ((min_f32<false, false, true>(-2.0f, 3.0f)), -2.0f);
  EXPECT_EQ((min_f32<false, false, true>(-2.0f, -3.0f)), 2.0f);
  EXPECT_EQ((max_f32<false, false, true>(-2.0f, 3.0f)), -3.0f);
  EXPECT_EQ(min_f64(-0.0, 0.0), 0.0);
  EXPECT_TRUE(std::signbit(min_f64(0.0, -0.0)));
  EXPECT_FALSE(std::signbit(max_f64(-0.0, 0.0)));
  EXPECT_EQ(max_f64(std::nan(""), -5.0), -5.0);
}

TEST(Float32, MinAndMaxAgreeWithTheLibraryOnOrderedOperands) {
  const auto values = float_operands(200, 6);
  for (const float a : values) {
    for (const float b : values) {
      if (a == b || std::isnan(a) || std::isnan(b)) continue;
      ASSERT_EQ(bits_of(min_f32(a, b)), bits_of(std::fmin(a, b)));
      ASSERT_EQ(bits_of(max_f32(a, b)), bits_of(std::fmax(a, b)));
    }
  }
}

TEST(Float32, DividesApproximatelyByHugeNumbersToZero) {
  const float infinity = float_of(0x7f800000u);
  EXPECT_EQ(div_approx_f32(6.0f, 3.0f), 2.0f);
  EXPECT_EQ(bits_of(div_approx_f32(0x1p127f, 0x1.8p126f)), 0u);
  EXPECT_EQ(bits_of(div_approx_f32(-1.0f, 0x1.8p126f)), 0x80000000u);
  EXPECT_TRUE(std::isnan(div_approx_f32(infinity, 0x1p127f)));
  EXPECT_TRUE(std::isnan(div_approx_f32(1.0f, float_of(0x7fc00000u))));
  EXPECT_EQ(div_approx_f32(1.0f, 0x1p126f), 0x1p-126f);
}

TEST(Float64, GrossApproximationsUseTheUpperWordOnly) {
  const double reciprocal = rcp_approx_ftz_f64(double_of(0x40080000ffffffffu));  // just above 3
  EXPECT_EQ(static_cast<std::uint32_t>(bits_of(reciprocal)), 0u);
  EXPECT_NEAR(reciprocal, 1.0 / 3.0, 0x1p-21);
  EXPECT_EQ(rcp_approx_ftz_f64(double_of(0x40080000ffffffffu)), rcp_approx_ftz_f64(3.0));
  EXPECT_TRUE(std::isinf(rcp_approx_ftz_f64(0x1p-1060)));
  EXPECT_NEAR(rsqrt_approx_ftz_f64(4.0), 0.5, 0x1p-21);
  EXPECT_EQ(rsqrt_approx_f64(4.0), 0.5);
}

TEST(Float32, TellsClassesOfNumbersApart) {
  EXPECT_TRUE(testp(FloatTest::finite, 0.0f));
  EXPECT_FALSE(testp(FloatTest::finite, float_of(0x7f800000u)));
  EXPECT_TRUE(testp(FloatTest::infinite, float_of(0xff800000u)));
  EXPECT_TRUE(testp(FloatTest::notanumber, float_of(0x7f800001u)));
  EXPECT_FALSE(testp(FloatTest::number, float_of(0x7f800001u)));
  EXPECT_TRUE(testp(FloatTest::subnormal, 0x1p-140f));
  EXPECT_FALSE(testp(FloatTest::subnormal, 0x1p-126f));
  EXPECT_FALSE(testp(FloatTest::subnormal, 0.0f));
  EXPECT_TRUE(testp(FloatTest::normal, 0x1p-126f));
  EXPECT_TRUE(testp(FloatTest::normal, 0.0f));
  EXPECT_FALSE(testp(FloatTest::normal, 0x1p-140f));
  EXPECT_EQ(bits_of(copysign_f32(-0.0f, 3.0f)), bits_of(-3.0f));
  EXPECT_EQ(copysign_f64(1.0, -3.0), 3.0);
}

}  // namespace
}  // namespace simgpu::arith
