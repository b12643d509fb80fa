#include "simgpu/arith/matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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

/// Products of small integers are exact in every order, so a plain triple loop is the oracle.
template <class Number>
void expect_exact(const TileShape& shape) {
  const auto a = small_integers<Number>(shape.m * shape.k, 1);
  const auto b = small_integers<Number>(shape.k * shape.n, 2);
  const auto c = small_integers<Number>(shape.m * shape.n, 3);
  std::vector<Number> sums = c;
  tile_product(shape, std::span<const Number>(a), std::span<const Number>(b),
               std::span<Number>(sums));
  for (std::size_t i = 0; i < shape.m; ++i) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      Number expected = c[i * shape.n + j];
      for (std::size_t p = 0; p < shape.k; ++p) {
        expected += a[i * shape.k + p] * b[p * shape.n + j];
      }
      ASSERT_EQ(sums[i * shape.n + j], expected) << "row " << i << ", column " << j;
    }
  }
}

TEST(TileProduct, IsExactOnSmallIntegersOfAnyShape) {
  for (const TileShape& shape : {kShape, TileShape{8, 8, 4}, TileShape{8, 32, 16},
                                 TileShape{32, 8, 16}, TileShape{3, 5, 7}, TileShape{17, 9, 1}}) {
    expect_exact<float>(shape);
    expect_exact<double>(shape);
  }
}

TEST(TileProduct, IsExactOnIntegers) {
  const auto a = small_integers<std::int16_t>(kShape.m * kShape.k, 1);
  const auto b_columns = small_integers<std::int16_t>(kShape.n * kShape.k, 2);
  const auto c = small_integers<std::int32_t>(kShape.m * kShape.n, 3);
  std::vector<std::int32_t> sums = c;
  tile_product(kShape, a, b_columns, sums, false);
  for (std::size_t i = 0; i < kShape.m; ++i) {
    for (std::size_t j = 0; j < kShape.n; ++j) {
      long expected = c[i * kShape.n + j];
      for (std::size_t p = 0; p < kShape.k; ++p) {
        expected += long{a[i * kShape.k + p]} * b_columns[j * kShape.k + p];
      }
      ASSERT_EQ(sums[i * kShape.n + j], expected) << "row " << i << ", column " << j;
    }
  }
}

TEST(TileProduct, CountsTheBitsOfAnAndOrXor) {
  const TileShape shape{2, 3, 64};
  const std::vector<std::uint32_t> a = {0xffffffffU, 0x0000000fU, 0x80000001U, 0x00ff0000U};
  const std::vector<std::uint32_t> b = {0x000000ffU, 0x000000f8U, 0, 0, 0xffffffffU, 0xffffffffU};
  std::vector<std::int32_t> both(6, 100);
  bit_tile_product(shape, a, b, both, BitOperation::and_);
  EXPECT_EQ(both, (std::vector<std::int32_t>{109, 100, 136, 101, 100, 110}));
  std::vector<std::int32_t> either(6, 0);
  bit_tile_product(shape, a, b, either, BitOperation::xor_);
  EXPECT_EQ(either, (std::vector<std::int32_t>{31, 36, 28, 21, 10, 54}));
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
  std::vector<float> d = c;
  tile_product(kShape, std::span<const float>(a), std::span<const float>(b), std::span<float>(d));
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

/// Each step rounds once: the product alone would not fit.
TEST(TileProduct, FusesEachMultiplicationWithItsAddition) {
  const float x = 1.0f + 0x1p-12f;
  std::vector<float> sums(64, -1.0f);
  const std::vector<float> factors(8, x);
  tile_product({8, 8, 1}, std::span<const float>(factors), std::span<const float>(factors),
               std::span<float>(sums));
  for (const float sum : sums) EXPECT_EQ(sum, 0x1p-11f + 0x1p-24f);
}

TEST(TileProduct, MakesEveryNanTheCanonicalOne) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::size_t columns : {std::size_t{8}, std::size_t{3}}) {
    std::vector<float> sums(8 * columns, -infinity);
    const std::vector<float> a(8, infinity);
    const std::vector<float> b(columns, 1.0f);
    tile_product({8, columns, 1}, std::span<const float>(a), std::span<const float>(b),
                 std::span<float>(sums));
    for (const float sum : sums) EXPECT_EQ(bits_of(sum), kNanF32Bits);
  }
}

TEST(TileProduct, WrapsOrClampsIntegerSums) {
  const std::vector<std::int16_t> a = {127};
  std::vector<std::int32_t> sums = {2147483647};
  tile_product({1, 1, 1}, a, a, sums, true);
  EXPECT_EQ(sums[0], 2147483647);
  tile_product({1, 1, 1}, a, a, sums, false);
  EXPECT_EQ(sums[0], -2147483648LL + 16128);
}

TEST(TileProduct, RefusesSpansOfTheWrongSize) {
  std::vector<float> wrong(3);
  std::vector<float> right(4);
  EXPECT_THROW(tile_product({2, 2, 2}, std::span<const float>(wrong), std::span<const float>(right),
                            std::span<float>(right)),
               std::invalid_argument);
}

TEST(Transpose, SwapsRowsAndColumns) {
  std::vector<std::uint16_t> halves(8 * 10);
  for (std::size_t i = 0; i < 64; ++i) halves[i / 8 * 10 + i % 8] = static_cast<std::uint16_t>(i);
  std::vector<std::uint16_t> turned(8 * 9);
  transpose_8x8_halves(std::as_bytes(std::span(halves)).data(), 20,
                       std::as_writable_bytes(std::span(turned)).data(), 18);
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      EXPECT_EQ(turned[row * 9 + column], column * 8 + row);
    }
  }
}

TEST(WidenF16, GivesTheValueOfEveryPattern) {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  std::vector<float> values(8 * 9);
  for (std::size_t first = 0; first < halves.size(); first += 64) {
    widen_f16_8x8(std::as_bytes(std::span(halves)).data() + 2 * first, values.data(), 9);
    for (std::size_t i = 0; i < 64; ++i) {
      const float found = values[i / 8 * 9 + i % 8];
      const float expected = f16_to_f32(halves[first + i]);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(found));
      } else {
        EXPECT_EQ(bits_of(found), bits_of(expected));
      }
    }
  }
}

}  // namespace
}  // namespace simgpu::arith
