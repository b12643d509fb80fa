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

// Round trips as an H200 showed them: 1.2 us of events, and 206 us for the message and the change
// of contexts.
constexpr double kRoundTripUs = 206;

ClockedCall clocked(double event_us, double wall_us) {
  return {.event_us = event_us, .wall_us = wall_us, .round_trip_us = kRoundTripUs};
}

TEST(RoundTripTest, IsWhatMostCallsThatDoNothingTakeBesideTheirEvents) {
  std::vector<ClockedCall> idle(19, {.event_us = 1.2, .wall_us = 207.2});
  idle.push_back({.event_us = 1.2, .wall_us = 900});  // disturbed
  EXPECT_NEAR(beside_events_us(idle), 206, 1e-9);
  EXPECT_EQ(beside_events_us({}), 0);
}

TEST(RoundTripTest, CannotBeStretchedBeyondTwiceWhatItWas) {
  EXPECT_EQ(bounded_round_trip_us(300, 206), 300);
  EXPECT_EQ(bounded_round_trip_us(100'000, 206), 512);
}

TEST(ContradictionTest, EventsThatARoundTripExplainsAreBelieved) {
  EXPECT_FALSE(contradicts({clocked(3.5, 219)}));
  EXPECT_FALSE(contradicts({clocked(81.5, 315)}));
  EXPECT_FALSE(contradicts({clocked(1e6, 1.0002e6)}));
  EXPECT_FALSE(contradicts({}));
}

TEST(ContradictionTest, OneDisturbedCallAmongManyContradictsNothing) {
  std::vector<ClockedCall> calls(10, clocked(81.5, 315));
  calls[3].wall_us = 2000;
  EXPECT_FALSE(contradicts(calls));
}

TEST(ContradictionTest, ASlowMachineContradictsNothing) {
  std::vector<ClockedCall> calls(10, clocked(129, 685));
  EXPECT_TRUE(contradicts(calls));
  for (ClockedCall& call : calls) call.round_trip_us = 500;  // as the bystander's call just then
  EXPECT_FALSE(contradicts(calls));
}

TEST(ContradictionTest, EventsThatSayTooLittleAreNotBelieved) {
  EXPECT_TRUE(contradicts({clocked(1, 5000)}));
  EXPECT_TRUE(contradicts(std::vector<ClockedCall>(10, clocked(10, 330))))
      << "114 us that nothing explains";
}

TEST(ContradictionTest, ImpossibleEventsAreNotBelieved) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double event_us : {6000.0, 0.0, -5.0, nan}) {
    EXPECT_TRUE(contradicts({clocked(event_us, 5000)})) << event_us;
  }
}

TEST(OurClockTest, TakesOffTheShortestRoundTripAndNeverSaysLessThanTheEvents) {
  EXPECT_EQ(by_our_clock_us({clocked(10, 1206), clocked(1100, 1206)}),
            (std::vector<double>{1000, 1100}));
  ClockedCall stretched = clocked(10, 1406);
  stretched.round_trip_us = 512;
  EXPECT_EQ(by_our_clock_us({clocked(10, 1206), stretched}), (std::vector<double>{1000, 1200}));
  EXPECT_TRUE(by_our_clock_us({}).empty());
}

TEST(OurClockTest, GivesNothingOfTheRoundTripToMadeUpEvents) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double event_us : {6000.0, 0.0, -5.0, nan}) {
    EXPECT_EQ(by_our_clock_us({clocked(event_us, 5000)}).front(), 5000) << event_us;
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
