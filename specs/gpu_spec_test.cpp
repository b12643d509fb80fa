#include "specs/gpu_spec.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "specs/driver_names.h"

namespace gpu_spec {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::filesystem::path gpus() {
  return std::filesystem::path(ROOFLAB_SOURCE_DIR) / "specs" / "gpus";
}

std::string a100_text() {
  std::ifstream in(gpus() / "a100.toml");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A directory of specifications that a test may spoil.
class SpecFileTest : public testing::Test {
 protected:
  SpecFileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpu_spec_XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~SpecFileTest() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = directory_ / name;
    std::ofstream(file) << text;
    return file;
  }

  /// a100.toml with the first `from` replaced, as x.toml; what load says to it, without the
  /// directory.
  std::string complaint(const std::string& from, const std::string& to) const {
    std::string text = a100_text();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
      load(write("x.toml", text));
    } catch (const SpecError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.rfind(directory_.string() + "/", 0), 0U) << message;
      return message.substr(directory_.string().size() + 1);
    }
    return "no complaint";
  }

  std::filesystem::path directory_;
};

TEST(GpuSpecTest, ReadsTheA100) {
  const GpuSpec gpu = load(gpus() / "a100.toml");
  EXPECT_EQ(gpu.id, "a100");
  EXPECT_EQ(gpu.name, "A100 40 GB PCIe");
  EXPECT_EQ(gpu.compute_capability_major, 8);
  EXPECT_EQ(gpu.compute_capability_minor, 0);
  EXPECT_EQ(gpu.sm_count, 108);
  EXPECT_DOUBLE_EQ(gpu.peak_flops.at("fp32"), 19.5e12);
  EXPECT_DOUBLE_EQ(gpu.dram_bytes_per_second, 1555e9);
  EXPECT_EQ(gpu.dram_bytes, std::int64_t{40} << 30);
  EXPECT_EQ(gpu.l2_bytes, 40 << 20);
  EXPECT_EQ(gpu.shared_bytes_per_sm, 164 * 1024);
  EXPECT_EQ(gpu.shared_bytes_per_block_optin, 163 * 1024);
  EXPECT_NEAR(gpu.ridge_point("fp32"), 19.5e12 / 1555e9, 1e-12);
  EXPECT_THROW(gpu.ridge_point("fp8"), SpecError);
}

TEST(GpuSpecTest, EverySpecificationLoadsAndCitesItsNumbers) {
  for (const std::string& id : list(gpus())) {
    SCOPED_TRACE(id);
    const GpuSpec gpu = find(gpus(), id);
    EXPECT_EQ(gpu.id, id);
    EXPECT_FALSE(gpu.sources.empty());
    // Each number is followed by the number of a source in the list.
    std::ifstream in(gpus() / (id + ".toml"));
    bool in_table = false;
    for (std::string line; std::getline(in, line);) {
      in_table = in_table || line.starts_with("[sm]");
      if (!in_table || line.find('=') == std::string::npos) continue;
      const std::size_t cite = line.find("# [");
      ASSERT_NE(cite, std::string::npos) << line;
      const std::string number = line.substr(cite + 2, line.find(']', cite) - cite - 1);
      EXPECT_THAT(gpu.sources, Contains(HasSubstr(number))) << line;
    }
  }
}

TEST(GpuSpecTest, TensorRatesAreDenseMultiplesOfTheCudaCoreRate) {
  // A sparse figure slipped in would double the ratio: dense fp16 tensor rates are 2 to 16 times
  // fp32, and up to 32 times where capability 10 has its tensor memory.
  for (const std::string& id : list(gpus())) {
    SCOPED_TRACE(id);
    const GpuSpec gpu = find(gpus(), id);
    const double ratio = gpu.peak_flops.at("fp16_tensor") / gpu.peak_flops.at("fp32");
    EXPECT_GE(ratio, 1.9);
    EXPECT_LE(ratio, gpu.compute_capability_major == 10 ? 33 : 16.5);
    if (gpu.peak_flops.contains("tf32_tensor")) {
      EXPECT_NEAR(gpu.peak_flops.at("fp16_tensor") / gpu.peak_flops.at("tf32_tensor"), 2.0, 0.01);
    }
  }
}

TEST(GpuSpecTest, BandwidthAndMemoryClockImplyAWholeBus) {
  // cudaDeviceProp's bus width is what the two imply: memories are wired in units of 128 bits here.
  for (const std::string& id : list(gpus())) {
    const GpuSpec gpu = find(gpus(), id);
    const double bits = gpu.dram_bytes_per_second * 8 / (gpu.memory_clock_mhz * 1e6 * 2);
    const double whole = std::round(bits / 128) * 128;
    EXPECT_NEAR(bits / whole, 1.0, 0.001) << id << ": " << bits << " bits";
  }
}

TEST(GpuSpecTest, AnAliasFindsItsFile) { EXPECT_EQ(find(gpus(), "a100-40gb-pcie").id, "a100"); }

TEST(GpuSpecTest, AnUnknownGpuIsRefusedWithTheOnesThereAre) {
  try {
    find(gpus(), "a1000");
    FAIL() << "found a GPU that does not exist";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no GPU is called \"a1000\""));
    EXPECT_THAT(error.what(), HasSubstr("a100"));
  }
}

TEST_F(SpecFileTest, IdsAreTheFilesSorted) {
  write("b.toml", "");
  write("a.toml", "");
  write("notes.txt", "");
  EXPECT_THAT(list(directory_), ElementsAre("a", "b"));
}

TEST_F(SpecFileTest, ADirectoryWithoutSpecificationsIsSaid) {
  EXPECT_THROW(list(directory_), SpecError);
  EXPECT_THROW(list(directory_ / "missing"), SpecError);
}

TEST_F(SpecFileTest, EachComplaintNamesFileLineKeyAndRemedy) {
  EXPECT_EQ(complaint("count = 108 ", "count = \"108\" "),
            "x.toml:16: sm.count must be a whole number (streaming multiprocessors)");
  EXPECT_EQ(complaint("count = 108 ", "count = -1 "),
            "x.toml:16: sm.count is -1; streaming multiprocessors must be more than 0");
  EXPECT_EQ(complaint("sm_mhz = 1410 ", ""),
            "x.toml:23: clock.sm_mhz is missing; add sm_mhz = … (boost clock in MHz) to [clock]");
  EXPECT_EQ(
      complaint("dram_gb_per_s = 1555 ", "dram_gb_per_s = nan "),
      "x.toml:36: memory.dram_gb_per_s is nan; DRAM bandwidth in 10^9 B/s must be more than 0");
  EXPECT_EQ(complaint("fp64 = 9.7 ", ""),
            "x.toml:27: peak_tflops.fp64 is missing; add fp64 = … (peak rate in 10^12 FLOP/s) to "
            "[peak_tflops]");
  EXPECT_EQ(
      complaint("sfu_lanes", "sfu_lane"),
      "x.toml:21: sm.sfu_lane is not a known key; remove it, or use one of count, schedulers, "
      "fp32_lanes, fp64_lanes, int32_lanes, sfu_lanes, shared_bytes_per_cycle, "
      "mma_share");
  EXPECT_EQ(complaint("compute_capability = [8, 0]", "compute_capability = 8.0"),
            "x.toml:4: compute_capability must be major and minor version; write "
            "compute_capability = [8, 0]");
  EXPECT_EQ(complaint("fp32 = 19.5", "fp32 = 195"),
            "x.toml:28: peak_tflops.fp32 is 195.0, but SMs x lanes x 2 x clock gives 19.5; correct "
            "the one that is wrong");
  EXPECT_EQ(complaint("name = ", "title = "),
            "x.toml:1: title is not a known key; remove it, or use one of aliases, "
            "compute_capability, driver_names, name, sources, [atomics], [clock], "
            "[latency_cycles], [launch], "
            "[limits], "
            "[memory], [peak_tflops], [sm]");
}

TEST_F(SpecFileTest, ATensorRateWithSparsityIsRefused) {
  EXPECT_EQ(complaint("fp16_tensor = 312.0", "fp16_tensor = 624.0"),
            "x.toml:32: peak_tflops.fp16_tensor is 624.0, but tensor cores of capability 8.0 do at "
            "most 2048 dense FLOPs a clock and SM, which is 311.9; a rate \"with sparsity\" has to "
            "be divided by two");
  EXPECT_THAT(complaint("tf32_tensor = 156.0", "tf32_tensor = 312.0"),
              HasSubstr("peak_tflops.tf32_tensor is 312.0"));
  EXPECT_THAT(complaint("bf16_tensor = 312.0", "bf16_tensor = 624.0"),
              HasSubstr("peak_tflops.bf16_tensor is 624.0"));
}

TEST_F(SpecFileTest, AClockUnderLoadAboveTheBoostClockIsRefused) {
  EXPECT_EQ(complaint("sm_mhz = 1410 ", "sm_mhz = 1410\nsustained_mhz = 1500 "),
            "x.toml:25: clock.sustained_mhz is 1500, above the boost clock of 1410; correct the "
            "one that is wrong");
}

TEST(GpuSpecTest, WhatPowerAndSharedMemoryDoNotLimitNeedNotBeSaid) {
  EXPECT_EQ(find(gpus(), "a100").clock_under_load_mhz(), 1410);
  EXPECT_EQ(find(gpus(), "a100").shared_bytes_per_cycle, 128);
  EXPECT_EQ(find(gpus(), "t4").clock_under_load_mhz(), 900);
  EXPECT_EQ(find(gpus(), "t4").shared_bytes_per_cycle, 64);
}

TEST(GpuSpecTest, WhatNobodyMeasuredNeedNotBeSaid) {
  const GpuSpec guessed = find(gpus(), "a100");
  EXPECT_EQ(guessed.mma_share, 1);
  EXPECT_EQ(guessed.dram_read_share, 0.87);
  EXPECT_EQ(guessed.dram_write_share, 0.87);
  EXPECT_EQ(guessed.dram_sharpness, 4);
  EXPECT_EQ(guessed.cycles_per_block, 0);
  const GpuSpec measured = find(gpus(), "h200");
  EXPECT_EQ(measured.mma_share, 0.667);
  EXPECT_EQ(measured.tensor_latency, 24);
}

TEST_F(SpecFileTest, SharesAboveOneAndExponentsBelowAreRefused) {
  EXPECT_EQ(complaint("count = 108 ", "count = 108\nmma_share = 1.5 "),
            "x.toml:17: sm.mma_share is 1.5, more than all of it; write a share from 0 to 1");
  EXPECT_THAT(complaint("dram_gb_per_s = 1555 ", "dram_gb_per_s = 1555\ndram_write_share = 87 "),
              HasSubstr("memory.dram_write_share is 87, more than all of it"));
  EXPECT_THAT(complaint("dram_gb_per_s = 1555 ", "dram_gb_per_s = 1555\ndram_sharpness = 0.5 "),
              HasSubstr("memory.dram_sharpness is 0.5; an exponent below 1"));
}

TEST(DriverNamesTest, AreThoseOfOneProduct) {
  EXPECT_THAT(driver_names(gpus(), "h100-sxm"), ElementsAre("NVIDIA H100 80GB HBM3"));
  EXPECT_THAT(driver_names(gpus(), "h100-pcie"), ElementsAre("NVIDIA H100 PCIe"));
  for (const std::string& id : list(gpus())) EXPECT_FALSE(driver_names(gpus(), id).empty()) << id;
}

TEST_F(SpecFileTest, NeedNotNameItsGpuAsTheDriverDoes) {
  std::string text = a100_text();
  const std::size_t at = text.find("driver_names");
  text.erase(at, text.find('\n', at) + 1 - at);
  write("own.toml", text);
  EXPECT_THAT(driver_names(directory_, "own"), ElementsAre());
}

TEST_F(SpecFileTest, DriverNamesAreAListOfNames) {
  EXPECT_THAT(complaint("driver_names = [", "driver_names = [\"\", "),
              HasSubstr("driver_names has an empty name; remove it"));
  EXPECT_THAT(complaint("driver_names = [", "driver_names = [7, "), HasSubstr("driver_names"));
}

TEST_F(SpecFileTest, BrokenTomlIsSaidWithItsLine) {
  EXPECT_THAT(complaint("[clock]", "[clock"), HasSubstr("x.toml:23: is not valid TOML"));
}

TEST_F(SpecFileTest, AMissingFileIsSaid) {
  EXPECT_THROW(load(directory_ / "none.toml"), SpecError);
  EXPECT_THROW(load(directory_), SpecError);
}

TEST_F(SpecFileTest, NumbersTooLargeForTheirUnitAreRefused) {
  EXPECT_THAT(complaint("l2_mib = 40 ", "l2_mib = 1e300 "), HasSubstr("check the unit"));
  EXPECT_THAT(complaint("l2_mib = 40 ", "l2_mib = inf "), HasSubstr("memory.l2_mib is inf"));
}

}  // namespace
}  // namespace gpu_spec
