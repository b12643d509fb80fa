#include "labs/oracle_support/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SelectionTest, TakesAllElementsOfASmallOutput) {
  EXPECT_THAT(selected_elements(1000, 1000, 1), IsEmpty());
  EXPECT_THAT(listed({}, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(listed({4, 7}, 9), ElementsAre(4, 7));
}

TEST(SelectionTest, TakesBothEndsOfALargeOneAndOthersInOrder) {
  const std::vector<std::size_t> index = selected_elements(1'000'000, 1000, 1);
  EXPECT_TRUE(std::ranges::is_sorted(index));
  EXPECT_EQ(std::set(index.begin(), index.end()).size(), index.size());
  EXPECT_GT(index.size(), 1150U);
  EXPECT_LE(index.size(), 1200U);
  EXPECT_EQ(index[99], 99U);
  EXPECT_EQ(index[index.size() - 100], 999'900U);
}

TEST(SelectionTest, DependsOnTheSecretAlone) {
  EXPECT_EQ(selected_elements(1'000'000, 1000, 1), selected_elements(1'000'000, 1000, 1));
  const auto some = selected_elements(1'000'000, 1000, 1);
  const auto others = selected_elements(1'000'000, 1000, 2);
  std::vector<std::size_t> both;
  std::ranges::set_intersection(some, others, std::back_inserter(both));
  EXPECT_LT(both.size(), 210U) << "the 200 at the ends, and few by chance";
}

TEST(SelectionTest, OfRowsIsAsLargeAsWasAsked) {
  EXPECT_EQ(selected_rows(50, 64, 1).size(), 50U);
  const std::vector<std::int64_t> rows = selected_rows(1000, 64, 1);
  EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), 64U);
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  EXPECT_EQ(rows[15], 15);
  EXPECT_EQ(rows[48], 984);
  EXPECT_NE(rows, selected_rows(1000, 64, 2));
}

}  // namespace
}  // namespace rooflab
