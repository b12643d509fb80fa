#include "grader/spec/median.h"

#include <gtest/gtest.h>

namespace rooflab {
namespace {

TEST(MedianTest, IsTheMiddleValue) { EXPECT_EQ(median_of({3, 1, 2}), 2); }

TEST(MedianTest, IsBetweenTheTwoInTheMiddle) { EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5); }

TEST(MedianTest, IsZeroWhereThereIsNoValue) { EXPECT_EQ(median_of({}), 0); }

}  // namespace
}  // namespace rooflab
