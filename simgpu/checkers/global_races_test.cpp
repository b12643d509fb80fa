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

TEST_F(GlobalRacesTest, ForgetsWhatIsLongestAgoRatherThanTakeMoreMemory) {
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
  EXPECT_TRUE(races_with_load(unbounded, kPlaces / 2, 0));
  EXPECT_TRUE(races_with_load(bounded, kPlaces - 1, 0)) << "the last ones are remembered";
  EXPECT_FALSE(races_with_load(bounded, kPlaces / 2, 0));
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

}  // namespace
}  // namespace simgpu
