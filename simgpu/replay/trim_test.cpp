#include "simgpu/replay/trim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace simgpu::replay {
namespace {

/// Two warps of one block whose steps take turns; each writes its number to register 1, and to a
/// byte of shared memory.
Recording alternating(std::uint32_t count) {
  Recording recording;
  recording.blocks = {{}};
  recording.warps = {{.block = 0, .warp = 0, .registers = {}, .left_out = {}},
                     {.block = 0, .warp = 1, .registers = {}, .left_out = {}}};
  for (std::uint32_t i = 0; i < count; ++i) {
    Step step;
    step.warp = i % 2;
    step.number = i / 2;
    step.interval = i / 20;
    step.registers = {{.reg = 1, .lanes = 1, .values = {i}}};
    step.shared = {{i, {static_cast<std::uint8_t>(i)}, step.warp, kNone}};
    recording.steps.push_back(step);
  }
  return recording;
}

std::size_t steps_of(const Recording& recording, std::uint32_t warp) {
  return static_cast<std::size_t>(std::ranges::count(recording.steps, warp, &Step::warp));
}

TEST(Trimmed, WithoutMarksTheFirstStepsAreKept) {
  const Recording kept = trimmed(alternating(100), 10);
  ASSERT_EQ(kept.steps.size(), 10U);
  EXPECT_EQ(kept.steps.front().number, 0U);
  EXPECT_TRUE(kept.ends_early);
  EXPECT_FALSE(kept.begins_late);
}

TEST(Trimmed, OfARaceBothWaysToTheAccessesAreKept) {
  Recording recording = alternating(400);
  for (Step& step : recording.steps) step.interval = 0;
  recording.marks = {{.step = 300, .lane = 0}, {.step = 381, .lane = 0}};
  const Recording kept = trimmed(recording, 50);
  EXPECT_EQ(kept.steps.size(), 50U);
  EXPECT_EQ(steps_of(kept, 0), 25U);
  ASSERT_EQ(kept.marks.size(), 2U);
  EXPECT_EQ(kept.steps[kept.marks[0].step].number, 150U);
  EXPECT_EQ(kept.steps[kept.marks[1].step].number, 190U);
  EXPECT_EQ(kept.marks[1].step + 1, kept.steps.size());
}

TEST(Trimmed, ARaceBeginsAtTheLastBarrierOfBoth) {
  Recording recording = alternating(100);
  recording.marks = {{.step = 84, .lane = 0}, {.step = 87, .lane = 0}};
  for (const Step& step : trimmed(recording, 50).steps) EXPECT_EQ(step.interval, 4U);
}

TEST(Trimmed, WhatStepsThatAreLeftOutWroteIsThere) {
  Recording recording = alternating(100);
  for (Step& step : recording.steps) step.interval = 0;
  recording.marks = {{.step = 90, .lane = 0}, {.step = 91, .lane = 0}};
  const Recording kept = trimmed(recording, 4);
  ASSERT_EQ(kept.steps.size(), 4U);
  for (const RecordedWarp& warp : kept.warps) {
    ASSERT_EQ(warp.registers.size(), 1U);
    EXPECT_GE(warp.registers[0].values[0], 86U);
  }
  ASSERT_FALSE(kept.blocks[0].shared.empty());
  EXPECT_EQ(kept.blocks[0].shared[0].first, 0U);
  EXPECT_TRUE(kept.begins_late);
}

TEST(Trimmed, BetweenTwoAccessesOfOneWarpTheLastStepsAreKept) {
  Recording recording = alternating(200);
  for (Step& step : recording.steps) step.interval = 0;
  recording.marks = {{.step = 20, .lane = 3}, {.step = 180, .lane = 4}};
  const Recording kept = trimmed(recording, 50);
  EXPECT_LE(kept.steps.size(), 50U);
  ASSERT_EQ(kept.marks.size(), 2U);
  EXPECT_EQ(steps_of(kept, 1), 0U);
  EXPECT_EQ(kept.steps[kept.marks[0].step].number, 10U);
  EXPECT_EQ(kept.steps[kept.marks[1].step].number, 90U);
}

}  // namespace
}  // namespace simgpu::replay
