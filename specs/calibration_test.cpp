#include "specs/calibration.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

namespace gpu_spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kGpus = std::filesystem::path(ROOFLAB_SOURCE_DIR) / "specs" / "gpus";

GpuSpec a100() { return load(kGpus / "a100.toml"); }
GpuSpec t4() { return load(kGpus / "t4.toml"); }

CalibratedPeak peak(const std::string& quantity, double value) {
  return {.quantity = quantity,
          .value = value,
          .spread = value / 100,
          .samples = 20,
          .dropped = 1,
          .sm_mhz = 1380,
          .how = "as \"fast\" as \\ it\ngoes"};
}

Calibration good() {
  return {.gpu = "a100",
          .kind = "measured",
          .device = "NVIDIA A100-PCIE-40GB",
          .uuid = "GPU-8c4d1f20-0000-1111-2222-333344445555",
          .driver = "580.82.07",
          .tool = "0.1.0",
          .date = "2026-03-14",
          .watched = true,
          .peaks = {peak("dram_read", 1400), peak("dram_copy", 1350), peak("l2_read", 5000),
                    peak("fp32", 19), peak("bf16_tensor", 250), peak("launch", 2.5)}};
}

Calibration with(const CalibratedPeak& changed) {
  Calibration calibration = good();
  std::erase_if(calibration.peaks,
                [&](const CalibratedPeak& one) { return one.quantity == changed.quantity; });
  calibration.peaks.push_back(changed);
  return calibration;
}

class CalibrationFileTest : public testing::Test {
 protected:
  CalibrationFileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "calibration_XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~CalibrationFileTest() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path write(const std::string& text) const {
    const std::filesystem::path file = directory_ / "x.toml";
    std::ofstream(file) << text;
    return file;
  }

  /// What reading says to a good file with the first `from` replaced.
  std::string complaint(const std::string& from, const std::string& to) const {
    std::string text = to_toml(good(), a100());
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return complaint_about(text);
  }

  std::string complaint_about(const std::string& text) const {
    try {
      load_calibration(write(text));
    } catch (const SpecError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path directory_;
};

TEST_F(CalibrationFileTest, IsReadBackAsItWasWritten) {
  const Calibration before = good();
  const Calibration after = load_calibration(write(to_toml(before, a100())));
  EXPECT_EQ(after.gpu, before.gpu);
  EXPECT_EQ(after.kind, before.kind);
  EXPECT_EQ(after.device, before.device);
  EXPECT_EQ(after.uuid, before.uuid);
  EXPECT_EQ(after.driver, before.driver);
  EXPECT_EQ(after.tool, before.tool);
  EXPECT_EQ(after.date, before.date);
  EXPECT_TRUE(after.watched);
  ASSERT_EQ(after.peaks.size(), before.peaks.size());
  for (std::size_t i = 0; i < before.peaks.size(); ++i) {
    const CalibratedPeak& wanted = before.peaks[i];
    const CalibratedPeak& got = after.peaks[i];
    EXPECT_EQ(got.quantity, wanted.quantity);
    EXPECT_NEAR(got.value, wanted.value, 1e-5 * wanted.value);
    EXPECT_NEAR(got.spread, wanted.spread, 1e-2 * wanted.spread);
    EXPECT_EQ(got.samples, wanted.samples);
    EXPECT_EQ(got.dropped, wanted.dropped);
    EXPECT_EQ(got.sm_mhz, wanted.sm_mhz);
    EXPECT_EQ(got.how, wanted.how) << "quotes, backslashes and new lines stay what they are";
  }
}

TEST_F(CalibrationFileTest, SaysHowFarTheDataSheetIs) {
  EXPECT_THAT(to_toml(good(), a100()),
              HasSubstr("value = 1400.00  # 90.0 % of the data sheet's 1555"));
}

TEST_F(CalibrationFileTest, IsRefusedWithItsLineAndWhatToDo) {
  EXPECT_THAT(complaint("schema = 1", "schema = 2"), HasSubstr("x.toml:2: schema must be 1"));
  EXPECT_THAT(complaint("kind = ", "kinds = "), HasSubstr("kind must be a text"));
  EXPECT_THAT(complaint("value = 1400.00", "value = nan"), HasSubstr("value must be a number"));
  EXPECT_THAT(complaint("value = 1400.00", "value = inf"), HasSubstr("value must be a number"));
  EXPECT_THAT(complaint("samples = 20", "samples = -1"), HasSubstr("samples must be a count"));
  EXPECT_THAT(complaint("samples = 20", "samples = 1e300"), HasSubstr("samples must be a count"));
  EXPECT_THAT(complaint("unit = \"GB/s\"", "unit = \"MB/s\""), HasSubstr("must be GB/s"));
  EXPECT_THAT(complaint("\"dram_copy\"", "\"dram_read\""), HasSubstr("dram_read is there twice"));
  EXPECT_THAT(complaint("\"dram_copy\"", "\"warp_drive\""),
              HasSubstr("quantity is none that calibrations know"));
  EXPECT_THAT(complaint("schema", "schema ="), HasSubstr("is not valid TOML"));
  EXPECT_THAT(complaint_about(""), HasSubstr("schema must be 1"));
  EXPECT_THROW(load_calibration(directory_ / "none.toml"), SpecError);
  EXPECT_THROW(load_calibration(directory_), SpecError);
}

TEST_F(CalibrationFileTest, LiesWhereNobodyTakesItForAnotherGpu) {
  std::filesystem::copy(kGpus / "a100.toml", directory_ / "a100.toml");
  std::filesystem::copy(kGpus / "a100-80gb-sxm.toml", directory_ / "a100-80gb-sxm.toml");
  const auto file = calibration_file(directory_, "a100", good().uuid);
  EXPECT_EQ(file, directory_ / "calibrated" / "a100-8c4d1f20.toml");
  EXPECT_EQ(calibration_file(directory_, "a100", ""),
            directory_ / "calibrated" / "a100-simulated.toml");
  EXPECT_EQ(calibration_file(directory_, "a100", "GPU-../../etc/passwd").parent_path(),
            directory_ / "calibrated");
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << to_toml(good(), a100());
  std::ofstream(directory_ / "calibrated" / "a100-80gb-sxm-0a0b0c0d.toml") << "another GPU's";
  EXPECT_THAT(list(directory_), ElementsAre("a100", "a100-80gb-sxm"));
  EXPECT_THAT(calibration_files(directory_, "a100"), ElementsAre(file));
  EXPECT_THAT(calibration_files(directory_ / "none", "a100"), IsEmpty());
}

TEST(CalibrationTest, NothingSpeaksAgainstAGoodOne) { EXPECT_EQ(objection_to(good(), a100()), ""); }

TEST(CalibrationTest, OfAnotherGpuIsRefused) {
  EXPECT_THAT(objection_to(good(), t4()), HasSubstr("a GPU called a100, not t4"));
}

TEST(CalibrationTest, ThatContradictsPhysicsIsRefused) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(objection_to(with(peak("dram_read", 1.06 * 1555)), a100()),
              HasSubstr("DRAM, reading is 1648 GB/s, more than the 1555 of its data sheet allow"));
  EXPECT_EQ(objection_to(with(peak("dram_read", 1.04 * 1555)), a100()), "");
  EXPECT_THAT(objection_to(with(peak("bf16_tensor", 330)), a100()), HasSubstr("more than the 312"));
  EXPECT_THAT(objection_to(with(peak("dram_read", 0)), a100()), HasSubstr("no rate"));
  EXPECT_THAT(objection_to(with(peak("fp32", -1)), a100()), HasSubstr("no rate"));
  EXPECT_THAT(objection_to(with(peak("fp32", kNan)), a100()), HasSubstr("no rate"));
  EXPECT_THAT(objection_to(with(peak("fp32", 3)), a100()), HasSubstr("less than a fifth"));
  EXPECT_THAT(objection_to(with(peak("launch", 500)), a100()), HasSubstr("which no GPU takes"));
}

TEST(CalibrationTest, ACardThatClocksHigherMayReachMore) {
  CalibratedPeak fast = peak("fp32", 1.15 * 19.5);
  EXPECT_THAT(objection_to(with(fast), a100()), HasSubstr("more than"));
  fast.sm_mhz = 1.12 * 1410;
  EXPECT_EQ(objection_to(with(fast), a100()), "");
  fast.sm_mhz = 100 * 1410;
  fast.value = 1.5 * 19.5;
  EXPECT_THAT(objection_to(with(fast), a100()), HasSubstr("more than"))
      << "but no clock is 100 times";
}

TEST(CalibrationTest, OfSamplesThatSayNothingIsRefused) {
  CalibratedPeak unsteady = peak("fp32", 19);
  unsteady.spread = 6;
  EXPECT_THAT(objection_to(with(unsteady), a100()), HasSubstr("something else used the GPU"));
  unsteady.spread = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(objection_to(with(unsteady), a100()), HasSubstr("has a spread of nan"));
  CalibratedPeak few = peak("fp32", 19);
  few.samples = 2;
  few.dropped = 98;
  EXPECT_THAT(objection_to(with(few), a100()), HasSubstr("throttled in 98 others"));
  Calibration lacking = good();
  lacking.peaks.pop_back();
  std::erase_if(lacking.peaks, [](const auto& one) { return one.quantity == "fp32"; });
  EXPECT_THAT(objection_to(lacking, a100()), HasSubstr("lacks"));
}

TEST(CalibrationTest, GivesARooflineItsPeaks) {
  const GpuSpec gpu = with_peaks_of(a100(), good());
  EXPECT_DOUBLE_EQ(gpu.dram_bytes_per_second, 1400e9) << "the better of reading and copying";
  EXPECT_DOUBLE_EQ(gpu.l2_bytes_per_second, 5000e9);
  EXPECT_DOUBLE_EQ(gpu.peak_flops.at("fp32"), 19e12);
  EXPECT_DOUBLE_EQ(gpu.peak_flops.at("bf16_tensor"), 250e12);
  EXPECT_DOUBLE_EQ(gpu.peak_flops.at("tf32_tensor"), 156e12) << "not measured: the data sheet's";
  EXPECT_EQ(gpu.launch_overhead_us, 2.5);
  EXPECT_EQ(gpu.id, "a100");
  EXPECT_EQ(gpu.sm_count, 108);
}

// A T4's data sheet is for 1590 MHz and its power for 900: what was measured was measured at 900.
TEST(CalibrationTest, TakesTheClockUnderLoadIntoAccountOnce) {
  Calibration calibration = good();
  calibration.gpu = "t4";
  calibration.peaks = {peak("dram_read", 280), peak("fp32", 4.5)};
  const GpuSpec gpu = with_peaks_of(t4(), calibration);
  EXPECT_EQ(gpu.slowdown_under_load(), 1);
  EXPECT_DOUBLE_EQ(gpu.peak_flops.at("fp32"), 4.5e12);
  EXPECT_DOUBLE_EQ(gpu.peak_flops.at("fp16_tensor"), 65e12 * 900 / 1590);
}

TEST(CalibrationTest, KnowsWhatTheDataSheetSays) {
  EXPECT_DOUBLE_EQ(data_sheet_value(a100(), "dram_copy"), 1555);
  EXPECT_DOUBLE_EQ(data_sheet_value(a100(), "fp32"), 19.5);
  // 32 banks of 4 bytes on each of 108 SMs at 1410 MHz, and 64 bytes on each of a T4's 40.
  EXPECT_NEAR(data_sheet_value(a100(), "shared_read"), 128 * 108 * 1.41, 1e-6);
  EXPECT_NEAR(data_sheet_value(t4(), "shared_read"), 64 * 40 * 1.59, 1e-6);
  EXPECT_EQ(data_sheet_value(a100(), "l1_read"), 0) << "none says it";
  EXPECT_EQ(data_sheet_value(t4(), "bf16_tensor"), 0);
}

}  // namespace
}  // namespace gpu_spec
