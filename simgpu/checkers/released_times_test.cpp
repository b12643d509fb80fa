#include "simgpu/checkers/released_times.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "simgpu/checkers/block_checkers.h"
#include "simgpu/checkers/test_access.h"

/// What strong accesses order: a warp stores to its words, and another one reads them later.
namespace simgpu {
namespace {

constexpr std::uint64_t kFlag = 512, kOtherFlag = 516;

class StrongOrder : public testing::Test {
 protected:
  StrongOrder() {
    checkers_.begin_block(0, 1024, 4, 0);
    for (std::uint64_t at = 0; at < 1024; at += 128) {
      touch(AccessKind::store, 0, [=](auto lane) { return at + 4 * lane; });
    }
    checkers_.block_barrier();
  }

  void touch(AccessKind kind, std::uint16_t warp,
             const std::function<std::uint64_t(std::uint64_t)>& address, std::uint8_t order = 0,
             std::uint32_t mask = ~0U) {
    TestAccess access(kind, 4, address, mask);
    access.access.order = order;
    checkers_.shared(access.by(warp, 1).get());
  }
  void strong(AccessKind kind, std::uint16_t warp, std::uint64_t place, std::uint8_t order = 0) {
    touch(
        kind, warp, [=](auto) { return place; }, static_cast<std::uint8_t>(kStrong | order), 1);
  }
  static std::uint64_t own(std::uint64_t lane) { return 4 * lane; }
  void store_and_fence(std::uint16_t warp) {
    touch(AccessKind::store, warp, [=](auto lane) { return 128 * warp + own(lane); });
    checkers_.fence(warp);
  }
  bool races(std::uint16_t reader, std::uint16_t of_warp) {
    touch(AccessKind::load, reader, [=](auto lane) { return 128 * of_warp + own(lane); });
    return !checkers_.take_findings().empty();
  }

  DeviceMemory memory_{1 << 20};
  BlockCheckers checkers_{memory_};
};

TEST_F(StrongOrder, IsBetweenThoseWhoMeetAtOnePlace) {
  store_and_fence(1);
  strong(AccessKind::store, 1, kFlag);
  strong(AccessKind::load, 2, kFlag);
  checkers_.fence(2);
  EXPECT_FALSE(races(2, 1));
}

TEST_F(StrongOrder, IsNoneBetweenThoseWhoLookElsewhere) {
  for (const std::uint8_t acquires : {std::uint8_t{0}, kAcquires}) {
    store_and_fence(1);
    strong(AccessKind::store, 1, kFlag, kReleases);
    strong(AccessKind::load, 2, kOtherFlag, acquires);
    checkers_.fence(2);
    EXPECT_TRUE(races(2, 1));
    checkers_.block_barrier();
  }
}

TEST_F(StrongOrder, IsOfWhatWasReleasedBeforeTheLook) {
  strong(AccessKind::load, 2, kFlag);
  store_and_fence(1);
  strong(AccessKind::store, 1, kFlag);
  checkers_.fence(2);
  EXPECT_TRUE(races(2, 1)) << "it has seen what was there before";
}

TEST_F(StrongOrder, IsOfAllWhoHaveCountedAtOnePlace) {
  for (const std::uint16_t warp : {1, 2}) {
    store_and_fence(warp);
    strong(AccessKind::atomic, warp, kFlag);
  }
  strong(AccessKind::atomic, 3, kFlag);
  checkers_.fence(3);
  EXPECT_FALSE(races(3, 1));
  EXPECT_FALSE(races(3, 2));
}

TEST_F(StrongOrder, IsOfTheLastStoreAlone) {
  for (const std::uint16_t warp : {1, 2}) {
    store_and_fence(warp);
    strong(AccessKind::store, warp, kFlag);
  }
  strong(AccessKind::load, 3, kFlag, kAcquires);
  EXPECT_FALSE(races(3, 2));
  EXPECT_TRUE(races(3, 1));
}

TEST_F(StrongOrder, PassesFromFlagToFlag) {
  store_and_fence(1);
  strong(AccessKind::store, 1, kFlag);
  strong(AccessKind::load, 2, kFlag, kAcquires);
  strong(AccessKind::store, 2, kOtherFlag, kReleases);
  strong(AccessKind::load, 3, kOtherFlag, kAcquires);
  EXPECT_FALSE(races(3, 1));
}

TEST(ReleasedTimes, ForgetWhereNothingWasReleasedForLongest) {
  ReleasedTimes released;
  const auto times = std::make_shared<const std::vector<ReleasedTimes::Time>>(1, 5);
  for (std::uint64_t place = 0; place < 2 * ReleasedTimes::kMostPlaces; ++place) {
    released.set(place, times);
    released.merge(0, times);
  }
  const auto is_known = [&](std::uint64_t place) {
    std::vector<ReleasedTimes::Time> found;
    released.add_to(found, place);
    return !found.empty();
  };
  EXPECT_FALSE(is_known(1));
  EXPECT_TRUE(is_known(2 * ReleasedTimes::kMostPlaces - 1));
}

}  // namespace
}  // namespace simgpu
