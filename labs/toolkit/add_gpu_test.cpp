#include "toolkit/add.h"

#include <gtest/gtest.h>

#include "toolkit/testing/device_array.h"

namespace rooflab {
namespace {

template <typename T>
class AddTest : public testing::Test {};

using Types = testing::Types<float, __nv_bfloat16>;
TYPED_TEST_SUITE(AddTest, Types, );

/// The sum in fp32, then in T. In fp64 it has so many digits more that it can be rounded to fp32 as
/// if it were exact.
template <typename T>
T expected_sum(T x, T y) {
  return rounded<T>(static_cast<float>(widened(x) + widened(y)));
}

TYPED_TEST(AddTest, AddsEveryElementAndNothingBehindTheLast) {
  for (const int count : {1, 31, 255, 256, 257, 1000, 70001}) {
    const auto x = varied<TypeParam>(count + 1, 2 * count);
    const auto y = varied<TypeParam>(count + 1, 2 * count + 1, 100);
    const DeviceArray<TypeParam> on_x(x), on_y(y);
    add(on_x.data(), on_y.data(), count, nullptr);
    const std::vector<TypeParam> sums = on_x.host();
    const std::vector<TypeParam> addends = on_y.host();
    for (int i = 0; i <= count; ++i) {
      const TypeParam expected = i < count ? expected_sum(x[i], y[i]) : x[i];
      ASSERT_EQ(widened(sums[i]), widened(expected)) << "element " << i << " of " << count;
      ASSERT_EQ(widened(addends[i]), widened(y[i])) << "y was changed at " << i;
    }
  }
}

TYPED_TEST(AddTest, NeedsNoAlignmentBeyondAnElement) {
  const int count = 300;
  const auto x = varied<TypeParam>(count + 1, 3);
  const auto y = varied<TypeParam>(count + 3, 4);
  const DeviceArray<TypeParam> on_x(x), on_y(y);
  add(on_x.data() + 1, on_y.data() + 3, count, nullptr);
  const std::vector<TypeParam> sums = on_x.host();
  EXPECT_EQ(widened(sums[0]), widened(x[0]));
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(widened(sums[i + 1]), widened(expected_sum(x[i + 1], y[i + 3]))) << "element " << i;
  }
}

TYPED_TEST(AddTest, DoublesWhatIsAddedToItself) {
  const auto x = varied<TypeParam>(77, 5);
  const DeviceArray<TypeParam> on_x(x);
  add(on_x.data(), on_x.data(), 77, nullptr);
  const std::vector<TypeParam> sums = on_x.host();
  for (int i = 0; i < 77; ++i) ASSERT_EQ(widened(sums[i]), 2 * widened(x[i])) << "element " << i;
}

TYPED_TEST(AddTest, DoesNothingForNoElements) {
  const auto x = varied<TypeParam>(1, 6);
  const DeviceArray<TypeParam> on_x(x);
  add(on_x.data(), on_x.data(), 0, nullptr);
  EXPECT_EQ(widened(on_x.host()[0]), widened(x[0]));
}

}  // namespace
}  // namespace rooflab
