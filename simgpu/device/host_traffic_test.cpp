#include "simgpu/device/host_traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "simgpu/counters/traffic_log.h"

namespace simgpu::host_traffic_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// 4 KiB of device memory, of managed and of pinned memory.
class HostTrafficTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kBytes = 4096;
  std::uint64_t shared(Sharing sharing) {
    return blocks_.emplace_back(memory_.allocate_shared(kBytes, "shared", sharing).value()).address;
  }
  /// What a launch came to that read and wrote one whole sector.
  static LaunchResult touching(std::uint64_t address) {
    LaunchResult result;
    result.sectors = {{.sector = (address - kDeviceBase) / kSectorBytes,
                       .read = 0xffffffff,
                       .written = 0xff,
                       .changed = 0xff}};
    return result;
  }
  HostTraffic traffic_of(std::uint64_t address) const {
    return host_traffic(touching(address), 1, memory_, contents_.written_by_host(memory_));
  }

  DeviceMemory memory_{std::uint64_t{1} << 24};
  std::vector<SharedBlock> blocks_;
  std::uint64_t device_ = memory_.allocate(kBytes, "device").value();
  std::uint64_t managed_ = shared(Sharing::managed);
  std::uint64_t pinned_ = shared(Sharing::pinned);
  ManagedContents contents_;
};

TEST_F(HostTrafficTest, OfDeviceMemoryIsNone) {
  EXPECT_EQ(traffic_of(device_).read_bytes, 0);
  EXPECT_EQ(traffic_of(device_).pinned_bytes, 0);
  EXPECT_EQ(traffic_of(device_).managed_bytes, 0);
}

TEST_F(HostTrafficTest, OfPinnedMemoryIsAllThatIsTouched) {
  EXPECT_EQ(traffic_of(pinned_).read_bytes, 32);
  EXPECT_EQ(traffic_of(pinned_).pinned_bytes, 8);
}

TEST_F(HostTrafficTest, BytesAreToldInOrderAndJoinedBetweenSectors) {
  const auto sector = [](std::uint64_t address, std::uint32_t read) {
    return TouchedSector{.sector = (address - kDeviceBase) / kSectorBytes, .read = read};
  };
  const std::vector<TouchedSector> sectors{sector(device_, ~0U), sector(managed_, 0xF000'000FU),
                                           sector(managed_ + 32, ~0U), sector(managed_ + 64, 3),
                                           sector(managed_ + 96, 0)};
  EXPECT_THAT(ranges_shared_with_host(sectors, &TouchedSector::read, memory_),
              ElementsAre(ByteRange{managed_, 4}, ByteRange{managed_ + 28, 38}));
  EXPECT_THAT(ranges_shared_with_host(sectors, &TouchedSector::changed, memory_), ElementsAre());
}

TEST_F(HostTrafficTest, OfManagedMemoryIsReadWhatTheHostHasWritten) {
  EXPECT_EQ(traffic_of(managed_).read_bytes, 0) << "nobody has written it";
  EXPECT_EQ(traffic_of(managed_).managed_bytes, 8);
  std::memset(memory_.host(managed_ + 64), 1, 40);
  EXPECT_THAT(contents_.written_by_host(memory_), ElementsAre(ByteRange{managed_ + 64, 64}));
  EXPECT_EQ(traffic_of(managed_ + 64).read_bytes, 32);
  EXPECT_EQ(traffic_of(managed_).read_bytes, 0);
  contents_.keep(memory_, touched_bytes(touching(managed_ + 64), memory_));
  EXPECT_THAT(contents_.written_by_host(memory_), ElementsAre(ByteRange{managed_ + 96, 32}))
      << "the first sector is on the device now";
}

TEST_F(HostTrafficTest, WhatTheHostWroteStaysItsOwnWhileTheDeviceWorksElsewhere) {
  std::memset(memory_.host(managed_ + 64), 1, 32);
  contents_.keep(memory_, touched_bytes(touching(device_), memory_));
  std::memset(memory_.host(managed_ + 128), 1, 32);  // while a kernel runs, say
  contents_.keep(memory_, {{device_, kBytes}});
  EXPECT_EQ(traffic_of(managed_ + 64).read_bytes, 32);
  EXPECT_EQ(traffic_of(managed_ + 128).read_bytes, 32);
  contents_.keep(memory_, {{managed_, 72}});
  EXPECT_THAT(contents_.written_by_host(memory_),
              ElementsAre(ByteRange{managed_ + 72, 24}, ByteRange{managed_ + 128, 32}));
  LaunchResult sampled = touching(managed_ + 512);
  sampled.sampled_blocks = 1;
  contents_.keep(memory_, touched_bytes(sampled, memory_));
  EXPECT_THAT(contents_.written_by_host(memory_), IsEmpty()) << "other blocks touch the rest";
}

TEST_F(HostTrafficTest, AtomicsAndStrongStoresReachTheHostToo) {
  LaunchResult result = touching(pinned_);
  result.sectors[0].changed = 0xffff;  // two words more than plain stores wrote
  EXPECT_EQ(host_traffic(result, 1, memory_, {}).pinned_bytes, 16);
}

TEST_F(HostTrafficTest, OfASampledLaunchStandsForAllBlocks) {
  LaunchResult result = touching(pinned_);
  result.sampled_blocks = 4;
  EXPECT_EQ(host_traffic(result, 40, memory_, {}).read_bytes, 320);
}

TEST(HostTrafficTime, IsThatOfPcieWhereItTakesLonger) {
  gpu_spec::GpuSpec gpu;
  gpu.pcie_bytes_per_second = 1e9;
  TimeBreakdown time;
  time.total_us = 12;
  time.launch_us = 2;
  time.limiter = Limiter::dram;
  add_host_traffic({.read_bytes = 5000, .pinned_bytes = 20'000, .managed_bytes = 1e6}, gpu, time);
  EXPECT_DOUBLE_EQ(time.terms.at(Limiter::host_loads), 5);
  EXPECT_DOUBLE_EQ(time.terms.at(Limiter::host_stores), 20);
  EXPECT_DOUBLE_EQ(time.terms.at(Limiter::managed_stores), 1000);
  EXPECT_DOUBLE_EQ(time.total_us, 22) << "managed memory stays on the device until it is read";
  EXPECT_EQ(time.limiter, Limiter::host_stores);
}

TEST_F(HostTrafficTest, OfALibrarysOperandsIsWhatTheyHaveInMemoryOfTheHost) {
  std::memset(memory_.host(managed_), 1, 40);
  HostTraffic traffic;
  for (const std::uint64_t address : {device_, managed_, pinned_}) {
    add_operand({.address = address, .end = address + 64, .bytes = 60, .read = true}, memory_,
                contents_.written_by_host(memory_), traffic);
  }
  EXPECT_EQ(traffic.read_bytes, 120);
  for (const std::uint64_t address : {device_, managed_, pinned_}) {
    add_operand({.address = address, .end = address + 64, .bytes = 50, .written = true}, memory_,
                {}, traffic);
  }
  EXPECT_EQ(traffic.read_bytes, 120);
  EXPECT_EQ(traffic.managed_bytes, 50);
  EXPECT_EQ(traffic.pinned_bytes, 50);
}

}  // namespace
}  // namespace simgpu::host_traffic_test
