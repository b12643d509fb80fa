#include "grader/spec/pattern.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace rooflab {
namespace {

using testing::ElementsAre;

TEST(PatternTest, AllOfTheTextHasToFit) {
  const Pattern word("[a-z]+");
  EXPECT_TRUE(word.fits("gemm"));
  EXPECT_FALSE(word.fits("gemm1"));
  EXPECT_FALSE(word.fits(""));
  EXPECT_TRUE(word.occurs_in("1gemm1"));
  EXPECT_FALSE(word.occurs_in("123"));
}

TEST(PatternTest, AMatchSaysWhereItIsAndWhatItsGroupsAre) {
  const Pattern call(R"((\w+)\((x)?\))");
  const auto found = call.first("  f() g(x)");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begin, 2U);
  EXPECT_EQ(found->end, 5U);
  EXPECT_THAT(found->groups, ElementsAre("f()", "f", ""));
}

TEST(PatternTest, AllMatchesComeFromLeftToRight) {
  std::vector<std::string> names;
  for (const auto& found : Pattern(R"(\{(\w+)\})").all("{m} by {n}, {m}")) {
    names.push_back(found.groups.at(1));
  }
  EXPECT_THAT(names, ElementsAre("m", "n", "m"));
}

TEST(PatternTest, WhatIsNoRegularExpressionIsRefused) {
  EXPECT_THROW(Pattern("(a"), std::invalid_argument);
}

TEST(PatternTest, AnIdentifierIsPlain) {
  EXPECT_TRUE(is_identifier("tile_16"));
  for (const char* name : {"", "16", "_a", "Tile", "a-b", "a\n", "a b"}) {
    EXPECT_FALSE(is_identifier(name)) << name;
  }
}

}  // namespace
}  // namespace rooflab
