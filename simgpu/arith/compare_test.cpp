#include "simgpu/arith/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace simgpu::arith {
namespace {

using enum Comparison;

/// Rows: a < b, a == b, a > b, unordered; columns as the PTX ISA's table of comparison operators.
struct Truth {
  Comparison comparison;
  bool less, equal, greater, unordered;
};
constexpr Truth kTruths[] = {
    {eq, false, true, false, false}, {ne, true, false, true, false},
    {lt, true, false, false, false}, {le, true, true, false, false},
    {gt, false, false, true, false}, {ge, false, true, true, false},
    {equ, false, true, false, true}, {neu, true, false, true, true},
    {ltu, true, false, false, true}, {leu, true, true, false, true},
    {gtu, false, false, true, true}, {geu, false, true, true, true},
    {num, true, true, true, false},  {nan, false, false, false, true},
};

template <class Number>
class Compare : public testing::Test {};
using Types = testing::Types<float, double, std::int16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Compare, Types);

TYPED_TEST(Compare, FollowsItsTruthTable) {
  using Number = TypeParam;
  for (const Truth& truth : kTruths) {
    const auto result = [&](Number a, Number b) { return compare(truth.comparison, a, b); };
    EXPECT_EQ(result(Number(-3), Number(2)), truth.less);
    EXPECT_EQ(result(Number(7), Number(7)), truth.equal);
    EXPECT_EQ(result(Number(2), Number(-3)), truth.greater);
    if constexpr (std::is_floating_point_v<Number>) {
      const Number not_a_number = std::numeric_limits<Number>::quiet_NaN();
      EXPECT_EQ(result(Number{1}, not_a_number), truth.unordered);
      EXPECT_EQ(result(not_a_number, Number{1}), truth.unordered);
      EXPECT_EQ(result(not_a_number, not_a_number), truth.unordered);
      EXPECT_EQ(result(Number(-0.0), Number(0.0)), truth.equal);
      EXPECT_EQ(result(-std::numeric_limits<Number>::infinity(), Number(0.0)), truth.less);
    }
  }
}

TEST(CompareUnsigned, TakesTheTopBitAsMagnitude) {
  EXPECT_TRUE(compare(gt, 0x80000000u, 1u));
  EXPECT_TRUE(compare(lt, std::uint16_t{1}, std::uint16_t{0xffff}));
}

TEST(ComparisonNames, IncludeTheUnsignedSpellings) {
  EXPECT_EQ(comparison_of("lo"), lt);
  EXPECT_EQ(comparison_of("ls"), le);
  EXPECT_EQ(comparison_of("hi"), gt);
  EXPECT_EQ(comparison_of("hs"), ge);
  EXPECT_EQ(comparison_of("geu"), geu);
  EXPECT_EQ(comparison_of("f32"), std::nullopt);
}

TEST(PredicateJoins, CombineAsLogicSays) {
  for (const bool compared : {false, true}) {
    for (const bool predicate : {false, true}) {
      EXPECT_EQ(join(PredicateJoin::none, compared, predicate), compared);
      EXPECT_EQ(join(PredicateJoin::conjunction, compared, predicate), compared & predicate);
      EXPECT_EQ(join(PredicateJoin::disjunction, compared, predicate), compared | predicate);
      EXPECT_EQ(join(PredicateJoin::exclusive, compared, predicate), compared ^ predicate);
      for (const auto how : {PredicateJoin::none, PredicateJoin::conjunction,
                             PredicateJoin::disjunction, PredicateJoin::exclusive}) {
        EXPECT_EQ(join_masks(how, compared ? 4U : 0U, predicate ? 4U : 0U),
                  join(how, compared, predicate) ? 4U : 0U);
      }
    }
  }
}

TEST(Select, TakesTheSecondForNegativeOrNan) {
  EXPECT_EQ(slct(1, 2, 0), 1);
  EXPECT_EQ(slct(1, 2, -1), 2);
  EXPECT_EQ(slct(1, 2, -0.0f), 1);
  EXPECT_EQ(slct(1, 2, std::nanf("")), 2);
}

}  // namespace
}  // namespace simgpu::arith
