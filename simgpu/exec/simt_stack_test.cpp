#include "simgpu/exec/simt_stack.h"

#include <gtest/gtest.h>

#include "simgpu/lower/control_flow.h"

namespace simgpu {
namespace {

TEST(SimtStack, SidesOfABranchRunOneAfterTheOtherAndMeet) {
  SimtStack stack;
  stack.reset(0xFF);
  EXPECT_EQ(stack.split(0x0F, 10, 5, 20), 10U);
  EXPECT_EQ(stack.active(), 0x0FU);
  EXPECT_EQ(stack.arrive(20), 5U);
  EXPECT_EQ(stack.active(), 0xF0U);
  EXPECT_EQ(stack.arrive(20), 20U);
  EXPECT_EQ(stack.active(), 0xFFU);
}

TEST(SimtStack, ALoopThatLanesLeaveOneByOneStaysShallow) {
  SimtStack stack;
  stack.reset(0xFFFFFFFF);
  std::uint32_t lanes = 0xFFFFFFFF;
  while (lanes != 1) {  // the highest lane leaves: 1 is the loop, 9 behind it
    lanes >>= 1;
    EXPECT_EQ(stack.split(lanes, 1, 9, 9), 1U);
    EXPECT_EQ(stack.active(), lanes);
  }
  EXPECT_EQ(stack.arrive(9), 9U);
  EXPECT_EQ(stack.active(), 0xFFFFFFFFU);
}

TEST(SimtStack, LanesThatEndAreGoneEverywhere) {
  SimtStack stack;
  stack.reset(0xF);
  stack.split(0x3, 10, 5, 20);
  EXPECT_EQ(stack.end_lanes(0x3, 11), 5U);
  EXPECT_EQ(stack.arrive(20), 20U);
  EXPECT_EQ(stack.active(), 0xCU);
  EXPECT_EQ(stack.end_lanes(0xC, 21), kNowhere);
  EXPECT_TRUE(stack.empty());
}

ControlFlow graph(std::vector<std::vector<std::uint32_t>> successors) {
  ControlFlow flow;
  flow.successors = std::move(successors);
  return flow;
}

TEST(PostDominators, OfADiamond) {
  EXPECT_EQ(immediate_post_dominators(graph({{1, 2}, {3}, {3}, {}})),
            (std::vector<std::uint32_t>{3, 3, 3, 4}));
}

TEST(PostDominators, OfALoopWithAnEarlyReturn) {
  // 0 -> 1; 1 -> 2 or the end; 2 -> 1 or 3; 3 ends.
  EXPECT_EQ(immediate_post_dominators(graph({{1}, {2, 4}, {1, 3}, {}})),
            (std::vector<std::uint32_t>{1, 4, 4, 4}));
}

TEST(PostDominators, OfAnIrreducibleGraph) {
  // 0 enters the cycle 1 <-> 2 at both ends; only 2 leaves it.
  EXPECT_EQ(immediate_post_dominators(graph({{1, 2}, {2}, {1, 3}, {}})),
            (std::vector<std::uint32_t>{2, 2, 3, 4}));
}

TEST(PostDominators, OfAnEndlessLoopAreTheEnd) {
  // Lanes in the loop at 1 never come back, so those at 2 have nobody to wait for.
  EXPECT_EQ(immediate_post_dominators(graph({{1, 2}, {1}, {}})),
            (std::vector<std::uint32_t>{2, 3, 3}));
}

}  // namespace
}  // namespace simgpu
