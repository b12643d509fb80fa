#include "simgpu/arith/matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "simgpu/arith/half.h"

namespace simgpu::arith {
namespace {

constexpr TileShape kShape{16, 8, 16};

template <class Number>
std::vector<Number> small_integers(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Number> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<Number>(static_cast<int>(random() % 255) - 127));
  }
  return values;
}

template <class Number, class At>
Number dot(const std::vector<Number>& a, const std::vector<Number>& b, std::size_t row,
           std::size_t column, At start) {
  Number sum = start;
  for (std::size_t p = 0; p < kShape.k; ++p)
    sum += a[row * kShape.k + p] * b[p * kShape.n + column];
  return sum;
}

/// Products of small integers are exact in every order, so a plain triple loop is the oracle.
TEST(TileProduct, IsExactOnSmallIntegersForEveryType) {
  const std::size_t elements = kShape.m * kShape.n;
  const auto check = [&](auto number) {
    using Number = decltype(number);
    const auto a = small_integers<Number>(kShape.m * kShape.k, 1);
    const auto b = small_integers<Number>(kShape.k * kShape.n, 2);
    const auto c = small_integers<Number>(elements, 3);
    std::vector<Number> d(elements);
    if constexpr (std::is_same_v<Number, std::int32_t>) {
      tile_product(kShape, a, b, c, d, false);
    } else {
      tile_product(kShape, std::span<const Number>(a), std::span<const Number>(b),
                   std::span<const Number>(c), std::span<Number>(d));
    }
    for (std::size_t i = 0; i < kShape.m; ++i) {
      for (std::size_t j = 0; j < kShape.n; ++j) {
        ASSERT_EQ(d[i * kShape.n + j], dot(a, b, i, j, c[i * kShape.n + j]));
      }
    }
  };
  check(float{});
  check(double{});
  check(std::int32_t{});
}

TEST(TileProduct, StaysWithinTheErrorBoundOfF32Accumulation) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> a(kShape.m * kShape.k);
  std::vector<float> b(kShape.k * kShape.n);
  std::vector<float> c(kShape.m * kShape.n);
  for (auto* values : {&a, &b, &c}) {
    for (float& x : *values) x = f16_to_f32(f32_to_f16(uniform(random)));
  }
  std::vector<float> d(c.size());
  tile_product(kShape, std::span<const float>(a), std::span<const float>(b),
               std::span<const float>(c), std::span<float>(d));
  for (std::size_t i = 0; i < kShape.m; ++i) {
    for (std::size_t j = 0; j < kShape.n; ++j) {
      double exact = c[i * kShape.n + j];
      double size = std::fabs(exact);
      for (std::size_t p = 0; p < kShape.k; ++p) {
        const double product = double{a[i * kShape.k + p]} * b[p * kShape.n + j];
        exact += product;
        size += std::fabs(product);
      }
      const double bound = static_cast<double>(kShape.k) * 0x1p-24 * size;
      ASSERT_TRUE(std::fabs(d[i * kShape.n + j] - exact) <= bound) << i << ", " << j;
    }
  }
}

/// 2048 + 1 + 1 is 2050 if the sum is kept in f32, but 2048 if each step rounds to f16.
TEST(TileProduct, RoundsF16AccumulatorsOnceAtTheEnd) {
  const std::vector<float> a = {1.0f, 1.0f};
  const std::vector<float> b = {1.0f, 1.0f};
  const std::vector<std::uint16_t> c = {f32_to_f16(2048.0f)};
  std::vector<std::uint16_t> d(1);
  tile_product_f16({1, 1, 2}, a, b, c, d);
  EXPECT_EQ(f16_to_f32(d[0]), 2050.0f);
}

TEST(TileProduct, WrapsOrClampsIntegerSums) {
  const std::vector<std::int32_t> a = {127};
  const std::vector<std::int32_t> b = {127};
  const std::vector<std::int32_t> c = {2147483647};
  std::vector<std::int32_t> d(1);
  tile_product({1, 1, 1}, a, b, c, d, true);
  EXPECT_EQ(d[0], 2147483647);
  tile_product({1, 1, 1}, a, b, c, d, false);
  EXPECT_EQ(d[0], -2147483648LL + 16128);
}

TEST(TileProduct, RefusesSpansOfTheWrongSize) {
  std::vector<float> wrong(3);
  std::vector<float> right(4);
  EXPECT_THROW(tile_product({2, 2, 2}, std::span<const float>(wrong), std::span<const float>(right),
                            std::span<const float>(right), std::span<float>(right)),
               std::invalid_argument);
}

}  // namespace
}  // namespace simgpu::arith
