#include "simgpu/device/dram_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "simgpu/device/device.h"

namespace simgpu::dram_rows_test {
namespace {

constexpr std::uint64_t kBegin = 1 << 20;

std::uint64_t moved(std::uint64_t pitch, std::uint64_t width, std::uint64_t height,
                    std::uint64_t address = kBegin) {
  return DramRows{address, pitch, width, height}.moved_bytes();
}

TEST(DramRows, AreWholeSectors) {
  EXPECT_EQ(moved(1 << 20, 1 << 20, 1), 1U << 20);
  EXPECT_EQ(moved(4, 4, 1), 32U);
  EXPECT_EQ(moved(4, 4, 1, kBegin + 30), 64U) << "in two of them";
  EXPECT_EQ(moved(1024, 4, 65'536), 65'536U * 32);
  EXPECT_EQ(moved(1024, 36, 65'536), 65'536U * 64);
}

TEST(DramRows, CountASectorOnceThatSeveralLieIn) {
  EXPECT_EQ(moved(4, 4, 65'536), 4U * 65'536) << "without gaps";
  EXPECT_EQ(moved(8, 4, 65'536), 8U * 65'536) << "one word of two";
  EXPECT_EQ(moved(48, 40, 65'536), 48U * 65'536);
}

TEST(DramRows, AreCountedTheSameHoweverMany) {
  for (const std::uint64_t pitch : {5, 12, 33, 40, 100, 1000}) {
    std::uint64_t next = 0, sectors = 0;
    for (std::uint64_t row = 0; row < 1000; ++row) {
      const std::uint64_t begin = kBegin + 7 + row * pitch, end = begin + 4;
      for (std::uint64_t sector = begin / 32; sector <= (end - 1) / 32; ++sector) {
        sectors += sector >= next;
        next = std::max(next, sector + 1);
      }
    }
    EXPECT_EQ(moved(pitch, 4, 1000, kBegin + 7), 32 * sectors) << pitch;
  }
}

class OnDevice : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kBytes = 64 << 20;

  std::uint64_t allocate() {
    std::uint64_t address = 0;
    EXPECT_EQ(device_.allocations().allocate(kBytes, &address), CudaError::success);
    return address;
  }
  double last_us() { return device_.log().activity().memory.back().time_us; }

  const gpu_spec::GpuSpec gpu_ =
      gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml");
  Device device_{gpu_, {.workers = 1, .memory_limit = 4 * kBytes}};
};

TEST_F(OnDevice, CopiesAndFillsReachWhatKernelsReachOfTheBandwidth) {
  const std::uint64_t from = allocate(), to = allocate();
  EXPECT_EQ(device_.copies().fill({.address = from, .pitch = kBytes, .width = kBytes, .height = 1}),
            CudaError::success);
  const double at_full_rate = static_cast<double>(kBytes) / gpu_.dram_bytes_per_second * 1e6;
  EXPECT_NEAR(last_us(), at_full_rate / gpu_.dram_write_share, 3);
  EXPECT_EQ(device_.copies().copy_on_device({.destination = to,
                                             .destination_pitch = kBytes,
                                             .source = from,
                                             .source_pitch = kBytes,
                                             .width = kBytes,
                                             .height = 1}),
            CudaError::success);
  EXPECT_NEAR(last_us(), at_full_rate / gpu_.dram_write_share + at_full_rate / gpu_.dram_read_share,
              3);
}

TEST_F(OnDevice, CopiesOfAColumnTakeTheTimeOfItsSectors) {
  const std::uint64_t from = allocate(), to = allocate();
  const auto copy = [&](std::uint64_t pitch, std::uint64_t width) {
    EXPECT_EQ(device_.copies().copy_on_device({.destination = to,
                                               .destination_pitch = pitch,
                                               .source = from,
                                               .source_pitch = pitch,
                                               .width = width,
                                               .height = 65'536}),
              CudaError::success);
    return last_us();
  };
  EXPECT_DOUBLE_EQ(copy(1024, 4), copy(1024, 32));
  EXPECT_GT(copy(1024, 4), 1.5 * copy(4, 4));
}

}  // namespace
}  // namespace simgpu::dram_rows_test
