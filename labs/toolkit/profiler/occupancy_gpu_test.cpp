#include "toolkit/profiler/occupancy.h"

#include <gtest/gtest.h>

namespace rooflab {
namespace {

ProfiledDevice a100() {
  constexpr std::uint64_t kKibibyte = 1024;
  return {.name = "A100",
          .compute_major = 8,
          .compute_minor = 0,
          .multiprocessors = 108,
          .max_threads_per_block = 1024,
          .max_threads_per_multiprocessor = 2048,
          .registers_per_block = 65536,
          .registers_per_multiprocessor = 65536,
          .shared_bytes_per_block = 48 * kKibibyte,
          .shared_bytes_per_block_optin = 163 * kKibibyte,
          .shared_bytes_per_multiprocessor = 164 * kKibibyte,
          .reserved_shared_bytes_per_block = kKibibyte};
}

// 164 KiB hold five blocks of 32 KiB, but four of 33.
TEST(Occupancy, CountsTheSharedMemoryThatTheSystemTakesOfEachBlock) {
  ProfiledEvent kernel;
  kernel.grid = {10'000, 1, 1};
  kernel.block = {128, 1, 1};
  kernel.registers_per_thread = 32;
  kernel.shared_bytes = 32 * 1024;
  estimate_occupancy(kernel, a100(), kernel.shared_bytes);
  EXPECT_DOUBLE_EQ(kernel.occupancy, 4 * 128.0 / 2048);
}

TEST(Occupancy, KnowsWhatTheDeviceAtHandTakes) {
  const ProfiledDevice device = describe_device();
  int reserved = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, 0),
            cudaSuccess);
  EXPECT_EQ(device.reserved_shared_bytes_per_block, static_cast<std::uint64_t>(reserved));
}

}  // namespace
}  // namespace rooflab
