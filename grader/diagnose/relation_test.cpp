#include "grader/diagnose/relation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>

#include <cmath>
#include <functional>
#include <random>

namespace rooflab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kTolerance = 1e-5;

/// A tensor of random numbers in [-1, 1], of which a mistake made others.
class Output {
 public:
  explicit Output(std::vector<std::int64_t> shape) : shape_(std::move(shape)) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape_) count *= static_cast<std::size_t>(extent);
    std::mt19937 random(7);
    std::uniform_real_distribution<double> draw(-1, 1);
    for (std::size_t i = 0; i < count; ++i) right_.push_back(draw(random));
  }

  double operator[](std::size_t i) const { return right_.at(i); }

  /// What is told when element i is `got(i)`: "RL0404 every element …"; empty when nothing is.
  std::string told(const std::function<double(std::size_t)>& got,
                   const std::map<std::string, double>& parameters = {}) const {
    TensorCheck check;
    check.real_parameters = parameters;
    check.tensor = "y";
    check.shape = shape_;
    check.expected = right_;
    check.tolerance.assign(right_.size(), kTolerance);
    for (std::size_t i = 0; i < right_.size(); ++i) {
      check.got.push_back(got(i));
      check.unwritten.push_back(false);
      check.wrong.push_back(!(std::abs(check.got[i] - right_[i]) <= kTolerance));
      check.wrong_count += check.wrong.back();
    }
    auto relation = relation_of_values(check, {});
    if (!relation) relation = relation_of_places(check, {});
    return relation ? relation->code.text() + " " + relation->message : "";
  }

 private:
  std::vector<std::int64_t> shape_;
  std::vector<double> right_;
};

/// A value that no rule makes.
double nonsense(std::size_t i) { return std::sin(static_cast<double>(i * i + 1)) * 3; }

TEST(RelationTest, OneValueEverywhereIsToldWithIt) {
  EXPECT_THAT(Output({4, 8}).told([](std::size_t) { return 0.25; }),
              HasSubstr("RL0432 every element of y is 0.25"));
}

TEST(RelationTest, AFactorIsToldAsCountsAndPartsAre) {
  const Output y({4, 8});
  const auto times = [&](double factor) {
    return y.told([&, factor](std::size_t i) { return factor * y[i]; });
  };
  EXPECT_EQ(times(32), "RL0404 every element of y is 32 times what it should be");
  EXPECT_EQ(times(0.125), "RL0404 every element of y is 1/8 times what it should be");
  EXPECT_EQ(times(-1), "RL0404 every element of y is minus once what it should be");
  EXPECT_EQ(times(0.6931), "RL0404 every element of y is 0.6931 times what it should be");
}

TEST(RelationTest, AFactorThatIsAParameterOfTheProblemIsToldByItsName) {
  const Output y({4, 8});
  const auto told = [&](double factor, const std::map<std::string, double>& parameters) {
    return y.told([&, factor](std::size_t i) { return factor * y[i]; }, parameters);
  };
  const std::map<std::string, double> parameters{{"scale", 0.4535}, {"epsilon", 1e-6}};
  EXPECT_EQ(
      told(0.4535, parameters),
      "RL0404 every element of y is 0.4535 times what it should be: it is multiplied by scale "
      "once too often");
  EXPECT_EQ(
      told(1 / 0.4535, parameters),
      "RL0404 every element of y is 2.205 times what it should be: it lacks the factor scale");
  EXPECT_THAT(told(0.46, parameters), Not(HasSubstr("scale")));
  EXPECT_THAT(told(0.4535, {{"scale", 0.4535}, {"beta", 0.4535}}), Not(HasSubstr("scale")))
      << "either may be meant";
}

TEST(RelationTest, AFactorNearOneHasTheDigitsThatTellIt) {
  const Output y({4, 8});
  EXPECT_EQ(y.told([&](std::size_t i) { return 1.0002 * y[i]; }),
            "RL0404 every element of y is 1.0002 times what it should be");
  EXPECT_EQ(y.told([&](std::size_t i) { return 2.003 * y[i]; }),
            "RL0404 every element of y is 2.003 times what it should be");
}

TEST(RelationTest, AFactorThatMissesOneElementIsNone) {
  const Output y({4, 8});
  EXPECT_EQ(y.told([&](std::size_t i) { return i == 5 ? nonsense(i) : 2 * y[i]; }), "");
}

TEST(RelationTest, EachRowOrColumnMayHaveAFactor) {
  const Output y({16, 16});
  EXPECT_THAT(
      y.told([&](std::size_t i) {
        const std::size_t row = i / 16;
        return y[i] * (2 + static_cast<double>(row));
      }),
      HasSubstr("RL0409 each row of y is right but for a factor of its own: 2 in row 0, 17 in"));
  EXPECT_THAT(
      y.told([&](std::size_t i) { return y[i] * (2 + static_cast<double>(i % 16)); }),
      HasSubstr("RL0409 each column of y is right but for a factor of its own: 2 in column 0"));
  EXPECT_THAT(y.told([&](std::size_t i) { return i >= 128 ? y[i] / 2 : y[i]; }),
              HasSubstr("RL0409 8 rows of y are 1/2 times"));
}

TEST(RelationTest, AFactorThatMovesNothingIsNone) {
  const Output y({4, 8});
  // Some elements are off by little, and no factor but 1 would do.
  EXPECT_THAT(y.told([&](std::size_t i) { return i % 3 == 0 ? y[i] + 1.1 * kTolerance : y[i]; }),
              Not(HasSubstr("RL0404")));
}

TEST(RelationTest, RowsOfZerosHaveNoFactor) {
  const Output y({16, 16});
  EXPECT_THAT(y.told([&](std::size_t i) { return i >= 96 && i < 144 ? 0.0 : y[i]; }),
              Not(HasSubstr("RL0409")));
}

TEST(RelationTest, RightValuesInWrongPlacesAreFound) {
  const Output y({6, 8});
  EXPECT_THAT(y.told([&](std::size_t i) { return y[i % 8]; }),
              HasSubstr("RL0434 every row of y holds what belongs in the first one"));
  EXPECT_THAT(y.told([&](std::size_t i) { return y[i % 16]; }),
              HasSubstr("RL0434 the first 2 rows of y are repeated"));
  EXPECT_THAT(y.told([&](std::size_t i) { return y[(i / 8 + 1) % 6 * 8 + i % 8]; }),
              HasSubstr("RL0433 the rows of y hold right values, in the wrong places: row 0 holds "
                        "what belongs in row 1"));
  EXPECT_THAT(y.told([&](std::size_t i) { return y[i / 8 * 8 + (i + 4) % 8]; }),
              HasSubstr("column 0 holds what belongs in column 4"));
  EXPECT_THAT(y.told([&](std::size_t i) { return y[i % 6 * 8 + i / 6]; }),
              HasSubstr("dimensions 0 and 1 of its shape were swapped"));
  const Output tiled({8, 12});
  EXPECT_THAT(tiled.told([&](std::size_t i) {
    const std::size_t row = i / 12, column = i % 12;
    return tiled[(row / 4 * 4 + column % 4) * 12 + column / 4 * 4 + row % 4];
  }),
              HasSubstr("RL0433 each tile of 4 x 4 elements of y is transposed"));
  const Output vector({40});
  EXPECT_THAT(vector.told([&](std::size_t i) { return i == 39 ? 9.0 : vector[i + 1]; }),
              HasSubstr("RL0433 every element of y holds what belongs in the next one"));
}

TEST(RelationTest, SmallErrorsAreRoundingsAndLargeOnesAreNot) {
  const Output y({4, 8});
  const auto with_error = [&](double share) {
    return y.told([&, share](std::size_t i) { return y[i] + share * nonsense(i) / 3; });
  };
  EXPECT_THAT(with_error(1e-3), HasSubstr("RL0435 all errors are small"));
  EXPECT_EQ(with_error(0.3), "");
}

TEST(RelationTest, PlacesOfWrongElementsTellTilesSlicesAndSteps) {
  const Output y({20, 40});
  const auto wrong_where = [&](const std::function<bool(std::size_t, std::size_t)>& is_wrong) {
    return y.told([&](std::size_t i) { return is_wrong(i / 40, i % 40) ? nonsense(i) : y[i]; });
  };
  EXPECT_THAT(wrong_where([](std::size_t, std::size_t column) { return column >= 32; }),
              HasSubstr("RL0436 only the columns of the last, partial tile are wrong, from 32 on"));
  EXPECT_THAT(wrong_where([](std::size_t row, std::size_t) { return row >= 16; }),
              HasSubstr("RL0436 only the rows of the last, partial tile"));
  EXPECT_THAT(wrong_where([](std::size_t row, std::size_t) { return row > 0; }),
              HasSubstr("RL0434 the first of the rows is right, and all others are wrong"));
  EXPECT_THAT(wrong_where([](std::size_t, std::size_t column) { return column % 4 == 3; }),
              HasSubstr("RL0437 1 of every 4 columns are wrong"));
  EXPECT_THAT(wrong_where([](std::size_t, std::size_t column) { return column >= 8; }),
              HasSubstr("RL0437 the first 8 columns are right"));
  EXPECT_EQ(wrong_where([](std::size_t row, std::size_t column) { return row * column % 7 == 3; }),
            "");
}

TEST(RelationTest, AFewOfManyWrongElementsMayBeRightByChance) {
  const Output row({1, 1000});
  const auto right_too = [&](const std::vector<std::size_t>& columns) {
    return row.told([&](std::size_t i) {
      return i == 0 || std::ranges::find(columns, i) != columns.end() ? row[i] : nonsense(i);
    });
  };
  for (const std::vector<std::size_t>& few : {std::vector<std::size_t>{}, {500}, {17, 18, 999}}) {
    EXPECT_THAT(right_too(few), HasSubstr("RL0434 the first of the columns is right"));
  }
  EXPECT_EQ(right_too({100, 200, 300, 400, 500, 600, 700, 800}), "");
}

TEST(RelationTest, ThatTheFirstOfManyTokensIsRightTellsNothing) {
  // It is the only one that sees no others: what is wrong with them does not reach it.
  const Output y({2, 10, 6});
  const auto token = [](std::size_t i) { return i / 6 % 10; };
  EXPECT_EQ(y.told([&](std::size_t i) { return token(i) > 0 ? nonsense(i) : y[i]; }), "");
  EXPECT_THAT(y.told([&](std::size_t i) { return i >= 60 ? nonsense(i) : y[i]; }),
              HasSubstr("RL0434 the first of the places along dimension 0 is right"));
}

TEST(RelationTest, AHiddenCaseTellsNoFigures) {
  TensorCheck check;
  check.tensor = "y";
  check.shape = {8, 8};
  for (int i = 0; i < 64; ++i) {
    check.expected.push_back(nonsense(static_cast<std::size_t>(i)));
    const int row = i / 8;
    check.got.push_back(check.expected.back() * (1 + row));
    check.tolerance.push_back(kTolerance);
    check.unwritten.push_back(false);
    check.wrong.push_back(row > 0);
    check.wrong_count += i >= 8;
  }
  DiagnoseContext context;
  context.hidden = true;
  const auto relation = relation_of_values(check, context);
  ASSERT_TRUE(relation);
  EXPECT_EQ(relation->message, "each row of y is right but for a factor of its own");
}

TEST(RelationTest, WhatIsNotFiniteHasNoRelation) {
  const Output y({4, 8});
  EXPECT_THAT(y.told([&](std::size_t i) { return i < 3 ? NAN : 2 * y[i]; }),
              Not(HasSubstr("RL0404")));
}

}  // namespace
}  // namespace rooflab
