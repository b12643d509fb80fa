#include "grader/device/cuda/measurement.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <vector>

namespace rooflab {
namespace {

using std::chrono::seconds;

TEST(RepeatRuleTest, SteadySamplesAreEnoughOnceThereAreTheFewest) {
  EXPECT_FALSE(enough(std::vector<double>(9, 100.0), seconds(0), {}));
  EXPECT_TRUE(enough(std::vector<double>(10, 100.0), seconds(0), {}));
}

// 90 and 110 in turn have a standard deviation of about 10 %: their mean is known to half a per
// cent after about 400 samples, which is past the most that are taken.
TEST(RepeatRuleTest, NoisySamplesAreTakenUntilTheMost) {
  std::vector<double> samples;
  while (samples.size() < 99) {
    samples.push_back(samples.size() % 2 == 0 ? 90 : 110);
    EXPECT_FALSE(enough(samples, seconds(0), {})) << samples.size();
  }
  samples.push_back(110);
  EXPECT_TRUE(enough(samples, seconds(0), {}));
}

TEST(RepeatRuleTest, TheBudgetOfTimeEndsIt) {
  EXPECT_TRUE(enough({90, 110}, seconds(31), {}));
  EXPECT_FALSE(enough({}, seconds(31), {})) << "without a sample there is no time to tell";
}

// As an H200 showed them: 1.2 us of events, and 206 us for the message and the change of contexts.
std::vector<ClockedCall> idle_calls() {
  std::vector<ClockedCall> idle(19, {.event_us = 1.2, .wall_us = 207.2});
  idle.push_back({.event_us = 1.2, .wall_us = 900});  // disturbed
  return idle;
}

TEST(RoundTripTest, IsWhatMostCallsThatDoNothingTakeBesideTheirEvents) {
  EXPECT_NEAR(round_trip_us(idle_calls()), 206, 1e-9);
  EXPECT_EQ(round_trip_us({}), 0);
}

TEST(ContradictionTest, EventsThatARoundTripExplainsAreBelieved) {
  EXPECT_FALSE(contradicts({{.event_us = 3.5, .wall_us = 219}}, 206));
  EXPECT_FALSE(contradicts({{.event_us = 81.5, .wall_us = 315}}, 206));
  EXPECT_FALSE(contradicts({{.event_us = 1e6, .wall_us = 1.0002e6}}, 206));
  EXPECT_FALSE(contradicts({}, 206));
}

TEST(ContradictionTest, OneDisturbedCallAmongManyContradictsNothing) {
  std::vector<ClockedCall> calls(10, {.event_us = 81.5, .wall_us = 315});
  calls[3].wall_us = 2000;
  EXPECT_FALSE(contradicts(calls, 206));
}

TEST(ContradictionTest, EventsThatSayTooLittleAreNotBelieved) {
  EXPECT_TRUE(contradicts({{.event_us = 1, .wall_us = 5000}}, 206));
  EXPECT_TRUE(contradicts(std::vector<ClockedCall>(10, {.event_us = 10, .wall_us = 330}), 206))
      << "114 us that nothing explains";
}

TEST(ContradictionTest, ImpossibleEventsAreNotBelieved) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double event_us : {6000.0, 0.0, -5.0, nan}) {
    EXPECT_TRUE(contradicts({{.event_us = event_us, .wall_us = 5000}}, 206)) << event_us;
  }
}

TEST(OurClockTest, TakesOffTheRoundTripAndNeverSaysLessThanTheEvents) {
  EXPECT_EQ(by_our_clock_us({.event_us = 10, .wall_us = 1206}, 206), 1000);
  EXPECT_EQ(by_our_clock_us({.event_us = 1100, .wall_us = 1206}, 206), 1100);
}

TEST(OurClockTest, GivesNothingOfTheRoundTripToMadeUpEvents) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double event_us : {6000.0, 0.0, -5.0, nan}) {
    EXPECT_EQ(by_our_clock_us({.event_us = event_us, .wall_us = 5000}, 206), 5000) << event_us;
  }
}

TEST(TakesLongerTest, ThanAllSamplesAndHalfAsMuchAgain) {
  const std::vector<double> steady(10, 100.0);
  EXPECT_FALSE(takes_longer(149, steady));
  EXPECT_TRUE(takes_longer(151, steady));
  std::vector<double> disturbed = steady;
  disturbed.push_back(300);
  EXPECT_FALSE(takes_longer(290, disturbed)) << "as long as one that was disturbed";
  EXPECT_TRUE(takes_longer(301, disturbed));
  EXPECT_FALSE(takes_longer(100, {}));
}

}  // namespace
}  // namespace rooflab
