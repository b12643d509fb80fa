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

/// One output, y, of a million elements, in rows of 100.
class SelectionInAnOutput : public testing::Test {
 protected:
  SelectionInAnOutput() {
    Tensor y;
    y.name = "y";
    y.role = Role::output;
    y.shape = {10'000, 100};
    problem_.tensors = {y};
    problem_.selection = 1;
  }
  bool is_written(std::size_t element) const {
    return std::ranges::any_of(problem_.written.at("y"), [&](const ElementRange& range) {
      return element >= range.first && element < range.first + range.count;
    });
  }
  Problem problem_;
};

TEST_F(SelectionInAnOutput, IsThatOfItsSizeWhereAllOfItWasWritten) {
  EXPECT_EQ(selected_elements(problem_, "y", 1000), selected_elements(1'000'000, 1000, 1));
  EXPECT_EQ(selected_rows(problem_, "y", 100, 64), selected_rows(10'000, 64, 1));
}

TEST_F(SelectionInAnOutput, TakesWhatWasWrittenAlone) {
  problem_.written["y"] = {{150, 1000}, {5000, 2000}, {999'000, 1000}};
  const std::vector<std::size_t> all = selected_elements(problem_, "y", 10'000);
  EXPECT_EQ(all.size(), 4000U);
  EXPECT_TRUE(std::ranges::all_of(all, [&](std::size_t i) { return is_written(i); }));
  EXPECT_TRUE(std::ranges::is_sorted(all));
  const std::vector<std::size_t> some = selected_elements(problem_, "y", 1000);
  EXPECT_LT(some.size(), 1201U);
  EXPECT_GT(some.size(), 900U);
  EXPECT_TRUE(std::ranges::includes(all, some));
}

TEST_F(SelectionInAnOutput, TakesRowsThatWereWrittenWhole) {
  problem_.written["y"] = {{150, 1000}, {5000, 50}};
  EXPECT_THAT(selected_rows(problem_, "y", 100, 64), ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 10));
  problem_.written["y"] = {{0, 1'000'000}};
  EXPECT_EQ(selected_rows(problem_, "y", 100, 64), selected_rows(10'000, 64, 1));
}

TEST_F(SelectionInAnOutput, IsThatOfItsSizeWhereNothingWasWritten) {
  problem_.written["y"] = {};
  EXPECT_EQ(selected_elements(problem_, "y", 1000), selected_elements(1'000'000, 1000, 1));
}

}  // namespace
}  // namespace rooflab
