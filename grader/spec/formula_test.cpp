#include "grader/spec/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rooflab {
namespace {

using testing::HasSubstr;

std::string refusal_of(const std::string& formula, const NamedNumbers& numbers = {}) {
  try {
    return "the value " + std::to_string(value_of(formula, numbers));
  } catch (const FormulaError& error) {
    return error.what();
  }
}

TEST(FormulaTest, OperatorsBindAsOnPaper) {
  EXPECT_EQ(value_of("1 + 2 * 3", {}), 7);
  EXPECT_EQ(value_of("7 - 2 - 1", {}), 4);
  EXPECT_EQ(value_of("24 / 4 / 3", {}), 2);
  EXPECT_EQ(value_of("2 ^ 3 ^ 2", {}), 512);
  EXPECT_EQ(value_of("-2 ^ 2", {}), -4);
  EXPECT_EQ(value_of("2 ^ -1", {}), 0.5);
  EXPECT_EQ(value_of("(1+2)*-(3)", {}), -9);
  EXPECT_EQ(value_of("24.8e12 / 1150e9", {}), 24.8e12 / 1150e9);
}

TEST(FormulaTest, NamesAreNumbersOfTheQuestion) {
  EXPECT_DOUBLE_EQ(value_of("2 * n^3 / (3 * 4 * n^2)", {{"n", 1700}}), 1700 / 6.0);
  EXPECT_EQ(value_of("head_size2", {{"head_size2", 64}}), 64);
  EXPECT_EQ(refusal_of("2 * n", {{"m", 1}}), "the question draws no number n (character 6)");
}

TEST(FormulaTest, FunctionsHaveTheirArguments) {
  EXPECT_EQ(value_of("max(1, 3, 2) + min(4, 5)", {}), 7);
  EXPECT_EQ(value_of("floor(2.7) + ceil(2.1)", {}), 5);
  EXPECT_DOUBLE_EQ(value_of("log(exp(2)) + sqrt(9)", {}), 5);
  EXPECT_EQ(value_of("floor((10000 + 191) / 192)", {}), 53);
  EXPECT_EQ(refusal_of("floor(1, 2)"), "there is no function floor of 2 arguments");
  EXPECT_EQ(refusal_of("system(1)"), "there is no function system of 1 arguments");
}

TEST(FormulaTest, WhatIsNoFormulaIsToldWithItsPlace) {
  EXPECT_THAT(refusal_of(""), HasSubstr("ends where a number or a name is expected (character 1)"));
  EXPECT_THAT(refusal_of("1 +"), HasSubstr("ends where"));
  EXPECT_THAT(refusal_of("(1"), HasSubstr("`)` is missing"));
  EXPECT_THAT(refusal_of("1 2"), HasSubstr("`2` is not expected (character 3)"));
  for (const char* text : {"1 = 1", "n; 1", "1 +\n2", "N", "\"a\"", "max(1,)", ".5", "1e999"}) {
    EXPECT_THAT(refusal_of(text, {{"n", 1}}), HasSubstr("(character ")) << text;
  }
}

TEST(FormulaTest, OnlyFiniteValuesCount) {
  EXPECT_EQ(refusal_of("1 / 0"), "its value is not finite");
  EXPECT_EQ(refusal_of("log(0)"), "its value is not finite");
  EXPECT_EQ(refusal_of("sqrt(-1)"), "its value is not finite");
  EXPECT_EQ(refusal_of("10 ^ 400"), "its value is not finite");
}

TEST(FormulaTest, LengthAndNestingAreBounded) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '(') + "1" + std::string(levels, ')');
  };
  EXPECT_EQ(value_of(nested(20), {}), 1);
  EXPECT_THAT(refusal_of(nested(200)), HasSubstr("nests too deep"));
  EXPECT_THAT(refusal_of(std::string(200, '-') + "1"), HasSubstr("nests too deep"));
  EXPECT_THAT(refusal_of("2" + std::string(99, '^') + "2"), HasSubstr("(character 3)"));
  std::string tower = "1";
  for (int i = 0; i < 100; ++i) tower += "^1";
  EXPECT_THAT(refusal_of(tower), HasSubstr("nests too deep"));
  EXPECT_THAT(refusal_of(std::string(100'000, '(')), HasSubstr("more than 500 characters"));
}

}  // namespace
}  // namespace rooflab
