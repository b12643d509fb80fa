#include "simgpu/sass/least_deviation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace simgpu::sass {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kNear = 1e-6;

TEST(LeastDeviation, MeetsEquationsThatAgree) {
  // x + y = 10, x - y = 4
  const auto solved = solve({{.terms = {{0, 1}, {1, 1}}, .value = 10, .weight = 1},
                             {.terms = {{0, 1}, {1, -1}}, .value = 4, .weight = 1}},
                            {0, 0});
  ASSERT_TRUE(solved);
  EXPECT_THAT(solved->unknowns, ElementsAre(DoubleNear(7, kNear), DoubleNear(3, kNear)));
}

TEST(LeastDeviation, ChargesABudgetWithWhatItDoesTheSameEachTime) {
  const std::vector<Equation> equations{{.terms = {{0, 1}, {1, 1}}, .value = 10, .weight = 1},
                                        {.terms = {{0, 1}, {1, -1}}, .value = 4, .weight = 1}};
  WorkBudget first(1000), second(1000), little(1);
  EXPECT_TRUE(solve(equations, {0, 0}, first));
  EXPECT_TRUE(solve(equations, {0, 0}, second));
  EXPECT_LT(first.left(), 1000U);
  EXPECT_EQ(first.left(), second.left());
  EXPECT_FALSE(solve(equations, {0, 0}, little));
  EXPECT_TRUE(little.is_spent());
}

TEST(LeastDeviation, GoesByTheHeavierOfTwoThatDisagree) {
  const auto solved = solve(
      {{.terms = {{0, 1}}, .value = 10, .weight = 1}, {.terms = {{0, 1}}, .value = 4, .weight = 3}},
      {0});
  ASSERT_TRUE(solved);
  EXPECT_THAT(solved->unknowns, ElementsAre(DoubleNear(4, kNear)));
}

TEST(LeastDeviation, TakesTheCheapestOfSeveralThatAgree) {
  // 4 x + y = 8, where x costs 2 and y costs 1
  const auto solved = solve({{.terms = {{0, 4}, {1, 1}}, .value = 8, .weight = 100}}, {2, 1});
  ASSERT_TRUE(solved);
  EXPECT_THAT(solved->unknowns, ElementsAre(DoubleNear(2, kNear), DoubleNear(0, kNear)));
}

TEST(LeastDeviation, KeepsUnknownsFromBecomingNegative) {
  // x = 0 and x + y = 5 and y = 7 do not agree; x = -2 would
  const auto solved = solve({{.terms = {{0, 1}, {1, 1}}, .value = 5, .weight = 10},
                             {.terms = {{1, 1}}, .value = 7, .weight = 1}},
                            {0, 0});
  ASSERT_TRUE(solved);
  EXPECT_THAT(solved->unknowns, ElementsAre(DoubleNear(0, kNear), DoubleNear(5, kNear)));
}

TEST(LeastDeviation, GivesUpWhatTakesTooMuchWork) {
  // Each equation has all unknowns, so that each step changes the whole table.
  constexpr std::uint32_t kMany = 1200;
  std::mt19937 random(1);
  std::vector<Equation> equations(kMany);
  for (Equation& equation : equations) {
    equation.value = 1 + random() % 100;
    for (std::uint32_t i = 0; i < kMany; ++i) {
      equation.terms.push_back({i, static_cast<double>(random() % 19) - 9});
    }
  }
  EXPECT_FALSE(solve(equations, std::vector<double>(kMany, 1)));
}

TEST(LeastDeviation, RefusesATableThatDoesNotFit) {
  const std::vector<Equation> many(5000, {.terms = {{0, 1}}, .value = 1, .weight = 1});
  EXPECT_FALSE(solve(many, {0}));
}

}  // namespace
}  // namespace simgpu::sass
