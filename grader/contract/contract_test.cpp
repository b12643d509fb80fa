#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "grader/contract/elements.h"
#include "grader/contract/problem.h"

namespace rooflab {
namespace {

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::int64_t elements_of(std::vector<std::int64_t> shape) {
  Tensor tensor;
  tensor.shape = std::move(shape);
  return tensor.elements();
}

TEST(TensorTest, CountsItsElementsAsTheProductOfItsShape) {
  EXPECT_EQ(elements_of({3, 4, 5}), 60);
  EXPECT_EQ(elements_of({}), 1);
  EXPECT_EQ(elements_of({3, 0}), 0);
}

TEST(ElementTypeTest, HasTheSizeThatItHasOnTheDevice) {
  EXPECT_EQ(size_of(ElementType::float32), 4U);
  EXPECT_EQ(size_of(ElementType::float64), 8U);
  EXPECT_EQ(size_of(ElementType::float16), 2U);
  EXPECT_EQ(size_of(ElementType::bfloat16), 2U);
  EXPECT_EQ(size_of(ElementType::int32), 4U);
}

// The oracle is the definition of binary16 evaluated with ldexp, over all bit patterns.
TEST(ElementTest, WidensEveryHalfAsIeee754DefinesIt) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>((bits >> 10) & 31);
    const int fraction = static_cast<int>(bits & 1023);
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    const float got = float_from_half_bits(static_cast<std::uint16_t>(bits));
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(got), fraction != 0) << bits;
      EXPECT_EQ(std::isinf(got), fraction == 0) << bits;
      continue;
    }
    const double expected =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    EXPECT_EQ(got, sign * expected) << bits;
    EXPECT_EQ(std::signbit(got), sign < 0) << bits;
  }
}

TEST(ElementTest, ReadsEachTypeAtItsOwnStride) {
  EXPECT_EQ(element_at(ElementType::float32, bytes_of<float>({1.5F, -2.25F}), 1), -2.25);
  EXPECT_EQ(element_at(ElementType::float64, bytes_of<double>({1, 0.1}), 1), 0.1);
  EXPECT_EQ(element_at(ElementType::int32, bytes_of<std::int32_t>({7, -9}), 1), -9);
  EXPECT_EQ(element_at(ElementType::float16, bytes_of<std::uint16_t>({0, 0x3C00}), 1), 1.0);
  EXPECT_EQ(element_at(ElementType::bfloat16, bytes_of<std::uint16_t>({0, 0xC040}), 1), -3.0);
}

TEST(ValueTest, IsWrittenAsAReaderExpectsIt) {
  EXPECT_EQ(text_of(Value{std::int64_t{-7}}), "-7");
  EXPECT_EQ(text_of(Value{16.0}), "16");
  EXPECT_EQ(text_of(Value{1.0 / 3}), "0.3333333333");
  EXPECT_EQ(text_of(Value{1e300}), "1e+300");
  EXPECT_EQ(text_of(Value{-std::numeric_limits<double>::quiet_NaN()}), "NaN");
  EXPECT_EQ(text_of(Value{std::string("ab")}), "\"ab\"");
  EXPECT_EQ(text_of(Values{{"k", std::int64_t{64}}, {"alpha", 0.5}}), "alpha = 0.5, k = 64");
}

TEST(PoisonTest, IsANanInEveryFloatingPointType) {
  const std::vector<std::byte> poison(8, kPoisonByte);
  for (const ElementType type :
       {ElementType::float32, ElementType::float64, ElementType::float16, ElementType::bfloat16}) {
    EXPECT_TRUE(std::isnan(element_at(type, poison, 0)));
    EXPECT_TRUE(is_poisoned(type, poison, 0));
  }
}

TEST(PoisonTest, IsNotTheNanThatArithmeticMakes) {
  const auto gpu_nan = std::bit_cast<float>(0x7FFFFFFFU);
  EXPECT_FALSE(is_poisoned(ElementType::float32, bytes_of<float>({gpu_nan}), 0));
  EXPECT_FALSE(is_poisoned(ElementType::float32,
                           bytes_of<float>({std::numeric_limits<float>::quiet_NaN()}), 0));
}

TEST(ElementsTest, AnInfinityIsOnlyItself) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(is_within_tolerance(kInfinity, kInfinity, 0));
  EXPECT_FALSE(is_within_tolerance(7368.0, kInfinity, kInfinity));
  EXPECT_FALSE(is_within_tolerance(-kInfinity, kInfinity, kInfinity));
  EXPECT_TRUE(is_within_tolerance(7368.0, 1.0, kInfinity));
}

}  // namespace
}  // namespace rooflab
