#include "labs/part4-fusion/oracle/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace rooflab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;
using ::testing::Pair;
using ::testing::ThrowsMessage;

double value_of(const std::string& text, const std::vector<double>& inputs = {}) {
  return PostfixExpression(text).evaluate(inputs).value;
}

TEST(PostfixExpressionTest, ReadsOperandsInTheirOrder) {
  EXPECT_EQ(value_of("x0 x1 sub", {5, 3}), 2);
  EXPECT_EQ(value_of("x0 x1 div", {6, 3}), 2);
  EXPECT_EQ(value_of("x0 x1 x2 select", {1, 5, 7}), 5);
  EXPECT_EQ(value_of("x0 x1 x2 select", {0, 5, 7}), 7);
  EXPECT_EQ(value_of("x0 dup mul", {3}), 9);
  EXPECT_EQ(value_of("x2 neg abs sqrt", {0, 0, 16}), 4);
}

TEST(PostfixExpressionTest, LetsNansAndInfinitiesPassAsCudaDoes) {
  EXPECT_EQ(value_of("nan x0 max", {3}), 3);
  EXPECT_EQ(value_of("x0 nan min", {3}), 3);
  EXPECT_EQ(value_of("nan x0 x1 select", {3, 4}), 4);
  EXPECT_EQ(value_of("x0 inf min", {3}), 3);
  EXPECT_EQ(value_of("x0 inf div", {3}), 0);
  EXPECT_EQ(value_of("-inf exp"), 0);
}

TEST(PostfixExpressionTest, BoundsWhatFp32ArithmeticMayBeOff) {
  for (double x = -2; x <= 2; x += 0.001) {
    const auto f = static_cast<float>(x);
    const float sigmoid = 1.0F / (1.0F + std::exp(-f));
    const float gelu = 0.5F * f * (1.0F + std::tanh(0.7978846F * (f + 0.044715F * f * f * f)));
    const Approximate s = PostfixExpression("1 1 x0 neg exp add div").evaluate({f});
    const Approximate g =
        PostfixExpression(
            "0.5 x0 mul 1 0.7978846 x0 0.044715 x0 mul x0 mul x0 mul add mul tanh "
            "add mul")
            .evaluate({f});
    EXPECT_LE(std::abs(sigmoid - s.value), s.error);
    EXPECT_LE(std::abs(gelu - g.value), g.error);
    EXPECT_LT(s.error, 1e-6);
    EXPECT_LT(g.error, 2e-6);
  }
}

TEST(PostfixExpressionTest, KnowsExtremesByComparison) {
  const auto both = [](const char* text) {
    return std::pair{PostfixExpression(text).evaluate({3}).value,
                     PostfixExpression(text, {.extremes_by_comparison = true}).evaluate({3}).value};
  };
  EXPECT_THAT(both("x0 nan min"), Pair(3, IsNan()));
  EXPECT_THAT(both("x0 nan max"), Pair(3, IsNan()));
  EXPECT_THAT(both("nan x0 min"), Pair(3, 3));
  EXPECT_THAT(both("x0 2 min"), Pair(2, 2));
}

TEST(PostfixExpressionTest, WidensAChoiceThatRoundingMayTurn) {
  const Approximate exact = PostfixExpression("x0 1 2 select").evaluate({0});
  EXPECT_EQ(exact.error, 0);
  const Approximate unsure = PostfixExpression("x0 exp 1 sub 1 2 select").evaluate({0});
  EXPECT_GE(unsure.error, 1);
}

TEST(PostfixExpressionTest, ListsTheInputsThatItUses) {
  EXPECT_THAT(PostfixExpression("x7 x2 add x7 mul").used_inputs(), ElementsAre(2, 7));
}

TEST(PostfixExpressionTest, RefusesWhatIsNoExpression) {
  EXPECT_THAT([] { PostfixExpression("x0 add"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("too few values for add")));
  EXPECT_THAT([] { PostfixExpression("x0 x1"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("other than one value")));
  EXPECT_THAT([] { PostfixExpression("x0 sinh"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("sinh")));
}

}  // namespace
}  // namespace rooflab
