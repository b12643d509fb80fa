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

TEST(BelievedTimeTest, EventsThatAgreeWithOurClockAreTaken) {
  EXPECT_EQ(believed_us(1000, 1150, 50), 1000);
  EXPECT_EQ(believed_us(20, 90, 50), 20) << "a short kernel disappears in the round trip";
}

TEST(BelievedTimeTest, OurClockCountsWhenTheGuestClaimsTooLittle) {
  EXPECT_EQ(believed_us(1, 5000, 50), 5000);
}

TEST(BelievedTimeTest, OurClockCountsWhenTheGuestsTimeIsImpossible) {
  EXPECT_EQ(believed_us(6000, 5000, 50), 5000);
  EXPECT_EQ(believed_us(0, 100, 50), 100);
  EXPECT_EQ(believed_us(-5, 100, 50), 100);
  EXPECT_EQ(believed_us(std::numeric_limits<double>::quiet_NaN(), 100, 50), 100);
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
