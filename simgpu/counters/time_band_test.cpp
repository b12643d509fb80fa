#include "simgpu/time_band.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace simgpu::time_band_test {
namespace {

KernelRecord kernel(double time_us, std::optional<Limiter> limiter) {
  KernelRecord record;
  record.name = "sum";
  record.time.total_us = time_us;
  record.time.limiter = limiter;
  return record;
}

Activity call_of(double elapsed_us, std::vector<KernelRecord> kernels) {
  Activity activity;
  activity.elapsed_us = elapsed_us;
  activity.kernels = std::move(kernels);
  return activity;
}

double widest_factor() {
  double widest = 1;
  for (const BandClass each :
       {BandClass::memory, BandClass::latency, BandClass::on_chip, BandClass::library}) {
    widest = std::max(widest, width_of(each).factor);
  }
  return widest;
}

TEST(TimeBandTest, EveryLimiterHasABandAroundTheTime) {
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(kLastLimiter); ++i) {
    const auto limiter = static_cast<Limiter>(i);
    SCOPED_TRACE(name_of(limiter));
    const TimeBand band = band_of(kernel(100, limiter));
    EXPECT_LT(band.low_us, 100);
    EXPECT_GT(band.high_us, 100);
    EXPECT_NEAR(band.low_us * band.high_us, 100.0 * 100, 1e-6) << "as far down as up, as a factor";
    EXPECT_DOUBLE_EQ(band.high_us / 100, width_of(band_class_of(limiter)).factor);
  }
}

TEST(TimeBandTest, ClassesAreNamedAndFromAsManyCasesAsTheirRankNeeds) {
  std::set<std::string> names;
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(kLastBandClass); ++i) {
    const auto each = static_cast<BandClass>(i);
    names.insert(name_of(each));
    const BandWidth width = width_of(each);
    EXPECT_GT(width.factor, 1);
    EXPECT_LE(std::ceil(0.8 * (width.cases + 1)), width.cases) << name_of(each);
  }
  EXPECT_EQ(names, (std::set<std::string>{"latency", "library", "memory", "on chip"}));
}

TEST(TimeBandTest, KernelsAreAlikeByWhatBoundsThem) {
  EXPECT_EQ(band_class_of(kernel(1, Limiter::dram)), BandClass::memory);
  EXPECT_EQ(band_class_of(kernel(1, Limiter::host_loads)), BandClass::memory);
  EXPECT_EQ(band_class_of(kernel(1, Limiter::launch)), BandClass::latency);
  EXPECT_EQ(band_class_of(kernel(1, Limiter::l1)), BandClass::on_chip);
  EXPECT_EQ(band_class_of(kernel(1, Limiter::tensor)), BandClass::on_chip);
  KernelRecord routine = kernel(1, Limiter::dram);
  routine.library_routine = true;
  EXPECT_EQ(band_class_of(routine), BandClass::library);
}

TEST(TimeBandTest, WhatNoSingleLimiterAccountsForHasTheWidestBand) {
  KernelRecord further = kernel(100, Limiter::dram);
  further.name = kFurtherKernels;
  for (const KernelRecord& record : {kernel(100, std::nullopt), further}) {
    EXPECT_EQ(band_class_of(record), std::nullopt);
    EXPECT_DOUBLE_EQ(band_of(record).high_us, 100 * widest_factor());
  }
}

TEST(TimeBandTest, OfACallAddsUpOverItsLaunches) {
  const KernelRecord dram = kernel(100, Limiter::dram), shared = kernel(50, Limiter::shared);
  const auto band = band_of_call(call_of(200, {dram, shared, shared}));
  ASSERT_TRUE(band);
  EXPECT_DOUBLE_EQ(band->low_us, band_of(dram).low_us + 2 * band_of(shared).low_us);
  EXPECT_DOUBLE_EQ(band->high_us, band_of(dram).high_us + 2 * band_of(shared).high_us);
}

TEST(TimeBandTest, OfKernelsSideBySideIsThatOfTheCallsTimeAndNoWider) {
  const KernelRecord one = kernel(100, Limiter::dram);
  const auto band = band_of_call(call_of(100, {one, one, one, one, one, one, one, one}));
  ASSERT_TRUE(band);
  EXPECT_NEAR(band->low_us, band_of(one).low_us, 1e-9);
  EXPECT_NEAR(band->high_us, band_of(one).high_us, 1e-9);
}

TEST(TimeBandTest, OfACallHasNoneOfCopiesAndOfTheHost) {
  const KernelRecord dram = kernel(100, Limiter::dram);
  const TimeBand by_dram = band_of(dram);
  const auto band = band_of_call(call_of(900, {dram}));
  ASSERT_TRUE(band);
  EXPECT_DOUBLE_EQ(band->low_us, 800 + by_dram.low_us);
  EXPECT_DOUBLE_EQ(band->high_us, 800 + by_dram.high_us);
}

TEST(TimeBandTest, OfACallThatLaunchesNothingOrIsCutShortThereIsNone) {
  EXPECT_FALSE(band_of_call(call_of(900, {})));
  EXPECT_FALSE(band_of_call(call_of(900, {kernel(0, Limiter::dram)})));
  EXPECT_FALSE(
      band_of_call(call_of(900, {kernel(std::numeric_limits<double>::quiet_NaN(), Limiter::l2)})));
  KernelRecord cut = kernel(100, Limiter::dram);
  cut.at_least = true;
  EXPECT_FALSE(band_of_call(call_of(900, {kernel(100, Limiter::dram), cut})));
}

TEST(TimeBandTest, IsSaidInTwoDigitsOrInThreeWhereTwoDoNotShowIt) {
  EXPECT_EQ(in_words({416.4, 560.3}, 483, 1), "420 to 560");
  EXPECT_EQ(in_words({1064, 1437}, 1230, 1000), "1.1 to 1.4");
  EXPECT_EQ(in_words({818, 1102}, 950, 1), "820 to 1100");
  EXPECT_EQ(in_words({0.0086, 0.0996}, 0.01, 1e-3), "8.6 to 100");
  EXPECT_EQ(in_words({996, 1013}, 1004, 1000), "0.996 to 1.01");
  EXPECT_EQ(in_words({1000, 1000.1}, 1000, 1), "") << "three digits do not tell them apart";
}

TEST(TimeBandTest, ThatIsNoneHasNoWords) {
  EXPECT_EQ(in_words({0, 0}, 0, 1), "");
  EXPECT_EQ(in_words({-5, 7}, 1, 1), "");
  EXPECT_EQ(in_words({std::numeric_limits<double>::quiet_NaN(), 7}, 1, 1), "");
  EXPECT_EQ(in_words({1, std::numeric_limits<double>::infinity()}, 2, 1), "");
}

}  // namespace
}  // namespace simgpu::time_band_test
