// Loads and stores of toolkit/vectors.h at every place within 16 bytes and at every kind of end.
#include <gtest/gtest.h>

#include <limits>

#include "toolkit/testing/device_array.h"
#include "toolkit/testing/vector_kernels.h"

namespace rooflab {
namespace {

template <typename T>
class VectorsTest : public testing::Test {
 protected:
  static constexpr int kVector = 16 / sizeof(T);

  /// Numbers of elements: less than a vector, whole vectors, and one more or less; several blocks.
  static std::vector<int> counts() {
    return {1, 2, kVector - 1, kVector, kVector + 1, 2 * kVector, 5 * kVector + 3, 1001};
  }
  static int whole_vectors(int count) { return (count + kVector - 1) / kVector * kVector; }
};

using Types = testing::Types<float, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(VectorsTest, Types, );

TYPED_TEST(VectorsTest, LoadsEveryElementAndZerosBehindTheEnd) {
  for (int offset = 0; offset < TestFixture::kVector; ++offset) {
    for (const int count : TestFixture::counts()) {
      const auto source = varied<TypeParam>(offset + count, 7 * count + offset);
      const DeviceArray<TypeParam> on_device(source);  // ends with the last element
      const DeviceArray<float> loaded(std::vector<float>(this->whole_vectors(count), NAN));
      load_all(on_device.data() + offset, count, loaded.data());
      const std::vector<float> values = loaded.host();
      for (int i = 0; i < static_cast<int>(values.size()); ++i) {
        ASSERT_EQ(values[i], i < count ? widened(source[offset + i]) : 0.0)
            << "element " << i << " of " << count << ", " << offset << " behind a vector's place";
      }
    }
  }
}

TYPED_TEST(VectorsTest, StoresEveryElementAndNothingAround) {
  const TypeParam untouched = rounded<TypeParam>(-1234.0);
  for (int offset = 0; offset < TestFixture::kVector; ++offset) {
    for (const int count : TestFixture::counts()) {
      const auto values = varied<float>(this->whole_vectors(count), 5 * count + offset);
      const DeviceArray<float> on_device(values);
      const int size = offset + count + TestFixture::kVector;
      const DeviceArray<TypeParam> stored(std::vector<TypeParam>(size, untouched));
      store_all(stored.data() + offset, count, on_device.data());
      const std::vector<TypeParam> result = stored.host();
      for (int i = 0; i < size; ++i) {
        const bool inside = i >= offset && i < offset + count;
        const TypeParam expected = inside ? rounded<TypeParam>(values[i - offset]) : untouched;
        ASSERT_EQ(widened(result[i]), widened(expected))
            << "place " << i << ", where " << count << " elements begin at " << offset;
      }
    }
  }
}

TYPED_TEST(VectorsTest, RoundsToNearestAndTiesToEven) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {1.0f,        1.00390625f,    1.01171875f, -1.00390625f,
                                     1.00390637f, 255.75f,        3.0e38f,     kInfinity,
                                     -kInfinity,  1.1754944e-38f, -0.0f,       0.3f};
  for (const int count : {12, 11}) {  // whole vectors of floats; an end
    const DeviceArray<float> on_device([&] {
      auto padded = values;
      padded.resize(16);
      return padded;
    }());
    const DeviceArray<TypeParam> stored(std::vector<TypeParam>(16, rounded<TypeParam>(9.0)));
    store_all(stored.data(), count, on_device.data());
    const std::vector<TypeParam> result = stored.host();
    for (int i = 0; i < count; ++i) {
      const double expected = widened(rounded<TypeParam>(values[i]));
      EXPECT_EQ(widened(result[i]), expected) << "of " << values[i];
      EXPECT_EQ(std::signbit(widened(result[i])), std::signbit(expected)) << "of " << values[i];
    }
  }
}

TYPED_TEST(VectorsTest, KeepsNotANumber) {
  const DeviceArray<float> nan(std::vector<float>(TestFixture::kVector, NAN));
  for (const int count : {1, TestFixture::kVector}) {
    const DeviceArray<TypeParam> stored(
        std::vector<TypeParam>(TestFixture::kVector, rounded<TypeParam>(0.0)));
    const DeviceArray<float> loaded(std::vector<float>(TestFixture::kVector, 0.0f));
    store_all(stored.data(), count, nan.data());
    load_all(stored.data(), count, loaded.data());
    const std::vector<float> values = loaded.host();
    for (int i = 0; i < count; ++i) EXPECT_TRUE(std::isnan(values[i])) << i;
  }
}

}  // namespace
}  // namespace rooflab
