#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "grader/pipeline/fake_device.h"
#include "grader/pipeline/roofline.h"
#include "grader/pipeline/score.h"
#include "grader/pipeline/timing.h"
#include "grader/pipeline/too_slow.h"

namespace rooflab {
namespace {

using testing::HasSubstr;

SpeedSpec speed(double zero, double full, double points) {
  SpeedSpec spec;
  spec.zero_efficiency = zero;
  spec.full_efficiency = full;
  spec.points = points;
  return spec;
}

TEST(SpeedPointsTest, RunFromNoneAtZeroToAllAtFull) {
  const SpeedSpec spec = speed(0.01, 0.16, 8);
  EXPECT_EQ(speed_points(spec, 0.001), 0);
  EXPECT_EQ(speed_points(spec, 0.01), 0);
  EXPECT_EQ(speed_points(spec, 0.16), 8);
  EXPECT_EQ(speed_points(spec, 0.9), 8);
}

// Between 1 % and 16 % lie four doublings, so each is worth a quarter of the points.
TEST(SpeedPointsTest, EveryDoublingOfEfficiencyIsWorthTheSame) {
  const SpeedSpec spec = speed(0.01, 0.16, 8);
  EXPECT_DOUBLE_EQ(speed_points(spec, 0.02), 2);
  EXPECT_DOUBLE_EQ(speed_points(spec, 0.04), 4);
  EXPECT_DOUBLE_EQ(speed_points(spec, 0.08), 6);
}

TEST(SpeedPointsTest, NeverFallWithEfficiencyAndHaveNoCliff) {
  const SpeedSpec spec = speed(0.02, 0.12, 10);
  double last = 0;
  for (double efficiency = 0.005; efficiency < 0.2; efficiency += 0.0001) {
    const double points = speed_points(spec, efficiency);
    EXPECT_GE(points, last);
    EXPECT_LE(points - last, 0.05);
    last = points;
  }
}

TEST(SpeedPointsTest, EfficiencyThatIsNoNumberEarnsNothing) {
  EXPECT_EQ(speed_points(speed(0.02, 0.12, 10), std::nan("")), 0);
  EXPECT_EQ(speed_points(speed(0.02, 0.12, 10), -1), 0);
}

TEST(SpeedPointsTest, WhereSpeedTellsNothingAnyKnownTimeOfARightAnswerEarnsAll) {
  SpeedSpec spec = speed(0, 0, 8);
  spec.is_for_answer = true;
  EXPECT_EQ(speed_points(spec, 0.001), 8);
  EXPECT_EQ(speed_points(spec, 0), 0);
}

TEST(SpeedPointsTest, ATimeThatIsOnlyShownEarnsNothing) {
  EXPECT_EQ(speed_points(SpeedSpec{}, 0.5), 0);
}

TEST(RooflineTest, GoesByTheClockUnderLoadAndItsFloorByTheBoostClock) {
  gpu_spec::GpuSpec gpu = round_gpu();
  gpu.clock_mhz = 1500;
  gpu.sustained_clock_mhz = 1000;
  const Roofline roofline = roofline_of({{{"fp32", 1e9}}, 1e7}, gpu);
  EXPECT_DOUBLE_EQ(roofline.compute_us, 1500);
  EXPECT_DOUBLE_EQ(roofline.memory_us, 100);
  EXPECT_DOUBLE_EQ(roofline.floor_us, 1000);
}

// 1e9 FLOPs at 1 TFLOP/s take 1000 us, 1e7 bytes at 100 GB/s take 100 us.
TEST(RooflineTest, IsTheSlowerOfComputeAndMemoryPlusALaunch) {
  const Roofline compute = roofline_of({{{"fp32", 1e9}}, 1e7}, round_gpu());
  EXPECT_DOUBLE_EQ(compute.compute_us, 1000);
  EXPECT_DOUBLE_EQ(compute.memory_us, 100);
  EXPECT_DOUBLE_EQ(compute.time_us, 1001);
  EXPECT_EQ(compute.bound, "compute");
  const Roofline memory = roofline_of({{{"fp32", 1e6}}, 1e7}, round_gpu());
  EXPECT_DOUBLE_EQ(memory.time_us, 101);
  EXPECT_EQ(memory.bound, "memory");
  const Roofline launch = roofline_of({{{"fp32", 1e3}}, 100}, round_gpu());
  EXPECT_EQ(launch.bound, "launch");
}

TEST(RooflineTest, TypesRunBesideEachOtherSoTheSlowestCounts) {
  const Roofline roofline = roofline_of({{{"fp32", 1e6}, {"bf16_tensor", 80e6}}, 0}, round_gpu());
  EXPECT_DOUBLE_EQ(roofline.compute_us, 10);
}

TEST(RooflineTest, FloorLetsTheCacheHoldWhatFits) {
  // 1 MB fits: it may come from L2 at 1 TB/s in 1 us, though DRAM would take 10.
  EXPECT_DOUBLE_EQ(roofline_of({{}, 1e6}, round_gpu()).floor_us, 1);
  // Of 10 MB, 9 MB must come from DRAM at 100 GB/s.
  EXPECT_DOUBLE_EQ(roofline_of({{}, 10e6}, round_gpu()).floor_us, 90);
  EXPECT_DOUBLE_EQ(roofline_of({{{"fp32", 1e9}}, 1e6}, round_gpu()).floor_us, 1000);
}

TEST(RooflineTest, GoesByCalibratedPeaksAndItsFloorByTheFasterOfBoth) {
  const gpu_spec::GpuSpec sheet = round_gpu();
  gpu_spec::GpuSpec slower = sheet;  // what a card reaches of its data sheet
  slower.peak_flops["fp32"] = 0.8e12;
  slower.dram_bytes_per_second = 90e9;
  slower.l2_bytes_per_second = 0.5e12;
  slower.launch_overhead_us = 3;
  const Roofline compute = roofline_of({{{"fp32", 1e9}}, 1e6}, sheet, slower);
  EXPECT_DOUBLE_EQ(compute.time_us, 1250 + 3);
  EXPECT_DOUBLE_EQ(compute.floor_us, 1000) << "a good kernel on a good day is no suspect";
  const Roofline memory = roofline_of({{}, 10e6}, sheet, slower);
  EXPECT_DOUBLE_EQ(memory.time_us, 10e6 / 90e9 * 1e6 + 3);
  EXPECT_DOUBLE_EQ(memory.floor_us, 90);
  EXPECT_DOUBLE_EQ(roofline_of({{}, 1e6}, sheet, slower).floor_us, 1);
  // A card that clocks above its data sheet: what it was seen to do is not suspect.
  gpu_spec::GpuSpec faster = sheet;
  faster.peak_flops["fp32"] = 1.25e12;
  EXPECT_DOUBLE_EQ(roofline_of({{{"fp32", 1e9}}, 1e6}, sheet, faster).floor_us, 800);
}

// At the clock under load already: it is not allowed for a second time.
TEST(RooflineTest, TakesCalibratedPeaksAsTheyAre) {
  gpu_spec::GpuSpec sheet = round_gpu();
  sheet.clock_mhz = 1500;
  sheet.sustained_clock_mhz = 1000;
  gpu_spec::GpuSpec peaks = sheet;
  peaks.peak_flops["fp32"] = 0.7e12;
  peaks.sustained_clock_mhz = 0;
  const Roofline roofline = roofline_of({{{"fp32", 7e8}}, 1e3}, sheet, peaks);
  EXPECT_DOUBLE_EQ(roofline.compute_us, 1000);
  EXPECT_DOUBLE_EQ(roofline.floor_us, 700);
}

TEST(RooflineTest, TypeThatTheGpuLacksIsNamed) {
  try {
    roofline_of({{{"fp8_tensor", 1}}, 0}, round_gpu());
    FAIL();
  } catch (const RooflineError& error) {
    EXPECT_STREQ(error.what(), "Round GPU has no fp8_tensor peak; grade this task on another GPU");
  }
}

RunOutcome timed(double elapsed_us, std::vector<double> samples = {}) {
  RunOutcome outcome;
  outcome.activity.elapsed_us = elapsed_us;
  outcome.samples_us = std::move(samples);
  return outcome;
}

TEST(TimingTest, TakesTheModelledTimeOrTheMedianOfTheMeasured) {
  const Work work{{{"fp32", 1e9}}, 1e7};
  const Roofline roofline = roofline_of(work, round_gpu());
  const Timing modelled = timing_of(timed(2002), speed(0.1, 0.8, 5), work, roofline);
  EXPECT_DOUBLE_EQ(modelled.time_us, 2002);
  EXPECT_DOUBLE_EQ(modelled.efficiency, 0.5);
  EXPECT_DOUBLE_EQ(modelled.roofline_us, 1001);
  EXPECT_DOUBLE_EQ(modelled.floor_us, 1000);
  const Timing measured =
      timing_of(timed(0, {2002, 9000, 2001, 2003, 2002}), speed(0.1, 0.8, 5), work, roofline);
  EXPECT_DOUBLE_EQ(measured.time_us, 2002);
  EXPECT_GT(measured.spread_us, 0);
}

/// A call of one kernel that takes all of its time and is bound by DRAM, as a simulated GPU tells
/// it: with one sample, the time itself.
RunOutcome modelled_call(double elapsed_us) {
  RunOutcome outcome = timed(elapsed_us, {elapsed_us});
  simgpu::KernelRecord& kernel = outcome.activity.kernels.emplace_back();
  kernel.time.total_us = elapsed_us;
  kernel.time.limiter = simgpu::Limiter::dram;
  return outcome;
}

Timing timing_of_call(const RunOutcome& outcome) {
  const Work work{{{"fp32", 1e9}}, 1e7};
  return timing_of(outcome, speed(0.1, 0.8, 5), work, roofline_of(work, round_gpu()));
}

TEST(TimingTest, AModelledTimeHasABandAndAMeasuredOneHasNone) {
  RunOutcome outcome = modelled_call(2002);
  const Timing modelled = timing_of_call(outcome);
  ASSERT_TRUE(modelled.modelled);
  EXPECT_LT(modelled.modelled->low_us, 2002);
  EXPECT_GT(modelled.modelled->high_us, 2002);
  outcome.sampling.emplace();
  const Timing measured = timing_of_call(outcome);
  EXPECT_TRUE(measured.measured);
  EXPECT_FALSE(measured.modelled);
}

TEST(TimingTest, ATimeThatIsALowerBoundHasNoBand) {
  Timing timing = timing_of_call(modelled_call(2002));
  bound(timing);
  EXPECT_TRUE(timing.at_least);
  EXPECT_FALSE(timing.modelled);
}

TEST(TimingTest, BelowTheFloorOnlyWhatNoGpuCanDo) {
  const Work work{{{"fp32", 1e9}}, 1e7};
  const Roofline roofline = roofline_of(work, round_gpu());
  const auto below = [&](double us, bool measured) {
    return is_below_floor(timing_of(timed(us), speed(0.1, 0.8, 5), work, roofline), measured);
  };
  EXPECT_FALSE(below(1000, false));
  EXPECT_TRUE(below(999, false));
  EXPECT_FALSE(below(951, true));
  EXPECT_TRUE(below(949, true));
  EXPECT_TRUE(below(0, true));
  EXPECT_TRUE(below(std::numeric_limits<double>::quiet_NaN(), false));
}

TEST(TimingTest, SlowestKernelIsTheOneWhoseLaunchesTakeMostTogether) {
  simgpu::Activity activity;
  EXPECT_EQ(slowest_kernel(activity), nullptr);
  for (const auto& [name, us] :
       std::vector<std::pair<std::string, double>>{{"once", 10}, {"often", 6}, {"often", 6}}) {
    simgpu::KernelRecord kernel;
    kernel.name = name;
    kernel.time.total_us = us;
    activity.kernels.push_back(kernel);
  }
  EXPECT_EQ(slowest_kernel(activity)->name, "often");
}

}  // namespace
}  // namespace rooflab
