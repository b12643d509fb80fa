#include "grader/pipeline/check.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "grader/pipeline/fake_device.h"

namespace rooflab {
namespace {

Tensor tensor(const std::string& name, Role role, const std::vector<float>& values) {
  Tensor made;
  made.name = name;
  made.role = role;
  made.shape = {static_cast<std::int64_t>(values.size())};
  if (role != Role::output) made.data = bytes_of(values);
  return made;
}

/// y (4 elements) must become 1, 2, 3, 4 from x.
class CheckTest : public testing::Test {
 protected:
  CheckTest() {
    problem_.tensors = {tensor("x", Role::input, {1, 2, 3, 4}),
                        tensor("y", Role::output, {0, 0, 0, 0})};
  }

  std::vector<TensorCheck> check(const std::vector<float>& y) const {
    return wrong_tensors(problem_, expected_, {problem_.tensors[0].data, bytes_of(y)});
  }

  Problem problem_;
  std::vector<Expected> expected_ = {{"y", {1, 2, 3, 4}, {0.5, 0.5, 0.5, 0}}};
};

TEST_F(CheckTest, EveryElementWithinItsToleranceIsRight) {
  EXPECT_TRUE(check({1, 2, 3, 4}).empty());
  EXPECT_TRUE(check({1.5F, 1.5F, 3.25F, 4}).empty());
}

TEST_F(CheckTest, OneElementBeyondItsToleranceIsWrong) {
  const auto wrong = check({1, 2, 3, 4.0000005F});
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].tensor, "y");
  EXPECT_EQ(wrong[0].wrong_count, 1U);
  EXPECT_EQ(wrong[0].wrong, (std::vector<bool>{false, false, false, true}));
}

TEST_F(CheckTest, NanNeverPasses) {
  const float nan = std::bit_cast<float>(0x7FFFFFFFU);  // what arithmetic on a GPU makes
  const auto wrong = check({1, nan, 3, 4});
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].wrong_count, 1U);
  EXPECT_EQ(wrong[0].nan_count, 1U);
  EXPECT_EQ(wrong[0].unwritten_count, 0U);
}

TEST_F(CheckTest, NanNeverPassesWhateverTheToleranceIs) {
  expected_[0].tolerance.assign(4, std::numeric_limits<double>::infinity());
  EXPECT_EQ(check({1, std::nanf(""), 3, 4}).size(), 1U);
}

TEST_F(CheckTest, ACopyOfANanHasItsBits) {
  const float nan = std::bit_cast<float>(0x7FC20000U);
  const float other = std::bit_cast<float>(0x7FFFFFFFU);
  expected_[0].value[3] = nan;
  EXPECT_TRUE(check({1, 2, 3, nan}).empty());
  EXPECT_EQ(check({1, 2, 3, other}).size(), 1U);
  expected_[0].tolerance[3] = 1;
  EXPECT_EQ(check({1, 2, 3, nan}).size(), 1U);
}

TEST_F(CheckTest, ElementsThatStillHoldThePoisonAreUnwritten) {
  auto outputs = untouched(problem_);
  const float three = 3;
  std::memcpy(&outputs[1][8], &three, 4);
  const auto wrong = wrong_tensors(problem_, expected_, outputs);
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].wrong_count, 3U);
  EXPECT_EQ(wrong[0].unwritten_count, 3U);
  EXPECT_EQ(wrong[0].unwritten, (std::vector<bool>{true, true, false, true}));
  EXPECT_EQ(wrong[0].nan_count, 0U);
}

TEST_F(CheckTest, OfALargeOutputSomeElementsAreComparedAndAllMustBeWritten) {
  expected_ = {{"y", {2, 4}, {0.5, 0}, {1, 3}}};
  EXPECT_TRUE(check({100, 2, -7, 4}).empty()) << "elements 0 and 2 have no expectation";
  const auto wrong = check({1, 2, 3, 5});
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].index, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(wrong[0].wrong, (std::vector<bool>{false, true}));
  EXPECT_EQ(wrong[0].got, (std::vector<double>{2, 5}));

  auto outputs = untouched(problem_);
  const std::vector<float> right = {1, 2, 3, 4};
  std::memcpy(outputs[1].data(), right.data(), 8);
  std::memcpy(&outputs[1][12], &right[3], 4);
  const auto unwritten = wrong_tensors(problem_, expected_, outputs);
  ASSERT_EQ(unwritten.size(), 1U);
  EXPECT_EQ(unwritten[0].wrong_count, 0U);
  EXPECT_EQ(unwritten[0].unwritten_count, 1U);
  EXPECT_EQ(unwritten[0].searched, 4U);
  EXPECT_EQ(unwritten[0].first_unwritten, 2U);
}

TEST_F(CheckTest, AnIntegerOutsideTheComparedOnesMayBeMinusOne) {
  problem_.tensors[1].type = ElementType::int32;
  expected_ = {{"y", {0}, {0}, {2}}};
  auto outputs = untouched(problem_);
  std::memset(&outputs[1][8], 0, 4);
  EXPECT_TRUE(wrong_tensors(problem_, expected_, outputs).empty());
}

/// Of a run in which whole blocks wrote these bytes of y, and all blocks write so many.
SettledPart part(std::vector<simgpu::ByteRange> written, std::uint64_t of_grid = 16) {
  return {.written = {{}, std::move(written)}, .of_grid = {0, of_grid}};
}

TEST_F(CheckTest, OfACallThatRanInPartWhatItsBlocksHaveWrittenMustBeRight) {
  const auto outputs = [](const std::vector<float>& y) {
    return std::vector<std::vector<std::byte>>{{}, bytes_of(y)};
  };
  const SettledPart half = part({{0, 4}, {8, 4}});
  EXPECT_TRUE(check_settled(problem_, expected_, outputs({1, 7, 3, 9}), half, 1).wrong.empty());
  const auto wrong = check_settled(problem_, expected_, outputs({1, 7, 8, 9}), half, 1).wrong;
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].index, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(wrong[0].wrong_count, 1U);
}

TEST_F(CheckTest, WhatABlockHasWrittenIsComparedThoughItHasThePoisonsBits) {
  auto outputs = untouched(problem_);
  const auto wrong = check_settled(problem_, expected_, outputs, part({{4, 8}}), 1).wrong;
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].wrong_count, 2U);
  EXPECT_EQ(wrong[0].nan_count, 2U);
  EXPECT_EQ(wrong[0].unwritten_count, 0U);
  EXPECT_TRUE(check_settled(problem_, expected_, outputs, part({}), 1).wrong.empty());
}

TEST_F(CheckTest, ACallThatRanInPartTellsWhereAllBlocksWriteTheOutputAndEnoughIsCompared) {
  const std::vector<float> many(1000, 1);
  problem_.tensors[1] = tensor("y", Role::output, many);
  expected_ = {{"y", std::vector<double>(1000, 1), std::vector<double>(1000, 0)}};
  const std::vector<std::vector<std::byte>> outputs = {{}, bytes_of(many)};
  const auto tells = [&](const SettledPart& settled) {
    return check_settled(problem_, expected_, outputs, settled, 0.9).tells;
  };
  EXPECT_TRUE(tells(part({{0, 400}}, 4000)));
  EXPECT_FALSE(tells(part({{0, 400}}, 2000))) << "half of it is written by nobody";
  EXPECT_FALSE(tells(part({{0, 16}}, 4000))) << "four elements say too little";
  EXPECT_FALSE(tells({})) << "nobody knows what was written";
  const SettledPart most = part({{0, 400}}, 3996);
  EXPECT_TRUE(check_settled(problem_, expected_, outputs, most, 0.9).tells);
  EXPECT_FALSE(check_settled(problem_, expected_, outputs, most, 1).tells);
}

TEST_F(CheckTest, IndicesThatDoNotAscendWithinTheTensorAreAFaultOfTheOracle) {
  for (const std::vector<std::size_t>& index : {std::vector<std::size_t>{1, 4}, {3, 1}, {2, 2}}) {
    expected_ = {{"y", {1, 1}, {0, 0}, index}};
    EXPECT_THROW(check({1, 2, 3, 4}), OracleFault);
  }
  expected_ = {{"y", {1, 2, 3, 4}, {0, 0, 0, 0}, {1, 2}}};
  EXPECT_THROW(check({1, 2, 3, 4}), OracleFault);
}

TEST_F(CheckTest, OutputThatIsMissingOrShortCountsAsUnwritten) {
  EXPECT_EQ(wrong_tensors(problem_, expected_, {}).at(0).unwritten_count, 4U);
  EXPECT_EQ(wrong_tensors(problem_, expected_, {problem_.tensors[0].data, bytes_of({1, 2, 3})})
                .at(0)
                .unwritten_count,
            4U);
}

TEST_F(CheckTest, Int32MinusOneIsNotTakenForUnwrittenWhenItIsRight) {
  problem_.tensors[1].type = ElementType::int32;
  problem_.tensors[1].shape = {1};
  expected_ = {{"y", {-1}, {0}}};
  EXPECT_TRUE(wrong_tensors(problem_, expected_, untouched(problem_)).empty());
}

TEST_F(CheckTest, InfinityIsRightOnlyWhereItIsExpected) {
  const float infinity = std::numeric_limits<float>::infinity();
  expected_[0].value[0] = infinity;
  EXPECT_TRUE(check({infinity, 2, 3, 4}).empty());
  EXPECT_EQ(check({-infinity, infinity, 3, 4}).at(0).wrong_count, 2U);
}

TEST_F(CheckTest, OracleThatContradictsItsProblemIsAFaultOfOurs) {
  expected_[0].value.pop_back();
  EXPECT_THROW(check({1, 2, 3, 4}), OracleFault);
  expected_.clear();
  EXPECT_THROW(check({1, 2, 3, 4}), OracleFault);
}

TEST_F(CheckTest, ChangedInputsAreCounted) {
  EXPECT_TRUE(changed_inputs(problem_, untouched(problem_)).empty());
  auto outputs = untouched(problem_);
  outputs[0] = bytes_of({1, 2, 3.5F, -4});
  const auto changed = changed_inputs(problem_, outputs);
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed[0].tensor, "x");
  EXPECT_EQ(changed[0].changed, 2U);
  EXPECT_EQ(changed[0].total, 4U);
}

bool results_match(const Values& got, const Values& expected) {
  return wrong_results(got, expected).empty();
}

TEST(ResultsTest, NumbersCompareByValueWhateverTheirType) {
  EXPECT_TRUE(results_match({{"a", std::int64_t{4}}}, {{"a", 4.0}}));
  EXPECT_TRUE(results_match({{"a", 1.0 + 1e-10}}, {{"a", 1.0}}));
  EXPECT_FALSE(results_match({{"a", 1.0 + 1e-8}}, {{"a", 1.0}}));
  EXPECT_FALSE(results_match({{"a", std::nan("")}}, {{"a", 1.0}}));
  EXPECT_FALSE(results_match({{"a", std::string("1")}}, {{"a", 1.0}}));
}

TEST(ResultsTest, IntegersCompareExactlyBeyondWhatADoubleHolds) {
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  EXPECT_TRUE(results_match({{"a", large}}, {{"a", large}}));
  EXPECT_FALSE(results_match({{"a", large - 1}}, {{"a", large}}));
}

TEST(ResultsTest, OnlyWhatIsWrongIsNamed) {
  const Values wrong =
      wrong_results({{"a", 1.0 + 1e-12}, {"b", 3.0}}, {{"a", 1.0}, {"b", 2.0}, {"c", 4.0}});
  EXPECT_EQ(wrong, (Values{{"b", 2.0}, {"c", 4.0}}));
}

TEST(ResultsTest, MissingResultsAreWrongAndFurtherOnesAreIgnored) {
  EXPECT_FALSE(results_match({}, {{"a", 1.0}}));
  EXPECT_TRUE(results_match({{"a", 1.0}, {"score", 100.0}}, {{"a", 1.0}}));
  EXPECT_TRUE(
      results_match({{"bound", std::string("memory")}}, {{"bound", std::string("memory")}}));
}

}  // namespace
}  // namespace rooflab
