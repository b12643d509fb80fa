#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "grader/pipeline/grade_fixture.h"

// Timed cases of a task: their order, points, verdicts, and what is checked beside the time.
namespace rooflab {
namespace {

TEST_F(GradeTest, TimeBelowTheFloorIsSuspectAndEarnsNoSpeedPoints) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.activity.elapsed_us = 10;
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_EQ(task.score, 10);
}

TEST_F(GradeTest, WrongAnswerInTheTimedRunCostsTheGroupsOfThatCase) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.timed) outcome.outputs[1] = bytes_of(std::vector<float>(1000, 0));
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 0);
}

TEST_F(GradeTest, ATimeThatIsOnlyShownHasNoTargetAndNoPoints) {
  part_.tasks[0].speeds[0].points = 0;
  part_.tasks[0].speeds[0].zero_efficiency = 0;
  part_.tasks[0].speeds[0].full_efficiency = 0;
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, 10);
  EXPECT_EQ(task.max_score, 10);
  ASSERT_EQ(task.timings.size(), 1U);
  EXPECT_DOUBLE_EQ(task.timings[0].time_us, 2002);
  EXPECT_EQ(task.timings[0].target_efficiency, 0);
}

/// `speed` once more, for another size.
SpeedSpec another(SpeedSpec speed, const std::string& name, std::int64_t n, double points) {
  speed.name = name;
  speed.points = points;
  speed.parameters = {{"n", n}};
  return speed;
}

TEST_F(GradeTest, TimedCasesAddTheirPointsAndComeInOrder) {
  auto& speeds = part_.tasks[0].speeds;
  speeds.push_back(another(speeds[0], "twice", 2000, 4));
  // 1000 and 2000 us at the roofline: an efficiency of 1/2 earns 6 of 8, and one of 1 all 4.
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.max_score, 22);
  ASSERT_EQ(task.timings.size(), 2U);
  EXPECT_DOUBLE_EQ(task.timings[0].efficiency, 0.5);
  EXPECT_EQ(task.timings[1].name, "twice");
  EXPECT_NEAR(task.timings[1].efficiency, 1, 1e-3);
  EXPECT_NEAR(task.score, 10 + 6 + 4, 0.01);
}

TEST_F(GradeTest, AWrongAnswerInAnyTimedCaseCostsItsGroupsAndTheirSpeedAndIsNamed) {
  auto& speeds = part_.tasks[0].speeds;
  speeds.push_back(another(speeds[0], "twice", 2000, 4));
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.problem->tensors[0].elements() == 2000) outcome.outputs[1][0] ^= std::byte{0x7F};
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.cases.back().name, "twice");
}

TEST_F(GradeTest, ASuspectTimeCostsThePointsForEverySpeedAndEndsTheTask) {
  auto& speeds = part_.tasks[0].speeds;
  speeds.push_back(another(speeds[0], "long", 9000, 4));
  speeds.push_back(another(speeds[0], "never timed", 500, 4));
  const TaskResult task = grade_task_with(solve);  // 9000 us of work in 2002
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_EQ(task.score, 10);
  EXPECT_EQ(task.timings.size(), 2U);
}

TEST_F(GradeTest, ATimeWithoutPointsIsLeftOutWhereTheGpuLacksItsPeak) {
  auto& speeds = part_.tasks[0].speeds;
  speeds.push_back(another(speeds[0], "shown elsewhere", 2000, 0));
  speeds[1].peak = "fp8_tensor";
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.max_score, 18);
  ASSERT_EQ(task.timings.size(), 1U);
}

TEST_F(GradeTest, SampledCasesAreAskedForAndSaidWhereTheDeviceDidSo) {
  part_.tasks[0].cases[0].sampled = true;
  part_.tasks[0].speeds[0].sampled = true;
  std::vector<bool> asked;
  std::uint64_t stored_sectors = 125;
  const auto sample = [&](bool does) {
    asked.clear();
    return grade_task_with([&asked, &stored_sectors, does](const RunRequest& request) {
      asked.push_back(request.sampled);
      RunOutcome outcome = solve(request);
      outcome.sampled = does && request.sampled;
      outcome.activity.kernels[0].counters.warp_instructions = 1000;
      // Blocks that were left out wrote nothing.
      if (outcome.sampled) std::fill_n(outcome.outputs[1].begin(), 8, kPoisonByte);
      outcome.activity.kernels[0].counters.global_store_sectors = stored_sectors;
      return outcome;
    });
  };
  const TaskResult simulated = sample(true);
  EXPECT_EQ(simulated.verdict, Verdict::pass);
  EXPECT_EQ(asked, (std::vector<bool>{true, false, false, true})) << "and nothing more is checked";
  EXPECT_TRUE(simulated.timings.at(0).sampled);
  EXPECT_FALSE(sample(false).timings.at(0).sampled);
  stored_sectors = 64;  // half of the 1000 floats
  EXPECT_EQ(sample(true).verdict, Verdict::suspect);
  EXPECT_EQ(sample(false).verdict, Verdict::pass) << "every element was seen to be written";
}

/// Right, but with a race that only the full size has, which only a run with checkers shows.
RunOutcome race_at_full_size(const RunRequest& request, std::uint64_t warp_instructions) {
  RunOutcome outcome = solve(request);
  outcome.activity.kernels[0].counters.warp_instructions = warp_instructions;
  if (!request.timed && request.problem->tensors[0].elements() == 1000) {
    outcome.activity.findings = {finding(simgpu::FindingKind::global_race, "RL0304")};
  }
  return outcome;
}

TEST_F(GradeTest, ARaceThatNeedsTheTimedSizeCostsTheGroupsOfThatCase) {
  const TaskResult task = grade_task_with(
      [](const RunRequest& request) { return race_at_full_size(request, 1'000'000); });
  EXPECT_EQ(task.verdict, Verdict::race);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, "RL0304");
  EXPECT_TRUE(task.timings.empty());
  EXPECT_EQ(runs_, 5);
}

TEST_F(GradeTest, CheckersAreNotPaidForWhereTheTimedCaseIsLarge) {
  const TaskResult task = grade_task_with(
      [](const RunRequest& request) { return race_at_full_size(request, 1'000'000'000); });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(runs_, 4);
}

TEST_F(GradeTest, CheckersAreNotPaidForWhereTheTimedCaseHasNoPoints) {
  part_.tasks[0].speeds[0].points = 0;
  const TaskResult task = grade_task_with(
      [](const RunRequest& request) { return race_at_full_size(request, 1'000'000); });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(runs_, 4);
}

TEST_F(GradeTest, ACheckedRunAtTheTimedSizeChangesNoTime) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.activity.kernels[0].counters.warp_instructions = 1000;
    if (!request.timed) outcome.activity.elapsed_us = 77'000;
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, 16);
  EXPECT_DOUBLE_EQ(task.timings[0].time_us, 2002);
  EXPECT_EQ(runs_, 5);
}

}  // namespace
}  // namespace rooflab
