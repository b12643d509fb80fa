#include "labs/part1-metrics/oracle/latency_spread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rooflab {
namespace {

using ::testing::StartsWith;

/// Seven calls in milliseconds: mean 2, squares 36 + 6 * 1, median 1.
const std::vector<double> kOneIsLong = {8, 1, 1, 1, 1, 1, 1};
/// Mean 4, squares 9 + 9 + 1 + 1 = 20, median (3 + 5) / 2.
const std::vector<double> kFour = {7, 1, 5, 3};

Spread right(const std::vector<double>& times) {
  return {.standard_deviation = standard_deviation_of(times), .median = median_of(times)};
}

std::string told(const Spread& got, const std::vector<double>& times, double noise = 0) {
  const auto complaint = wrong_spread(got, {times, times}, noise);
  return complaint ? complaint->message.in_public : "";
}

std::string told_of_deviation(double got, const std::vector<double>& times) {
  return told({.standard_deviation = got, .median = median_of(times)}, times);
}

std::string told_of_median(double got, const std::vector<double>& times) {
  return told({.standard_deviation = standard_deviation_of(times), .median = got}, times);
}

TEST(LatencySpreadTest, HasTheUsualDefinitions) {
  EXPECT_DOUBLE_EQ(mean_of(kOneIsLong), 2);
  EXPECT_DOUBLE_EQ(standard_deviation_of(kOneIsLong), std::sqrt(42.0 / 6));
  EXPECT_DOUBLE_EQ(median_of(kOneIsLong), 1);
  EXPECT_DOUBLE_EQ(standard_deviation_of(kFour), std::sqrt(20.0 / 3));
  EXPECT_DOUBLE_EQ(median_of(kFour), 4);
  EXPECT_EQ(standard_deviation_of({5}), 0);
  EXPECT_EQ(median_of({5}), 5);
}

TEST(LatencySpreadTest, IsOfInterestWhereCallsDifferOrThereIsOne) {
  EXPECT_TRUE(has_spread({kFour, kFour}));
  EXPECT_TRUE(has_spread({{5}, {5}}));
  EXPECT_FALSE(has_spread({{5, 5.01, 5}, {5, 5.01, 5}}));
}

TEST(LatencySpreadTest, AcceptsWhatIsRight) {
  EXPECT_EQ(told(right(kOneIsLong), kOneIsLong), "");
  EXPECT_EQ(told(right(kFour), kFour), "");
  EXPECT_EQ(told({.standard_deviation = 0, .median = 5}, {5}), "");
}

TEST(LatencySpreadTest, AcceptsTheGapsBetweenCallsAndTheirAbsence) {
  const CallTimes calls{.busy = kFour, .span = {7.5, 1.25, 5.5, 3.25}};
  EXPECT_FALSE(wrong_spread(right(calls.busy), calls, 0));
  EXPECT_FALSE(wrong_spread(right(calls.span), calls, 0));
}

TEST(LatencySpreadTest, NamesTheUsualSlipsOfAStandardDeviation) {
  EXPECT_THAT(told_of_deviation(std::sqrt(42.0 / 7), kOneIsLong),
              StartsWith("the sum of squares is divided by n, not"));
  EXPECT_THAT(told_of_deviation(42.0 / 6, kOneIsLong), StartsWith("this is the variance"));
  EXPECT_THAT(told_of_deviation(std::sqrt(42.0), kOneIsLong),
              StartsWith("the sum of squares is not divided"));
  EXPECT_THAT(told_of_deviation(std::sqrt(1.0), kOneIsLong),
              StartsWith("this is the standard error"));
  EXPECT_THAT(told_of_deviation(12.0 / 7, kOneIsLong), StartsWith("this is the mean distance"));
  EXPECT_THAT(told_of_deviation(0, kOneIsLong), StartsWith("the standard deviation is 0"));
  EXPECT_THAT(told_of_deviation(std::nan(""), {5}),
              StartsWith("the standard deviation of a single call"));
  EXPECT_EQ(told_of_deviation(3.5, kOneIsLong), "the standard deviation is wrong");
  EXPECT_EQ(told_of_deviation(std::nan(""), kFour), "the standard deviation is wrong");
}

TEST(LatencySpreadTest, NamesTheUsualSlipsOfAMedian) {
  EXPECT_EQ(told_of_median(2, kOneIsLong), "the median is the mean");
  EXPECT_THAT(told_of_median(5, {7, 1, 5, 3, 9}), "");
  EXPECT_THAT(told_of_median(9, {7, 1, 9, 3, 5}), StartsWith("the times are not in order"));
  EXPECT_THAT(told_of_median(5, kFour), StartsWith("this is one of the two middle ones"));
  EXPECT_THAT(told_of_median(8, kOneIsLong), StartsWith("this is the longest"));
  EXPECT_EQ(told_of_median(6.2, kFour), "the median is wrong");
}

TEST(LatencySpreadTest, LeavesRoomForNoise) {
  const Spread got{.standard_deviation = 1.1 * standard_deviation_of(kFour),
                   .median = 1.1 * median_of(kFour)};
  EXPECT_NE(told(got, kFour), "");
  EXPECT_EQ(told(got, kFour, 0.15), "");
}

}  // namespace
}  // namespace rooflab
