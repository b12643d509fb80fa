#include "simgpu/checkers/global_races.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "simgpu/checkers/test_access.h"

namespace simgpu {
namespace {

constexpr std::uint32_t kWarpsOfLargeBlock = 32;
constexpr std::uint64_t kApart = 4096;

/// Warps that store single bytes of their own to many places, and one that then reads what another
/// stored: a race.
class GlobalRacesTest : public testing::Test {
 protected:
  GlobalRacesTest() { order_.begin_block(kWarpsOfLargeBlock); }

  void store(GlobalRaces& races, std::uint64_t place, std::uint16_t warp) {
    TestAccess access(AccessKind::store, 1, [&](auto lane) { return place * kApart + lane; });
    races.access(access.by(warp, 1).get(), 1, order_, findings_);
  }
  bool races_with_load(GlobalRaces& races, std::uint64_t place, std::uint16_t warp) {
    FindingList found;
    TestAccess access(AccessKind::load, 1, [&](auto lane) { return place * kApart + lane; });
    races.access(access.by(warp, 2).get(), 1, order_, found);
    return !found.take().empty();
  }

  WarpOrder order_;
  FindingList findings_;
};

TEST_F(GlobalRacesTest, PacksWhatIsLongestAgoRatherThanTakeMoreMemory) {
  constexpr std::size_t kMost = 1 << 20, kPlaces = 400;
  GlobalRaces bounded(kMost);
  GlobalRaces unbounded;
  for (GlobalRaces* races : {&bounded, &unbounded}) races->begin_block(0, kWarpsOfLargeBlock);
  for (std::uint64_t place = 0; place < kPlaces; ++place) {
    store(bounded, place, place % kWarpsOfLargeBlock);
    store(unbounded, place, place % kWarpsOfLargeBlock);
    EXPECT_LE(bounded.held_bytes(), kMost);
  }
  EXPECT_GT(unbounded.held_bytes(), 2 * kMost);
  for (GlobalRaces* races : {&bounded, &unbounded}) {
    EXPECT_TRUE(races_with_load(*races, kPlaces - 1, 0));
    EXPECT_TRUE(races_with_load(*races, kPlaces / 2, 0));
    EXPECT_FALSE(races_with_load(*races, kPlaces / 2 + 1, (kPlaces / 2 + 1) % kWarpsOfLargeBlock))
        << "by the warp that has stored there";
  }
}

/// Many more windows than a block of one warp has, touched between an access and another warp's.
TEST_F(GlobalRacesTest, RemembersAnAccessBehindAnyNumberOfOthers) {
  constexpr std::uint64_t kFar = 20'000;
  for (const bool stores_first : {true, false}) {
    for (const bool passes_barrier : {false, true}) {
      GlobalRaces races;
      races.begin_block(0, 1);
      if (stores_first) {
        store(races, 7, 3);
      } else {
        EXPECT_FALSE(races_with_load(races, 7, 3));
      }
      for (std::uint64_t place = 100; place < kFar; ++place) {
        EXPECT_FALSE(races_with_load(races, place, 3));
      }
      if (passes_barrier) order_.block_barrier();
      FindingList found;
      const AccessKind kind = stores_first ? AccessKind::load : AccessKind::store;
      TestAccess access(kind, 1, [&](auto lane) { return 7 * kApart + lane; });
      races.access(access.by(4, 2).get(), 1, order_, found);
      EXPECT_EQ(found.take().empty(), passes_barrier) << stores_first;
    }
  }
}

TEST_F(GlobalRacesTest, HoldsLittleOfWhatWarpsWalkThrough) {
  GlobalRaces races;
  races.begin_block(0, 1);
  const std::size_t windows = 1000;
  std::size_t before = 0;
  for (std::uint64_t place = 0; place < 2 * windows; ++place) {
    TestAccess access(AccessKind::load, 16, [&](auto lane) { return place * 512 + 16 * lane; });
    races.access(access.by(0, 2).get(), 16, order_, findings_);
    if (place == windows) before = races.held_bytes();
  }
  EXPECT_LT(races.held_bytes() - before, windows * 150);
}

TEST_F(GlobalRacesTest, WatchesOneWindowHoweverLittleMemoryThereIs) {
  GlobalRaces races(1);
  races.begin_block(0, kWarpsOfLargeBlock);
  store(races, 7, 3);
  EXPECT_TRUE(races_with_load(races, 7, 4));
}

TEST_F(GlobalRacesTest, HoldsNothingOnceAllIsForgotten) {
  GlobalRaces races;
  races.begin_block(0, kWarpsOfLargeBlock);
  store(races, 7, 3);
  EXPECT_GT(races.held_bytes(), 0U);
  races.forget_all();
  EXPECT_EQ(races.held_bytes(), 0U);
  races.begin_block(1, kWarpsOfLargeBlock);
  EXPECT_FALSE(races_with_load(races, 7, 4));
}

TEST_F(GlobalRacesTest, CountsTheWindowsThatItHasForgotten) {
  constexpr std::size_t kMost = 1 << 16, kPlaces = 4000;
  GlobalRaces bounded(kMost);
  bounded.begin_block(0, kWarpsOfLargeBlock);
  for (std::uint64_t place = 0; place < kPlaces; ++place) store(bounded, place, 0);
  EXPECT_FALSE(races_with_load(bounded, 0, 1)) << "it was touched longest ago";
  const std::uint64_t forgotten = bounded.forgotten_windows();
  EXPECT_GT(forgotten, kPlaces / 2);
  EXPECT_LT(forgotten, kPlaces + 2);
  bounded.begin_block(1, kWarpsOfLargeBlock);
  EXPECT_EQ(bounded.forgotten_windows(), 0U);
  for (std::uint64_t place = 0; place < 8; ++place) store(bounded, place, 0);
  EXPECT_EQ(bounded.forgotten_windows(), 0U) << "these have room";
}

}  // namespace
}  // namespace simgpu
