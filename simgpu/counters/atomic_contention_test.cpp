#include "simgpu/counters/atomic_contention.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "simgpu/counters/traffic.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu::atomic_contention_test {
namespace {

constexpr std::uint64_t kAtomicBase = kDeviceBase + 4096;

/// What a launch of `blocks` blocks counts whose only warp does one atomic.
class AtomicLaunch {
 public:
  explicit AtomicLaunch(bool one_by_one) : one_by_one_(one_by_one) {
    gpu_.l2_bytes = 1 << 20;
    gpu_.atomic_cycles = 1;
    gpu_.float_atomic_cycles = 3;
  }

  KernelCounters run(std::uint64_t blocks,
                     const std::function<std::uint64_t(std::uint64_t, unsigned)>& address,
                     std::uint32_t mask = 0xffffffffU) {
    LaunchTraffic launch(gpu_, 4);
    BlockTraffic traffic(1 << 14);
    for (std::uint64_t block = 0; block < blocks; ++block) {
      std::array<std::uint64_t, kWarpSize> lanes{};
      for (unsigned lane = 0; lane < kWarpSize; ++lane) lanes[lane] = address(block, lane);
      traffic.begin_block(block);
      traffic.global({.kind = AccessKind::atomic,
                      .mask = mask,
                      .address = &lanes,
                      .order = one_by_one_ ? kLanesOneByOne : std::uint8_t{0}});
      launch.retire(traffic.take());
    }
    KernelCounters counters;
    launch.finish(counters);
    return counters;
  }

 private:
  bool one_by_one_;
  gpu_spec::GpuSpec gpu_;
};

std::uint64_t one_address(std::uint64_t, unsigned) { return kAtomicBase; }

TEST(AtomicContention, SendsAWarpsIntegersForOneAddressInOneRequest) {
  const KernelCounters counters = AtomicLaunch(false).run(100, one_address);
  EXPECT_EQ(counters.atomics_on_one_address, 3200U);
  EXPECT_EQ(counters.atomic_serial_cycles, 100U);
}

TEST(AtomicContention, ServesFloatsOnOneAddressOneAfterTheOther) {
  const KernelCounters counters = AtomicLaunch(true).run(100, one_address);
  EXPECT_EQ(counters.atomics_on_one_address, 3200U);
  EXPECT_EQ(counters.atomic_serial_cycles, 3U * 3200);
  EXPECT_EQ(AtomicLaunch(true).run(100, one_address, 0x11U).atomic_serial_cycles, 3U * 200);
}

TEST(AtomicContention, OfAnAddressThatComesBehindAMillionOthersIsNotForgotten) {
  constexpr std::uint64_t kOthers = (std::uint64_t{1} << 20) / kWarpSize + 1;
  const auto others_first = [](std::uint64_t block, unsigned lane) {
    return block < kOthers ? kAtomicBase + 4096 * (32 * block + lane) : kAtomicBase;
  };
  const KernelCounters counters = AtomicLaunch(true).run(kOthers + 1000, others_first);
  EXPECT_GE(counters.atomic_serial_cycles, 3U * 32 * 1000);
  EXPECT_LE(counters.atomic_serial_cycles, 3U * 32 * 1000 + 6) << "by what was dropped";
  EXPECT_GE(counters.atomics_on_one_address, 32U * 1000);
}

TEST(AtomicContention, IsThatOfTheBusiestAddress) {
  // Every other lane to one address, the others to places far apart.
  const auto half = [](std::uint64_t block, unsigned lane) {
    return lane % 2 == 0 ? kAtomicBase : kAtomicBase + 4096 * (32 * block + lane);
  };
  const KernelCounters counters = AtomicLaunch(true).run(100, half);
  EXPECT_EQ(counters.atomics_on_one_address, 1600U);
  EXPECT_EQ(counters.atomic_addresses, 1601U);
  EXPECT_EQ(counters.atomic_serial_cycles, 3U * 1600);
}

TEST(AtomicContention, IsLittleWhereAddressesLieAllOverMemory) {
  const auto apart = [](std::uint64_t block, unsigned lane) {
    return kAtomicBase + 4096 * (32 * block + lane);
  };
  const KernelCounters counters = AtomicLaunch(true).run(100, apart);
  EXPECT_EQ(counters.atomics_on_one_address, 1U);
  EXPECT_EQ(counters.atomic_serial_cycles, 3U);
}

TEST(AtomicContention, ASliceTakesARequestForEachSector) {
  // A warp's 32 floats side by side: four sectors, in the same 1 KiB for eight blocks in a row.
  const auto rows = [](std::uint64_t block, unsigned lane) {
    return kAtomicBase + 128 * (block % 8) + 4 * lane;
  };
  const KernelCounters counters = AtomicLaunch(true).run(8000, rows);
  EXPECT_EQ(counters.atomics_on_one_address, 1000U);
  EXPECT_EQ(counters.atomic_serial_cycles, 4U * 8000) << "and not the 3000 of one address";
}

TEST(AtomicContention, LanesThatMeetKeepTheirSliceBusy) {
  // Each warp adds its 32 floats to one address: 256 of these lie in a KiB.
  const auto row_sums = [](std::uint64_t block, unsigned) {
    return kAtomicBase + 4 * (block % 256);
  };
  const KernelCounters counters = AtomicLaunch(true).run(2560, row_sums);
  EXPECT_EQ(counters.atomics_on_one_address, 320U);
  EXPECT_EQ(counters.atomic_serial_cycles, 3U * 32 * 2560);
  EXPECT_EQ(AtomicLaunch(false).run(2560, row_sums).atomic_serial_cycles, 2560U)
      << "of integers each warp's is one request";
}

}  // namespace
}  // namespace simgpu::atomic_contention_test
