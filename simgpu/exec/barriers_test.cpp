#include "simgpu/exec/barriers.h"

#include <gtest/gtest.h>

#include <array>

namespace simgpu {
namespace {

/// Three whole warps, which have come to the second instruction of three.
class BarriersTest : public ::testing::Test {
 protected:
  BarriersTest() {
    for (std::size_t i = 0; i < warps_.size(); ++i) {
      warps_[i].index = static_cast<std::uint16_t>(i);
      warps_[i].stack.reset(~0U);
    }
  }
  void wait(std::size_t warp, std::uint32_t barrier, std::uint32_t threads = 0) {
    EXPECT_EQ(Barriers::wait(warps_[warp], &code_[1], barrier, threads), nullptr);
  }
  void expect_waiting(std::array<bool, 3> expected) const {
    for (std::size_t i = 0; i < warps_.size(); ++i) {
      EXPECT_EQ(warps_[i].state == WarpState::at_barrier, expected[i]) << i;
    }
  }

  std::array<Lowered, 3> code_{};
  std::array<Warp, 3> warps_;
  Barriers barriers_{nullptr};
};

TEST_F(BarriersTest, OneOfTheWholeBlockWaitsForAllThatStillRun) {
  wait(0, 0);
  wait(1, 0);
  EXPECT_FALSE(barriers_.let_go(warps_));
  expect_waiting({true, true, false});
  warps_[2].dead = ~0U;
  warps_[2].state = WarpState::done;
  EXPECT_TRUE(barriers_.let_go(warps_));
  expect_waiting({false, false, false});
  EXPECT_EQ(warps_[0].resume, &code_[2]);
}

TEST_F(BarriersTest, OneWithACountWaitsForSoManyThreads) {
  wait(0, 3, 64);
  EXPECT_FALSE(barriers_.let_go(warps_));
  warps_[2].dead = 0xFFFF0000U;  // they belong to their warp
  wait(2, 3, 64);
  EXPECT_TRUE(barriers_.let_go(warps_));
  expect_waiting({false, false, false});
}

TEST_F(BarriersTest, WhoArrivesWithoutWaitingCountsOnce) {
  barriers_.arrive(warps_[1], 1);
  wait(0, 1, 64);
  EXPECT_TRUE(barriers_.let_go(warps_));
  wait(0, 1, 64);
  EXPECT_FALSE(barriers_.let_go(warps_));
}

TEST_F(BarriersTest, EachLetsGoThoseAlone) {
  wait(0, 1, 64);
  wait(1, 2, 32);
  EXPECT_TRUE(barriers_.let_go(warps_));
  expect_waiting({true, false, false});
}

TEST_F(BarriersTest, AllGoOnWhenTheLastHasCome) {
  for (std::size_t i = 0; i < warps_.size(); ++i) warps_[i].slots = 10 * (i + 1);
  wait(0, 1, 96);
  wait(1, 1, 96);
  barriers_.arrive(warps_[2], 1);
  EXPECT_TRUE(barriers_.let_go(warps_));
  EXPECT_EQ(warps_[0].time(), 30U);
  EXPECT_EQ(warps_[1].time(), 30U);
  EXPECT_EQ(warps_[1].own_time(), 20U);
}

TEST_F(BarriersTest, VotesCountWhenTheBarrierHasLetGo) {
  barriers_.vote(0, ~0U, ~0U);
  barriers_.vote(0, ~0U, 0x7U);
  for (std::size_t i = 0; i < warps_.size(); ++i) wait(i, 0);
  EXPECT_EQ(barriers_.votes(0).population, 0U);
  EXPECT_TRUE(barriers_.let_go(warps_));
  EXPECT_EQ(barriers_.votes(0).population, 35U);
  EXPECT_TRUE(barriers_.votes(0).any);
  EXPECT_FALSE(barriers_.votes(0).all);
  for (std::size_t i = 0; i < warps_.size(); ++i) wait(i, 0);
  EXPECT_TRUE(barriers_.let_go(warps_));
  EXPECT_EQ(barriers_.votes(0).population, 0U) << "of the next time";
}

TEST_F(BarriersTest, LanesThatGoAnotherWayCountWhereTheyAre) {
  warps_[0].stack.reset(0xFFFFU);
  LaneState& others = warps_[0].others.emplace_back();
  others.stack.reset(0xFFFF0000U);
  wait(0, 5, 32);
  EXPECT_FALSE(barriers_.let_go(warps_));
  others.state = WarpState::at_barrier;
  others.barrier = 5;
  EXPECT_TRUE(barriers_.let_go(warps_));
  EXPECT_EQ(warps_[0].others.front().state, WarpState::ready);
}

}  // namespace
}  // namespace simgpu
