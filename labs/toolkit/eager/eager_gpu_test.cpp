// The eager operations against fp64, which rounds once, as they do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "toolkit/eager/gelu.h"
#include "toolkit/eager/pointwise.h"
#include "toolkit/eager/rows.h"
#include "toolkit/testing/device_array.h"

namespace rooflab::eager {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
class EagerTest : public testing::Test {
 protected:
  static constexpr double kUnit = sizeof(T) == 4 ? 0x1p-23 : 0x1p-8;  ///< more than a rounding

  static std::vector<double> widened_all(const std::vector<T>& values) {
    std::vector<double> result;
    for (const T value : values) result.push_back(widened(value));
    return result;
  }

  /// Every element of `got` is what is expected, within some roundings of it in fp32 and in T.
  static void expect_near(const std::vector<T>& got, const std::vector<double>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (std::isinf(expected[i])) {
        ASSERT_EQ(widened(got[i]), expected[i]) << i;
        continue;
      }
      const double tolerance = 4 * kUnit * std::abs(expected[i]) + 1e-7;
      ASSERT_NEAR(widened(got[i]), expected[i], tolerance) << i;
    }
  }
};

using Types = testing::Types<float, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(EagerTest, Types, );

TYPED_TEST(EagerTest, ComputesEveryElementAndNothingBehindTheLast) {
  using T = TypeParam;
  struct Operation {
    const char* name;
    std::function<void(const T*, const T*, T*, std::int64_t)> run;
    std::function<double(double, double)> expected;
  };
  const Operation operations[] = {
      {"add", [](auto a, auto b, auto y, auto n) { add(a, b, y, n, nullptr); }, std::plus<>()},
      {"multiply", [](auto a, auto b, auto y, auto n) { multiply(a, b, y, n, nullptr); },
       std::multiplies<>()},
      {"add_number", [](auto a, auto, auto y, auto n) { add_number(a, 0.75F, y, n, nullptr); },
       [](double a, double) { return a + 0.75; }},
      {"scale", [](auto a, auto, auto y, auto n) { scale(a, -3.0F, y, n, nullptr); },
       [](double a, double) { return -3 * a; }},
      {"square", [](auto a, auto, auto y, auto n) { square(a, y, n, nullptr); },
       [](double a, double) { return a * a; }},
      {"cube", [](auto a, auto, auto y, auto n) { cube(a, y, n, nullptr); },
       [](double a, double) { return a * a * a; }},
      {"tanh", [](auto a, auto, auto y, auto n) { tanh(a, y, n, nullptr); },
       [](double a, double) { return std::tanh(a); }},
  };
  for (const Operation& operation : operations) {
    for (const int count : {1, 255, 257, 1000}) {
      SCOPED_TRACE(operation.name + std::string(" of ") + std::to_string(count));
      const auto a = varied<T>(count, 2 * count, 4), b = varied<T>(count, 2 * count + 1, 4);
      const DeviceArray<T> on_a(a), on_b(b);
      const DeviceArray<T> on_y(std::vector<T>(count + 1, rounded<T>(77.0)));
      operation.run(on_a.data(), on_b.data(), on_y.data(), count);
      std::vector<double> expected;
      for (int i = 0; i < count; ++i) {
        expected.push_back(operation.expected(widened(a[i]), widened(b[i])));
      }
      expected.push_back(77);
      this->expect_near(on_y.host(), expected);
    }
  }
}

TYPED_TEST(EagerTest, TakesTheReciprocalOfARoot) {
  std::vector<TypeParam> x;
  for (const double value : {0.25, 1.0, 2.0, 3000.0, 0.01}) x.push_back(rounded<TypeParam>(value));
  const DeviceArray<TypeParam> on_x(x);
  rsqrt(on_x.data(), on_x.data(), 5, nullptr);
  std::vector<double> expected;
  for (const double value : this->widened_all(x)) expected.push_back(1 / std::sqrt(value));
  this->expect_near(on_x.host(), expected);
}

TYPED_TEST(EagerTest, RoundsEveryResultToItsType) {
  const DeviceArray<TypeParam> x({rounded<TypeParam>(1.0)});
  add_number(x.data(), 0x1p-13F, x.data(), 1, nullptr);
  EXPECT_EQ(widened(x.host()[0]), sizeof(TypeParam) == 4 ? 1 + 0x1p-13 : 1);
}

TYPED_TEST(EagerTest, TakesTheMeanOfEachRow) {
  for (const int width : {1, 31, 33, 640}) {
    const auto x = this->widened_all(varied<TypeParam>(3 * width, width));
    std::vector<TypeParam> rows;
    for (const double value : x) rows.push_back(rounded<TypeParam>(value + 1));
    const DeviceArray<TypeParam> on_x(rows), mean(varied<TypeParam>(3, 1));
    mean_of_rows(on_x.data(), mean.data(), 3, width, nullptr);
    std::vector<double> expected(3);
    for (int i = 0; i < 3 * width; ++i) expected[i / width] += widened(rows[i]) / width;
    this->expect_near(mean.host(), expected);
  }
}

TYPED_TEST(EagerTest, MakesWeightsOfEachRowThatSumToOne) {
  for (const int width : {1, 32, 77}) {
    auto x = varied<TypeParam>(2 * width, width, 60);
    if (width > 1) x[1] = rounded<TypeParam>(-kInfinity);
    const DeviceArray<TypeParam> on_x(x);
    softmax_of_rows(on_x.data(), on_x.data(), 2, width, nullptr);
    std::vector<double> expected;
    for (int row = 0; row < 2; ++row) {
      double sum = 0;
      for (int i = 0; i < width; ++i) sum += std::exp(widened(x[row * width + i]));
      for (int i = 0; i < width; ++i) {
        expected.push_back(std::exp(widened(x[row * width + i])) / sum);
      }
    }
    const std::vector<TypeParam> got = on_x.host();
    for (int i = 0; i < 2 * width; ++i) {
      ASSERT_NEAR(widened(got[i]), expected[i],
                  this->kUnit * 4 * expected[i] + 2e-5 * expected[i] + 1e-7)
          << i;
    }
    if (width > 1) {
      EXPECT_EQ(widened(got[1]), 0);
    }
  }
}

TYPED_TEST(EagerTest, ScalesRowsAndColumns) {
  const auto x = varied<TypeParam>(6, 1), by_row = varied<TypeParam>(2, 2),
             by_column = varied<TypeParam>(3, 3);
  const DeviceArray<TypeParam> on_x(x), rows(by_row), columns(by_column), y(x);
  multiply_rows(on_x.data(), rows.data(), y.data(), 2, 3, nullptr);
  std::vector<double> expected;
  for (int i = 0; i < 6; ++i) expected.push_back(widened(x[i]) * widened(by_row[i / 3]));
  this->expect_near(y.host(), expected);
  multiply_columns(on_x.data(), columns.data(), y.data(), 2, 3, nullptr);
  for (int i = 0; i < 6; ++i) expected[i] = widened(x[i]) * widened(by_column[i % 3]);
  this->expect_near(y.host(), expected);
}

TYPED_TEST(EagerTest, RotatesTheHalvesOfARow) {
  std::vector<TypeParam> x;
  for (int i = 1; i <= 8; ++i) x.push_back(rounded<TypeParam>(i));
  const DeviceArray<TypeParam> on_x(x), y(x);
  rotate_half(on_x.data(), y.data(), 2, 4, nullptr);
  EXPECT_THAT(this->widened_all(y.host()), testing::ElementsAre(-3, -4, 1, 2, -7, -8, 5, 6));
}

TYPED_TEST(EagerTest, SelectsRowsOfATable) {
  std::vector<TypeParam> table;
  for (int i = 0; i < 8; ++i) table.push_back(rounded<TypeParam>(i));
  const DeviceArray<TypeParam> on_table(table), y(varied<TypeParam>(6, 1));
  const DeviceArray<int> index({3, 0, 3});
  select_rows(on_table.data(), index.data(), y.data(), 3, 2, nullptr);
  EXPECT_THAT(this->widened_all(y.host()), testing::ElementsAre(6, 7, 0, 1, 6, 7));
}

TYPED_TEST(EagerTest, HidesWhatLiesBehindAPosition) {
  const auto x = varied<TypeParam>(6, 9);
  const DeviceArray<TypeParam> on_x(x);
  const DeviceArray<int> last({1});
  hide_behind(on_x.data(), last.data(), on_x.data(), 2, 3, nullptr);
  std::vector<double> expected = this->widened_all(x);
  expected[2] = expected[5] = -kInfinity;
  EXPECT_EQ(this->widened_all(on_x.host()), expected);
}

TYPED_TEST(EagerTest, LaunchesNothingForEmptyArrays) {
  const DeviceArray<TypeParam> x({rounded<TypeParam>(5.0)});
  square(x.data(), x.data(), 0, nullptr);
  mean_of_rows(x.data(), x.data(), 0, 3, nullptr);
  softmax_of_rows(x.data(), x.data(), 0, 3, nullptr);
  multiply_rows(x.data(), x.data(), x.data(), 3, 0, nullptr);
  EXPECT_EQ(widened(x.host()[0]), 5);
}

TYPED_TEST(EagerTest, ComputesGelu) {
  const int count = 1000;
  const auto x = varied<TypeParam>(count, 4, 5);
  const DeviceArray<TypeParam> on_x(x), y(x), memory(varied<TypeParam>(count, 5));
  Workspace workspace(memory.data(), count * sizeof(TypeParam));
  gelu(on_x.data(), y.data(), count, workspace, nullptr);
  EXPECT_EQ(workspace.used(), 0u);
  const std::vector<TypeParam> got = y.host();
  for (int i = 0; i < count; ++i) {
    const double value = widened(x[i]);
    const double expected =
        value / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (value + 0.044715 * std::pow(value, 3))));
    // Each step rounds; 1 + tanh is as coarse as numbers near 1.
    ASSERT_NEAR(widened(got[i]), expected, 8 * this->kUnit * std::abs(value)) << value;
  }
}

}  // namespace
}  // namespace rooflab::eager
