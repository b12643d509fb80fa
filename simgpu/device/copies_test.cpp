#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "simgpu/device/device.h"

namespace simgpu::copies_test {
namespace {

constexpr std::uint64_t kBytes = 1024;

class CopyTest : public ::testing::Test {
 protected:
  CopyTest() {
    EXPECT_EQ(device_.allocations().allocate(2 * kBytes, &array_), CudaError::success);
    EXPECT_EQ(device_.copies().fill(
                  {.address = array_, .pitch = 2 * kBytes, .width = 2 * kBytes, .height = 1}),
              CudaError::success);
  }
  void copy(std::uint64_t to, std::uint64_t from) {
    EXPECT_EQ(device_.copies().copy_on_device({.destination = array_ + to,
                                               .destination_pitch = kBytes,
                                               .source = array_ + from,
                                               .source_pitch = kBytes,
                                               .width = kBytes,
                                               .height = 1}),
              CudaError::success);
  }
  DeviceMemory::Unwritten unwritten() { return device_.memory().unwritten(array_, 2 * kBytes); }

  const gpu_spec::GpuSpec gpu_ =
      gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml");
  Device device_{gpu_, {.workers = 1, .memory_limit = 1 << 20}};
  std::uint64_t array_ = 0;
};

TEST_F(CopyTest, BesideItsSourceWritesAll) {
  copy(kBytes, 0);
  EXPECT_EQ(unwritten().bytes, 0u);
}

TEST_F(CopyTest, OntoItselfChangesNothing) {
  copy(0, 0);
  EXPECT_EQ(unwritten().bytes, 0u);
}

TEST_F(CopyTest, ThatReadsWhatItWritesLeavesThatUndefined) {
  copy(0, 32);
  EXPECT_EQ(unwritten().bytes, kBytes - 32);
  EXPECT_EQ(unwritten().first, array_ + 32);
}

}  // namespace
}  // namespace simgpu::copies_test
