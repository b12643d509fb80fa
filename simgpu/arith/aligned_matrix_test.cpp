#include "simgpu/arith/aligned_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "simgpu/arith/half.h"

namespace simgpu::arith {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// One sum, in all 64 places of a tile that goes the fast way, and alone.
float sum_of(const std::vector<float>& a, const std::vector<float>& b, float c,
             const AlignedSums& rule = {}) {
  const std::size_t k = a.size();
  std::vector<float> rows;
  std::vector<float> columns;
  for (int i = 0; i < 8; ++i) rows.insert(rows.end(), a.begin(), a.end());
  for (const float y : b) columns.insert(columns.end(), 8, y);
  std::vector<float> sums(64, c);
  aligned_tile_product({8, 8, k}, rows, columns, sums, rule);
  std::vector<float> alone{c};
  aligned_tile_product({1, 1, k}, a, b, alone, rule);
  for (const float sum : sums) EXPECT_EQ(bits_of(sum), bits_of(alone[0])) << sum << " " << alone[0];
  return sums[0];
}

TEST(AlignedTileProduct, CutsTermsOff25BitsBelowTheLargest) {
  EXPECT_EQ(sum_of({1, 0x1p-20f, 0x1p-20f, -1}, {1, 0x1p-5f, 0x1.8p-6f, 1}, 0), 0x1p-25f);
  // Four times a quarter of a unit is nothing.
  EXPECT_EQ(sum_of({1, 0x1p-27f, 0x1p-27f, 0x1p-27f, 0x1p-27f, -1}, {1, 1, 1, 1, 1, 1}, 0), 0);
  EXPECT_EQ(sum_of({-0x1.8p-25f}, {1}, 1), 1 - 0x1p-24f);
}

TEST(AlignedTileProduct, TakesTheExponentOfAProductFromItsFactors) {
  // 2.25 counts as of exponent 0, 2.0 as of exponent 1.
  EXPECT_EQ(sum_of({1.5f, -1.5f, 0x1p-25f}, {1.5f, 1.5f, 1}, 0), 0x1p-25f);
  EXPECT_EQ(sum_of({2.0f, -2.0f, 0x1p-25f}, {1.0f, 1.0f, 1}, 0), 0);
}

TEST(AlignedTileProduct, CutsTheSumOffTowardsZero) {
  EXPECT_EQ(sum_of({0x1.8p-24f}, {1}, 1), 1);
  EXPECT_EQ(sum_of({-0x1.8p-24f}, {1}, -1), -1);
}

TEST(AlignedTileProduct, TellsWhatFollowsThatSomethingWasCutOff) {
  const AlignedSums rule{-14, -14, 0, true};
  // Half a unit of f16 and a little: up, though the little is below f32's last bit.
  const float sum = sum_of({0x1p-11f, 0x1p-14f}, {1, 0x1p-11f}, 1, rule);
  EXPECT_EQ(sum, 1 + 0x1p-11f + 0x1p-23f);
  EXPECT_EQ(f32_to_f16(sum), 0x3c01);
}

TEST(AlignedTileProduct, SumsInSteps) {
  const std::vector<float> a{1, 0x1p-26f, 1, 0x1p-25f};
  const std::vector<float> b{1, 1, -1, 1};
  EXPECT_EQ(sum_of(a, b, 0), 0x1p-25f);
  EXPECT_EQ(sum_of(a, b, 0, {.products_at_once = 1}), 0x1p-25f);
  // The second step's unit is far less than the first one's.
  EXPECT_EQ(sum_of({1, -1, 0x1p-40f, 0}, {1, 1, 1, 1}, 0), 0);
  EXPECT_EQ(sum_of({1, -1, 0x1p-40f, 0}, {1, 1, 1, 1}, 0, {.products_at_once = 2}), 0x1p-40f);
}

TEST(AlignedTileProduct, KeepsWhatIsNoNumber) {
  EXPECT_EQ(sum_of({kInfinity, 1}, {1, 1}, 1), kInfinity);
  EXPECT_EQ(sum_of({kInfinity, 1}, {-1, 1}, 1), -kInfinity);
  EXPECT_EQ(sum_of({1}, {1}, -kInfinity), -kInfinity);
  for (const float other : {kInfinity, std::nanf("7")}) {
    EXPECT_EQ(bits_of(sum_of({kInfinity, 1}, {0, 1}, other)), kNanF32Bits);
    EXPECT_EQ(bits_of(sum_of({kInfinity, 1}, {-1, 1}, other)), kNanF32Bits);
  }
}

TEST(AlignedTileProduct, GivesZerosThatArePositive) {
  EXPECT_EQ(bits_of(sum_of({-0.0f, 0}, {1, -1}, -0.0f)), 0U);
  EXPECT_EQ(bits_of(sum_of({1, -1}, {1, 1}, -0.0f)), 0U);
}

TEST(AlignedTileProduct, OverflowsOnlyBeyondTheLargestNumber) {
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(sum_of({0x1.8p102f}, {1}, largest), largest);
  EXPECT_EQ(sum_of({0x1p104f}, {1}, largest), kInfinity);
  EXPECT_EQ(sum_of({-0x1p64f, -0x1p64f}, {0x1p63f, 0x1p63f}, 0), -kInfinity);
}

TEST(AlignedTileProduct, KeepsSubnormals) {
  EXPECT_EQ(sum_of({0x1p-70f}, {0x1p-70f}, 0x1p-149f), 0x1p-140f + 0x1p-149f);
  EXPECT_EQ(sum_of({0x1p-75f}, {0x1p-75f}, 0), 0);
}

/// The rule, term by term, on doubles: 16 terms of that size are exact.
float by_the_rule(const float* a, const float* b, std::size_t n, float c) {
  int largest = c == 0 ? -1000 : std::ilogb(c);
  const auto both = [&](std::size_t p) { return std::ilogb(a[p]) + std::ilogb(b[p * n]); };
  for (std::size_t p = 0; p < 16; ++p) largest = std::max(largest, both(p));
  const auto kept = [&](double term) {
    return std::ldexp(std::trunc(std::ldexp(term, 25 - largest)), largest - 25);
  };
  double sum = kept(c);
  for (std::size_t p = 0; p < 16; ++p) sum += kept(double{a[p]} * b[p * n]);
  const float nearest = static_cast<float>(sum);
  return std::fabs(nearest) > std::fabs(sum) ? std::nextafter(nearest, 0.0f) : nearest;
}

TEST(AlignedTileProduct, FollowsTheRuleOnNumbersOfAnySize) {
  constexpr TileShape kShape{16, 8, 16};
  std::mt19937 random(5);
  for (const int spread : {1, 6, 14, 90}) {
    const auto fill = [&](std::size_t count) {
      std::vector<float> values(count);
      for (float& x : values) {
        const int significand = 1024 + static_cast<int>(random() % 1024);
        const int exponent = static_cast<int>(random() % (2 * spread)) - spread - 10;
        x = std::ldexp(static_cast<float>(random() % 2 == 0 ? significand : -significand),
                       exponent);
      }
      return values;
    };
    const std::vector<float> a = fill(16 * 16);
    const std::vector<float> b = fill(16 * 8);
    const std::vector<float> c = fill(16 * 8);
    std::vector<float> d = c;
    aligned_tile_product(kShape, a, b, d, {});
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t j = 0; j < 8; ++j) {
        const float expected = by_the_rule(&a[i * 16], &b[j], 8, c[i * 8 + j]);
        if (std::fabs(expected) < std::numeric_limits<float>::max()) {
          ASSERT_EQ(d[i * 8 + j], expected) << spread << ": " << i << ", " << j;
        }
      }
    }
  }
}

TEST(AlignedTileProduct, RefusesSpansOfTheWrongSize) {
  std::vector<float> wrong(3);
  std::vector<float> right(4);
  EXPECT_THROW(aligned_tile_product({2, 2, 2}, wrong, right, right, {}), std::invalid_argument);
}

}  // namespace
}  // namespace simgpu::arith
