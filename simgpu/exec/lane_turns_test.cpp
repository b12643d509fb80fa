#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "simgpu/exec/engine_testing.h"

/// Lanes of one warp that wait for each other (testdata/locks.cu).
namespace simgpu::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LaneTurns : public ::testing::Test {
 protected:
  Device device_ = Device::from_file(SIMGPU_LOCKS_PTX);
  std::uint64_t zeros(std::size_t count) { return device_.put(std::vector<int>(count)); }

  void expect_right(const LaunchResult& result) {
    EXPECT_EQ(result.status, LaunchStatus::ok);
    for (const Finding& finding : result.findings) ADD_FAILURE() << finding.message;
  }
  void expect_deadlock(const std::string& kernel) {
    const LaunchResult result = device_.run(kernel, {}, zeros(2), zeros(1));
    EXPECT_EQ(result.status, LaunchStatus::launch_timeout);
    ASSERT_EQ(result.findings.size(), 1U);
    EXPECT_EQ(result.findings.front().code, Code("RL0307"));
    EXPECT_LT(result.counters.warp_instructions, 5'000'000U);
  }
};

TEST_F(LaneTurns, EachThreadOfTheGridGetsALockOnce) {
  for (const char* kernel : {"lock_each_thread", "lock_in_loop"}) {
    const std::uint64_t out = zeros(1);
    expect_right(device_.run(kernel, {.grid = {4, 1, 1}, .block = {80, 1, 1}}, zeros(1), out));
    EXPECT_EQ(device_.get<int>(out, 1).front(), 320) << kernel;
  }
}

TEST_F(LaneTurns, ALockInSharedMemoryIsTheSameWithAnyNumberOfWorkers) {
  const Launch launch{.grid = {6, 1, 1}, .block = {96, 1, 1}};
  Launch parallel = launch;
  parallel.workers = 3;
  const std::uint64_t out = zeros(6);
  const LaunchResult alone = device_.run("lock_in_shared", launch, out);
  expect_right(alone);
  EXPECT_EQ(device_.get<int>(out, 6), std::vector<int>(6, 96 * 97 / 2));
  const LaunchResult together = device_.run("lock_in_shared", parallel, out);
  expect_right(together);
  EXPECT_EQ(device_.get<int>(out, 6), std::vector<int>(6, 96 * 97 / 2));
  EXPECT_EQ(alone.executed, together.executed);
}

TEST_F(LaneTurns, TriesMayBeCounted) {
  const std::uint64_t out = zeros(1), tries = zeros(32);
  expect_right(device_.run("lock_counting_tries", {}, zeros(1), out, tries));
  EXPECT_EQ(device_.get<int>(out, 1).front(), 32);
  for (const int own : device_.get<int>(tries, 32)) EXPECT_GE(own, 1);
}

TEST_F(LaneTurns, LanesWaitForTheTicketOfALaterLane) {
  for (const char* kernel : {"tickets", "polls_in_many_places"}) {
    const std::uint64_t out = zeros(64);
    expect_right(device_.run(kernel, {.block = {64, 1, 1}}, zeros(1), out));
    std::vector<int> expected(64);
    std::iota(expected.rbegin(), expected.rend(), 0);
    EXPECT_EQ(device_.get<int>(out, 64), expected) << kernel;
  }
}

TEST_F(LaneTurns, TwoLanesAnswerEachOtherAndAllComeTogetherAgain) {
  const std::uint64_t out = zeros(32);
  expect_right(device_.run("question_and_answer", {}, zeros(3), out));
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(device_.get<int>(out, 32)[lane], 900 + (lane ^ 1)) << lane;
  }
}

TEST_F(LaneTurns, LanesMeetBehindALockWhereverTheyHaveToWaitForEachOther) {
  const std::uint64_t out = zeros(65);
  expect_right(device_.run("nested", {}, zeros(1), out));
  const std::vector<int> values = device_.get<int>(out, 65);
  for (int lane = 0; lane < 32; ++lane) {
    const int sum = lane >= 24 ? 0 : 3 + (lane % 2 == 0 ? 12 : 0);
    EXPECT_EQ(values[lane], sum * 1000 + 11) << lane;
    EXPECT_EQ(values[32 + lane], values[lane ^ 1]) << lane;
  }
  EXPECT_EQ(values[64], 12);
}

TEST_F(LaneTurns, LocksMayBeTakenWhileOthersAreHeld) {
  const std::uint64_t out = zeros(1);
  expect_right(device_.run("two_locks", {.grid = {2, 1, 1}, .block = {48, 1, 1}}, zeros(2), out));
  EXPECT_EQ(device_.get<int>(out, 1).front(), 2 * 48 * 3);
}

TEST_F(LaneTurns, LanesThatCannotGetOnAreToldOf) {
  expect_deadlock("deadly_embrace");
  expect_deadlock("kept_lock");
  expect_deadlock("barrier_under_lock");
}

TEST_F(LaneTurns, AFlagThatNobodySetsIsToldOfWithItsPlace) {
  const LaunchResult result = device_.run("unset_flag", {.block = {64, 1, 1}}, zeros(1));
  EXPECT_EQ(result.status, LaunchStatus::launch_timeout);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings.front().code, Code("RL0307"));
  EXPECT_THAT(result.findings.front().message, HasSubstr("reads the same value again and again"));
}

}  // namespace
}  // namespace simgpu::testing
