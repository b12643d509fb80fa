#include "simgpu/arith/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "simgpu/arith/quad_testing.h"

namespace simgpu::arith {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// How far a result is from the exact value, in units of the value's last place.
double units_off(double result, Quad exact) {
  const int exponent = std::ilogb(static_cast<double>(exact));
  return std::fabs(static_cast<double>((result - exact) * std::ldexp(1.0, 52 - exponent)));
}

/// The same arguments on every machine: of all exponents from 2^least to 2^most, in [2^e, 2^(e+1)).
template <class Visit>
void for_arguments(int least, int most, Visit visit) {
  constexpr int kOfEach = 1000;
  std::uint64_t state = 1;
  for (int exponent = least; exponent < most; ++exponent) {
    for (int i = 0; i < kOfEach; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
      visit(std::ldexp(1 + static_cast<double>(state >> 12) * 0x1p-52, exponent));
    }
  }
}

TEST(Elementary, IsAtMostAFewUnitsInTheLastPlaceOff) {
  for_arguments(-40, 9, [](double x) {
    ASSERT_LE(units_off(exp2_f64(x), exp2f128(x)), 2) << x;
    ASSERT_LE(units_off(exp2_f64(-x), exp2f128(-x)), 2) << x;
    ASSERT_LE(units_off(positive_tanh_f64(x), tanhf128(x)), 6) << x;
  });
  for_arguments(-149, 128,
                [](double x) { ASSERT_LE(units_off(log2_f64(x), log2f128(x)), 3) << x; });
  for_arguments(-40, 0, [](double x) { ASSERT_LE(units_off(quarter_sin_f64(x), sinf128(x)), 1); });
  for_arguments(-30, 3, [](double x) {
    ASSERT_LE(std::fabs(power_f64(x, 0.25) / std::sqrt(std::sqrt(x)) - 1), 0x1p-49) << x;
  });
}

TEST(Elementary, IsExactWhereTheResultIs) {
  for (int i = -1021; i < 1023; ++i) {
    ASSERT_EQ(exp2_f64(i), std::ldexp(1.0, i));
    ASSERT_EQ(log2_f64(std::ldexp(1.0, i)), i);
  }
  EXPECT_EQ(quarter_sin_f64(0), 0);
  EXPECT_EQ(positive_tanh_f64(0), 0);
  EXPECT_EQ(positive_tanh_f64(100), 1);
  EXPECT_EQ(power_f64(1, 3.7), 1);
}

TEST(Elementary, KnowsWhatIsBeyondItsRange) {
  EXPECT_EQ(exp2_f64(kInfinity), kInfinity);
  EXPECT_EQ(exp2_f64(-kInfinity), 0);
  EXPECT_EQ(exp2_f64(1e300), kInfinity);
  EXPECT_EQ(exp2_f64(-1e300), 0);
  EXPECT_EQ(log2_f64(kInfinity), kInfinity);
  EXPECT_EQ(log2_f64(0), -kInfinity);
  EXPECT_EQ(log2_f64(-0.0), -kInfinity);
  EXPECT_EQ(positive_tanh_f64(kInfinity), 1);
  EXPECT_EQ(power_f64(0, 4), 0);
  for (const double wrong : {log2_f64(-1), log2_f64(-kInfinity), log2_f64(kNan), exp2_f64(kNan),
                             positive_tanh_f64(kNan)}) {
    EXPECT_TRUE(std::isnan(wrong));
  }
}

/// FNV-1a over the bits of results.
class Digest {
 public:
  void add(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    for (int i = 0; i < 64; i += 8) value_ = (value_ ^ (bits >> i & 0xff)) * 0x100000001b3;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

TEST(Elementary, HasTheSameBitsOnEveryMachine) {
  Digest digest;
  for_arguments(-40, 9, [&](double x) {
    digest.add(exp2_f64(x));
    digest.add(exp2_f64(-x));
    digest.add(log2_f64(x));
    digest.add(positive_tanh_f64(x));
    digest.add(power_f64(x, 1.7));
  });
  for_arguments(-40, 0, [&](double x) { digest.add(quarter_sin_f64(x)); });
  EXPECT_EQ(digest.value(), 0x147fb4f1f88e0255U);
}

}  // namespace
}  // namespace simgpu::arith
