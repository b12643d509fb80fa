#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "grader/calibrate/measure_peaks.h"
#include "grader/calibrate/statistics.h"
#include "grader/device/cuda/clock_watch.h"
#include "grader/device/open_device.h"

namespace rooflab {
namespace {

using testing::HasSubstr;

std::vector<Sample> samples_of(const std::vector<double>& times_us) {
  std::vector<Sample> samples;
  for (const double time_us : times_us) samples.push_back({.time_us = time_us});
  return samples;
}

TEST(QuantileTest, LiesBetweenNeighboursByTheirDistance) {
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(quantile({1, 2, 3, 4, 5}, 0.25), 2);
  EXPECT_DOUBLE_EQ(quantile({10, 20}, 0.1), 11);
  EXPECT_EQ(quantile({7}, 0.75), 7);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

// The definition by counting: at least a share q of the values is not above it, and at least 1 - q
// not below.
TEST(QuantileTest, HasTheSharesOnItsSides) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> values(1 + random() % 40);
    for (double& value : values) value = static_cast<double>(random() % 1000);
    for (const double q : {0.25, 0.5, 0.75}) {
      const double found = quantile(values, q);
      const auto below = std::ranges::count_if(values, [&](double v) { return v < found; });
      const auto above = std::ranges::count_if(values, [&](double v) { return v > found; });
      const auto most = static_cast<double>(values.size() - 1);
      EXPECT_LE(static_cast<double>(below), q * most + 1);
      EXPECT_LE(static_cast<double>(above), (1 - q) * most + 1);
    }
  }
}

TEST(StatisticsTest, DropSamplesTakenUnderThrottlingAndKeepThoseUnderThePowerCap) {
  std::vector<Sample> samples = samples_of({10, 11, 12, 99, 98, 0});
  samples[0].sm_mhz = 1400;
  samples[1].throttled_by = 0x4;  // the power cap
  samples[1].sm_mhz = 1200;
  samples[2].sm_mhz = 1300;
  samples[3].throttled_by = kHardwareThermal | 0x4;
  samples[3].sm_mhz = 300;
  samples[4].throttled_by = kPowerBrake;
  const TimeStatistics found = statistics_of(samples);
  EXPECT_EQ(found.counted, 3);
  EXPECT_EQ(found.dropped, 3);
  EXPECT_EQ(found.median_us, 11);
  EXPECT_EQ(found.sm_mhz, 1300);
}

Values results(const std::string& samples, double work = 2e6) {
  return {{"how", "somehow"},
          {"work", work},
          {"samples", samples},
          {"watched", std::int64_t{1}},
          {"driver", "580.82.07"}};
}

TEST(PeakTest, IsTheWorkOfASampleOverTheMedianOfItsTimes) {
  const auto peak = peak_from("dram_read", results("10 1380 0\n20 1400 0\n40 1410 0\n"));
  EXPECT_DOUBLE_EQ(peak.value, 2e6 / 20e-6 / 1e9);
  // Quartiles at 15 and 30 us: 133.3 and 66.7 GB/s.
  EXPECT_NEAR(peak.spread, (2e6 / 15e-6 - 2e6 / 30e-6) / 1e9 / 2, 1e-9);
  EXPECT_EQ(peak.samples, 3);
  EXPECT_EQ(peak.sm_mhz, 1400);
  EXPECT_EQ(peak.how, "somehow");
  EXPECT_DOUBLE_EQ(peak_from("fp32", results("2 0 0\n", 3e7)).value, 3e7 / 2e-6 / 1e12);
}

TEST(PeakTest, OfALaunchIsATime) {
  const auto peak = peak_from("launch", results("400 0 0\n500 0 0\n440 0 0\n", 200));
  EXPECT_DOUBLE_EQ(peak.value, 2.2);
  EXPECT_DOUBLE_EQ(peak.spread, (470.0 - 420.0) / 200 / 2);
}

TEST(PeakTest, OfAThrottledGpuIsRefused) {
  try {
    peak_from("fp32", results("10 300 64\n11 300 64\n"));
    ADD_FAILURE() << "taken";
  } catch (const CalibrationError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none of 2 samples counts"));
    EXPECT_THAT(error.what(), HasSubstr("let the GPU cool down"));
  }
}

TEST(PeakTest, OfWhatIsNotInOrderIsRefused) {
  for (const char* samples : {"10", "10 0", "10 0 0", "x 0 0\n", "1 2 3 4\n", "nan", "\n"}) {
    EXPECT_THROW(peak_from("fp32", results(samples)), CalibrationError) << samples;
  }
  EXPECT_THROW(peak_from("fp32", results("")), CalibrationError);
  EXPECT_THROW(peak_from("fp32", results("nan 0 0\n")), CalibrationError);
  EXPECT_THROW(peak_from("fp32", results("-1 0 0\n")), CalibrationError);
  EXPECT_THROW(peak_from("fp32", results("10 0 0\n", 0)), CalibrationError);
  EXPECT_THROW(peak_from("fp32", results("10 0 0\n", std::nan(""))), CalibrationError);
  EXPECT_THROW(peak_from("fp32", {}), CalibrationError);
  std::string endless;
  for (int i = 0; i < 10'001; ++i) endless += "1 0 0\n";
  EXPECT_THROW(peak_from("fp32", results(endless)), CalibrationError);
}

/// A real GPU whose runs a test scripts: all times are those of its data sheet, and a bit more.
class PretendedGpu : public Device {
 public:
  explicit PretendedGpu(double share) : gpu_(gpu_spec::load(kFile)), share_(share) {}
  std::string id() const override { return "cuda:0"; }
  std::string name() const override { return "NVIDIA T4"; }
  std::string time_kind() const override { return "measured"; }
  std::string uuid() const override { return "GPU-0a0b0c0d-0000"; }
  const gpu_spec::GpuSpec& gpu() const override { return gpu_; }
  RunOutcome run(const RunRequest& request) override {
    const Values& parameters = request.problem->parameters;
    asked.push_back(std::get<std::string>(parameters.at("quantity")));
    EXPECT_EQ(std::get<std::int64_t>(parameters.at("simulated")), 0);
    EXPECT_FALSE(request.timed) << "the calibration repeats by itself";
    const auto& quantity = gpu_spec::quantity_named(asked.back());
    const double sheet = data_sheet_value(gpu_, asked.back()) * quantity.scale;
    const double work = asked.back() == "launch" ? 500 / sheet : share_ * sheet * 500e-6;
    RunOutcome outcome;
    outcome.results =
        results("500 1590 0\n500 1590 4\n500 1590 0\n900 400 32\n", sheet > 0 ? work : 1e9);
    return outcome;
  }

  std::vector<std::string> asked;

 private:
  static constexpr const char* kFile = ROOFLAB_SOURCE_DIR "/specs/gpus/t4.toml";
  gpu_spec::GpuSpec gpu_;
  double share_;
};

TEST(CalibrationOfARealGpuTest, AsksForWhatTheGpuHas) {
  PretendedGpu gpu(0.9);
  const auto calibration = measure_peaks(gpu, {.tool = "0.1.0", .date = "2026-03-14"});
  EXPECT_THAT(gpu.asked, testing::ElementsAre("dram_read", "dram_copy", "l2_read", "l1_read",
                                              "shared_read", "fp32", "fp16_tensor", "launch"))
      << "a T4 has tensor cores for fp16 alone";
  EXPECT_EQ(calibration.kind, "measured");
  EXPECT_EQ(calibration.uuid, "GPU-0a0b0c0d-0000");
  EXPECT_EQ(calibration.driver, "580.82.07");
  EXPECT_TRUE(calibration.watched);
  EXPECT_NEAR(calibration.find("fp16_tensor")->value, 0.9 * 65, 1e-9);
  EXPECT_EQ(calibration.find("fp32")->dropped, 1);
  const std::string table = comparison_table(calibration, gpu.gpu());
  EXPECT_THAT(table, HasSubstr("measured"));
  EXPECT_THAT(table, HasSubstr("90.0 %"));
  EXPECT_THAT(table, HasSubstr("(1 throttled)"));
}

TEST(CalibrationOfARealGpuTest, RefusesWhatNoGpuDoes) {
  PretendedGpu gpu(1.2);
  try {
    measure_peaks(gpu, {});
    ADD_FAILURE() << "taken";
  } catch (const CalibrationError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is not kept: DRAM, reading is 384 GB/s, more than"));
    EXPECT_THAT(error.what(), HasSubstr("specs/gpus/t4.toml"));
  }
}

TEST(ClockWatchTest, SaysNothingWithoutTheLibrary) {
  const ClockWatch watch("no-such-library.so", "0000:65:00.0");
  Sample sample;
  watch.look(sample);
  EXPECT_FALSE(watch.works());
  EXPECT_EQ(sample.sm_mhz, 0);
  EXPECT_EQ(watch.driver(), "");
}

TEST(ClockWatchTest, ReadsClockAndReasonsOfTheGpuAtAnAddress) {
  const ClockWatch watch(ROOFLAB_BINARY_DIR "/tests/fake_cuda/libnvidia-ml.so.1", "0000:65:00.0");
  ASSERT_TRUE(watch.works());
  Sample sample;
  watch.look(sample);
  EXPECT_EQ(sample.sm_mhz, 1305);
  EXPECT_FALSE(is_throttled(sample));
  setenv("ROOFLAB_FAKE_NVML_REASONS", "0x24", 1);
  watch.look(sample);
  unsetenv("ROOFLAB_FAKE_NVML_REASONS");
  EXPECT_TRUE(is_throttled(sample));
  EXPECT_EQ(watch.driver(), "580.82.07");
  const ClockWatch other(ROOFLAB_BINARY_DIR "/tests/fake_cuda/libnvidia-ml.so.1", "0000:66:00.0");
  EXPECT_FALSE(other.works()) << "there is no GPU";
}

/// What the model lets a kernel reach of a data sheet's number (docs/design/time-model.md).
struct Expectation {
  const char* quantity;
  double share;
  double tolerance;
};

class SimulatedGpuTest : public testing::TestWithParam<const char*> {
 protected:
  static DeviceOptions options() {
    const std::filesystem::path build = ROOFLAB_BINARY_DIR;
    DeviceOptions options;
    options.gpu_specs = std::filesystem::path(ROOFLAB_SOURCE_DIR) / "specs" / "gpus";
    options.simgpu_device = build / "bin" / "simgpu-device";
    options.guest_program = build / "bin" / "rooflab-guest";
    options.runtime_libraries = build / "lib" / "simgpu";
    return options;
  }
};

TEST_P(SimulatedGpuTest, ReachesWhatItsModelAllows) {
  const auto device = open_device(std::string("sim:") + GetParam(), options());
  const auto calibration = measure_peaks(
      *device, {.library = ROOFLAB_BINARY_DIR "/lib/grader/calibrate.so", .tool = "0.1.0"});
  const gpu_spec::GpuSpec& gpu = device->gpu();
  EXPECT_EQ(calibration.kind, "modelled");
  EXPECT_FALSE(calibration.watched);
  EXPECT_EQ(objection_to(calibration, gpu), "");
  const double clock = 1 / gpu.slowdown_under_load();
  const double read = gpu.dram_read_share;
  const double copy = 2 / (1 / gpu.dram_read_share + 1 / gpu.dram_write_share);
  const double mma = clock * gpu.mma_share;
  // L2 reaches 0.75 in the model; compute has the clock under load.
  for (const Expectation& wanted : std::vector<Expectation>{{"dram_read", read, 0.03},
                                                            {"dram_copy", copy, 0.03},
                                                            {"l2_read", 0.75, 0.05},
                                                            {"shared_read", clock, 0.05},
                                                            {"fp32", clock, 0.05},
                                                            {"fp16_tensor", mma, 0.05},
                                                            {"bf16_tensor", mma, 0.05},
                                                            {"tf32_tensor", mma, 0.05},
                                                            {"launch", 1, 0.1}}) {
    const double sheet = data_sheet_value(gpu, wanted.quantity);
    const auto* const peak = calibration.find(wanted.quantity);
    ASSERT_EQ(peak != nullptr, sheet > 0) << wanted.quantity;
    if (peak == nullptr) continue;
    EXPECT_NEAR(peak->value / sheet / wanted.share, 1, wanted.tolerance) << wanted.quantity;
    EXPECT_EQ(peak->spread, 0) << wanted.quantity << ": modelled times do not vary";
  }
  // Its L1 hands out a word for each of an SM's load/store units, 32 or 16, in each cycle.
  const bool has_32 = gpu.compute_capability_minor == 0;
  const double words = gpu.sm_count * gpu.clock_under_load_mhz() * 1e6 * (has_32 ? 128 : 64) / 1e9;
  EXPECT_NEAR(calibration.find("l1_read")->value / words, 1, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Gpus, SimulatedGpuTest, testing::Values("a100", "t4", "h200"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace rooflab
