#include "labs/toolkit/plot/log_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab::plot {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

std::vector<double> labelled(const LogAxis& axis, double apart) {
  std::vector<double> values;
  for (const LogAxis::Tick& tick : axis.ticks(apart)) {
    if (tick.labelled) values.push_back(tick.value);
  }
  return values;
}

TEST(LogAxis, GivesEveryPowerOfTenTheSamePixels) {
  const LogAxis axis(0.01, 100, 50, 450);
  EXPECT_DOUBLE_EQ(axis.decade(), 100);
  EXPECT_DOUBLE_EQ(axis.at(0.01), 50);
  EXPECT_NEAR(axis.at(1), 250, 1e-9);
  EXPECT_NEAR(axis.at(10), 350, 1e-9);
}

TEST(LogAxis, EndsWhereItEnds) {
  const LogAxis axis(1, 100, 300, 0);
  EXPECT_DOUBLE_EQ(axis.at(0), 300);
  EXPECT_DOUBLE_EQ(axis.at(1e9), 0);
  EXPECT_FALSE(axis.holds(0));
  EXPECT_TRUE(axis.holds(100));
  EXPECT_FALSE(axis.holds(101));
}

TEST(LogAxis, LabelsPowersOfTenAndStepsOnlyWhereThereIsRoom) {
  EXPECT_THAT(labelled(LogAxis(1, 1000, 0, 300), 40), ElementsAre(1, 10, 100, 1000));
  EXPECT_THAT(labelled(LogAxis(1, 100, 0, 400), 40), ElementsAre(1, 2, 5, 10, 20, 50, 100));
  EXPECT_THAT(labelled(LogAxis(1e-3, 1e3, 0, 180), 40),
              ElementsAre(DoubleNear(1e-2, 1e-12), 1, 100));
}

TEST(LogAxis, LabelsNeverStandCloserThanAsked) {
  for (const double length : {50.0, 130.0, 300.0, 700.0, 2000.0}) {
    for (const double high : {1e1, 1e2, 1e5, 1e12, 1e18}) {
      const LogAxis axis(1, high, 0, length);
      double last = -1e9;
      for (const double value : labelled(axis, 40)) {
        EXPECT_GE(axis.at(value) - last, 40 - 1e-6) << length << " " << high;
        last = axis.at(value);
      }
    }
  }
}

TEST(LogAxis, AroundValuesEndsAtTheNextSteps) {
  const LogAxis axis = axis_around(0.3, 61, 0, 100);
  EXPECT_NEAR(axis.low(), 0.2, 1e-12);
  EXPECT_NEAR(axis.high(), 100, 1e-12);
  const LogAxis single = axis_around(5, 5, 0, 100);
  EXPECT_LT(single.low(), 5);
  EXPECT_GT(single.high(), 5);
}

}  // namespace
}  // namespace rooflab::plot
