#include "grader/reactions/changed_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "grader/contract/elements.h"

namespace rooflab {
namespace {

TEST(PutElementTest, KeepsEveryValueOfASixteenBitType) {
  for (const ElementType type : {ElementType::float16, ElementType::bfloat16}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto pattern = static_cast<std::uint16_t>(bits);
      const float value = type == ElementType::float16 ? float_from_half_bits(pattern)
                                                       : float_from_bfloat16_bits(pattern);
      if (std::isnan(value)) continue;
      std::vector<std::byte> bytes(2);
      put_element(type, bytes, 0, value);
      EXPECT_EQ(element_at(type, bytes, 0), value);
    }
  }
}

TEST(PutElementTest, RoundsHalvesToTheNearestAndTiesToEven) {
  const auto rounded = [](double value) {
    std::vector<std::byte> bytes(2);
    put_element(ElementType::float16, bytes, 0, value);
    return element_at(ElementType::float16, bytes, 0);
  };
  EXPECT_EQ(rounded(2049), 2048);
  EXPECT_EQ(rounded(2051), 2052);
  EXPECT_EQ(rounded(-2050.5), -2050);
  EXPECT_EQ(rounded(65519), 65504);
  EXPECT_EQ(rounded(65520), std::numeric_limits<double>::infinity());
}

TEST(MoveElementsTest, PutsZerosWhereNothingIs) {
  Tensor tensor{.name = "x", .shape = {3}, .data = std::vector<std::byte>(12)};
  change_elements(tensor, [](std::size_t i, double) { return static_cast<double>(i + 1); });
  move_elements(tensor, [](std::int64_t i) { return i + 1; });
  EXPECT_EQ(element_at(tensor.type, tensor.data, 0), 2);
  EXPECT_EQ(element_at(tensor.type, tensor.data, 2), 0);
}

TEST(CoordinateTest, CountsFromTheLastAxis) {
  EXPECT_EQ(coordinate_of({2, 3, 4}, 0, 17), 1);
  EXPECT_EQ(coordinate_of({2, 3, 4}, 1, 17), 1);
  EXPECT_EQ(coordinate_of({2, 3, 4}, 2, 17), 1);
}

}  // namespace
}  // namespace rooflab
