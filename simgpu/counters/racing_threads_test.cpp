// Which threads a race between blocks is put down to: those that touched the address, or none.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "simgpu/checkers/test_access.h"
#include "simgpu/counters/traffic.h"
#include "simgpu/memory/device_memory.h"
#include "specs/gpu_spec.h"

namespace simgpu::racing_threads_test {
namespace {

TestAccess access_at(AccessKind kind, std::uint8_t bytes, std::uint64_t first, std::int64_t step,
                     std::uint32_t mask) {
  return {kind, bytes,
          [=](std::uint64_t lane) {
            return kDeviceBase + first +
                   static_cast<std::uint64_t>(static_cast<std::int64_t>(lane) * step);
          },
          mask};
}

constexpr std::uint32_t kAll = 0xffffffffU;

/// Two blocks that run one after the other, each with its accesses.
std::vector<RawFinding> races_of(std::span<TestAccess> first, std::span<TestAccess> second) {
  gpu_spec::GpuSpec gpu;
  gpu.l2_bytes = 1 << 20;
  LaunchTraffic launch(gpu, 4);
  for (std::uint64_t block = 0; block < 2; ++block) {
    BlockTraffic traffic(128 << 10);
    traffic.begin_block(block);
    for (TestAccess& access : block == 0 ? first : second) traffic.global(access.get());
    launch.retire(traffic.take());
  }
  return launch.take_findings();
}

/// The race of an access with a store of another block to these four bytes.
RawFinding race_with_store_at(std::vector<TestAccess> accesses, std::uint64_t address) {
  std::vector<TestAccess> store{access_at(AccessKind::store, 4, address, 0, 1).by(0, 100)};
  const std::vector<RawFinding> found = races_of(accesses, store);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? RawFinding{} : found.front();
}

TEST(RacingThreads, OneThreadThatGoesThroughAnArrayIsNamedForEachElement) {
  std::vector<TestAccess> loop;
  for (std::uint64_t i = 0; i < 4; ++i) {
    loop.push_back(access_at(AccessKind::load, 4, 4 * i, 0, 1).by(0, 7));
  }
  const RawFinding race = race_with_store_at(loop, 4);
  EXPECT_TRUE(race.other_knows_thread);
  EXPECT_EQ(race.other_lane, 0);
}

TEST(RacingThreads, OfLanesSideBySideTheOneAtTheAddressIsNamed) {
  const RawFinding race =
      race_with_store_at({access_at(AccessKind::load, 4, 0, 4, kAll).by(2, 7)}, 20);
  EXPECT_TRUE(race.other_knows_thread);
  EXPECT_EQ(race.other_warp, 2);
  EXPECT_EQ(race.other_lane, 5);
}

TEST(RacingThreads, OfLanesThatAreASectorApartTheOneAtTheAddressIsNamed) {
  const RawFinding race =
      race_with_store_at({access_at(AccessKind::load, 4, 0, 32, 0xff).by(0, 7)}, 5 * 32);
  EXPECT_TRUE(race.other_knows_thread);
  EXPECT_EQ(race.other_lane, 5);
}

TEST(RacingThreads, WhereSeveralWarpsShareASectorNoThreadIsGuessed) {
  const RawFinding race = race_with_store_at({access_at(AccessKind::load, 4, 0, 4, 0xf).by(0, 7),
                                              access_at(AccessKind::load, 4, 16, 4, 0xf).by(1, 7)},
                                             20);
  EXPECT_EQ(race.other_block, 0U);
  EXPECT_FALSE(race.other_knows_thread);
}

/// One of many ways in which a warp may touch a few sectors.
TestAccess random_access(std::mt19937& random, std::uint32_t pc) {
  const auto one_of = [&](auto values) { return values[random() % values.size()]; };
  const auto bytes = one_of(std::vector<std::uint8_t>{1, 2, 4, 4, 4, 8, 16});
  const std::int64_t step = one_of(std::vector<std::int64_t>{-1, 0, 1, 1, 1, 2, 3, 8}) * bytes;
  const std::uint32_t mask =
      one_of(std::vector<std::uint32_t>{kAll, kAll, 1, 8, 0xff, 0xf0, 0x5555, 0x80000001});
  const auto kind = one_of(std::vector<AccessKind>{AccessKind::load, AccessKind::load,
                                                   AccessKind::store, AccessKind::atomic});
  const std::uint64_t middle = 1 << 14;
  return access_at(kind, bytes, middle + random() % 16 * bytes, step, mask)
      .by(static_cast<std::uint16_t>(random() % 3), pc);
}

bool touched(const TestAccess& access, std::uint32_t pc, std::uint16_t warp, std::uint8_t lane,
             std::uint64_t address) {
  const std::uint64_t at = access.address[lane];
  return access.access.pc == pc && access.access.warp == warp &&
         (access.access.mask >> lane & 1U) != 0 && at <= address &&
         address < at + access.access.bytes;
}

TEST(RacingThreads, WhoeverIsNamedTouchedTheAddressByThatInstruction) {
  std::mt19937 random(17);
  int named = 0, sides = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<TestAccess> first, second;
    for (std::uint32_t i = 0; i < 1 + random() % 4; ++i) first.push_back(random_access(random, i));
    for (std::uint32_t i = 0; i < 1 + random() % 2; ++i) {
      second.push_back(random_access(random, 10 + i));
    }
    for (const RawFinding& race : races_of(first, second)) {
      const auto check = [&](bool is_known, std::uint64_t block, std::uint32_t pc,
                             std::uint16_t warp, std::uint8_t lane) {
        ++sides;
        if (!is_known) return;
        ++named;
        const auto& accesses = block == 0 ? first : second;
        EXPECT_TRUE(std::ranges::any_of(accesses,
                                        [&](const TestAccess& access) {
                                          return touched(access, pc, warp, lane, race.address);
                                        }))
            << "round " << round << ": instruction " << pc << ", warp " << warp << ", lane "
            << int{lane};
      };
      check(race.knows_thread, race.block, race.pc, race.warp, race.lane);
      check(race.other_knows_thread, race.other_block, race.other_pc, race.other_warp,
            race.other_lane);
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(named, sides / 2) << "of " << sides;
}

}  // namespace
}  // namespace simgpu::racing_threads_test
