#include "simgpu/replay/join.h"

#include <gtest/gtest.h>

#include "simgpu/replay/wanted.h"

namespace simgpu::replay {
namespace {

/// One warp that stores to an allocation in one step, and this is what a finding is about.
Recording launch(const std::string& kernel, const std::vector<std::string>& files) {
  Recording recording;
  recording.kernel = kernel;
  recording.files = files;
  recording.places = {{.file = static_cast<std::uint32_t>(files.size() - 1), .line = 7}};
  recording.names = {"i"};
  recording.allocations = {{.address = 4096, .bytes = 64, .label = "out"}};
  recording.blocks = {{.index = {3, 0, 0}}};
  recording.warps = {{.block = 0, .warp = 2}};
  Step step;
  step.place = 0;
  step.registers = {{.reg = 1, .lanes = 1, .values = {5}, .name = 0, .place = 0}};
  step.accesses = {{.space = Space::global,
                    .action = Action::store,
                    .bytes = 4,
                    .lanes = 1,
                    .addresses = {8},
                    .allocation = 0}};
  step.unknown_now = {0};
  recording.steps = {step};
  recording.marks = {{.step = 0, .lane = 0, .access = 0}};
  return recording;
}

TEST(Joined, StepsOfTheLaterLaunchComeBehindThoseOfTheEarlierOneWithAllThatTheyReferTo) {
  const Recording both = joined(launch("first", {"other.cu", "a.cu"}), launch("second", {"a.cu"}));
  ASSERT_EQ(both.launches(), 2U);
  EXPECT_EQ(both.launch(0).kernel, "first");
  EXPECT_EQ(both.launch(1).kernel, "second");
  EXPECT_EQ(both.files, (std::vector<std::string>{"other.cu", "a.cu"})) << "each file once";
  ASSERT_EQ(both.steps.size(), 2U);
  const Step& later = both.steps[1];
  EXPECT_EQ(both.launch_of_warp(later.warp), 1U);
  EXPECT_EQ(both.files.at(both.places.at(later.place).file), "a.cu");
  EXPECT_EQ(later.registers[0].name, 1U);
  EXPECT_EQ(later.unknown_now, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(later.accesses[0].allocation, 1U);
  ASSERT_EQ(both.marks.size(), 2U);
  EXPECT_EQ(both.marks[1].step, 1U);
}

Finding stream_race(std::uint64_t later, std::uint64_t earlier) {
  Finding race;
  race.code = "RL0315";
  race.where.by_thread = false;
  race.launches = RacingLaunches{.address = 4100, .later = later, .earlier = earlier};
  return race;
}

TEST(Wanted, OfARaceBetweenLaunchesAreTheLaunches) {
  const Wanted wanted = wanted_for(stream_race(5, 3));
  EXPECT_EQ(wanted.kind, Wanted::Kind::racing_launches);
  EXPECT_EQ(wanted.address, 4100U);
  EXPECT_EQ(wanted.later.launch, 5U);
  EXPECT_EQ(wanted.earlier.launch, 3U);
  EXPECT_NE(words_on_launches(stream_race(5, 3)), words_on_launches(stream_race(5, 0)));
}

TEST(Wanted, AreFindingsWithAKernelOnOneSideAtLeast) {
  EXPECT_TRUE(can_be_shown(stream_race(0, 3)));
  EXPECT_FALSE(can_be_shown(stream_race(0, 0)));
  Finding by_thread;
  by_thread.code = "RL0201";
  EXPECT_FALSE(can_be_shown(by_thread)) << "nobody knows its line";
  by_thread.where.file = "a.cu";
  by_thread.where.line = 3;
  EXPECT_TRUE(can_be_shown(by_thread));
}

}  // namespace
}  // namespace simgpu::replay
