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

/// Right, but with a race that only the full size has, which only the call behind the timed one
/// shows.
RunOutcome race_at_full_size(const RunRequest& request) {
  RunOutcome outcome = solve(request);
  if (request.checked_again_up_to > 0) {
    outcome.activity.findings = {finding("RL0304")};
  }
  return outcome;
}

TEST_F(GradeTest, ARaceThatNeedsTheTimedSizeCostsTheGroupsOfThatCase) {
  const TaskResult task = grade_task_with(race_at_full_size);
  EXPECT_EQ(task.verdict, Verdict::race);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0304"));
  EXPECT_TRUE(task.timings.empty());
  EXPECT_EQ(runs_, 5) << "three cases, a timed one, and further calls of one case";
}

TEST_F(GradeTest, AStudentsCopyLeavesTheSecondTimedCallToTheClassAsItDoesHiddenCases) {
  std::size_t timed_again = 0;
  const auto count = [&](const RunRequest& request) {
    if (request.timed) timed_again += request.further.size();
    return race_at_full_size(request);
  };
  part_.tasks[0].hidden_elsewhere = 3;
  EXPECT_EQ(grade_task_with(count).verdict, Verdict::pass);
  EXPECT_EQ(timed_again, 0U);
  part_.tasks[0].hidden_elsewhere = 0;
  EXPECT_EQ(grade_task_with(count).verdict, Verdict::race);
  EXPECT_EQ(timed_again, 1U);
}

TEST_F(GradeTest, CheckersAreNotPaidForWhereTheTimedCaseHasNoPoints) {
  part_.tasks[0].speeds[0].points = 0;
  EXPECT_EQ(verdict_of(race_at_full_size), Verdict::pass);
}

TEST_F(GradeTest, AWrongSecondResultOfATimedCaseCostsItsGroups) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (!request.timed) return outcome;
    FreshCall fresh{.problem = request.fresh(0), .outputs = outcome.outputs};
    outcome.fresh.push_back(std::move(fresh));
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0420"));
}

TEST_F(GradeTest, ALeakThatOnlyATimedCaseHasIsTold) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.timed) {
      outcome.activity.findings = {finding("RL0309")};
    }
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, 16);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0309"));
}

/// A task with a group about the stream, of which one case works on another stream.
class OffStreamTest : public GradeTest {
 protected:
  OffStreamTest() {
    TaskSpec& task = part_.tasks[0];
    task.stream = true;
    task.groups = {GroupSpec{"basic", "", 7}, GroupSpec{"stream", "", 3}};
    for (CaseSpec& spec : task.cases) spec.group = "basic";
    task.cases.push_back(make_case("late", 5, false));
    task.cases.back().group = "stream";
    task.cases.back().late_inputs = true;
    task.speeds[0].groups = {"basic"};
  }
  TaskResult grade_off_stream(const std::function<bool(const RunRequest&)>& is_off) {
    return grade_task_with([&](const RunRequest& request) {
      RunOutcome outcome = solve(request);
      if (is_off(request)) {
        outcome.activity.findings = {finding("RL0325")};
      }
      return outcome;
    });
  }
};

TEST_F(OffStreamTest, ACaseOfAnotherGroupCostsTheStreamsGroupAlone) {
  const TaskResult task = grade_off_stream([](const RunRequest& request) {
    EXPECT_EQ(request.holds_to_stream, !request.late_inputs);
    return request.problem->tensors[0].elements() == 7;
  });
  EXPECT_EQ(task.verdict, Verdict::race);
  EXPECT_EQ(task.score, 7 + 6);
  ASSERT_EQ(task.diagnostics.size(), 1U);
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0325"));
  EXPECT_EQ(task.diagnostics[0].groups, std::vector<std::string>{"stream"});
}

TEST_F(OffStreamTest, SoDoesATimedCase) {
  const TaskResult task = grade_off_stream([](const RunRequest& request) { return request.timed; });
  EXPECT_EQ(task.score, 7 + 6);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0325"));
}

TEST_F(OffStreamTest, WhatTheLateCaseShowsIsToldOnce) {
  const TaskResult task = grade_off_stream([](const RunRequest&) { return true; });
  EXPECT_EQ(task.score, 7 + 6);
  EXPECT_EQ(task.diagnostics.size(), 1U);
}

TEST_F(OffStreamTest, ALateCaseTellsOfWorkOffTheStreamBeforeWhatComesOfIt) {
  const TaskResult task = grade_task_with([&](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.late_inputs) {
      outcome.activity.findings = {finding("RL0325"), finding("RL0315")};
    }
    return outcome;
  });
  EXPECT_EQ(task.score, 7 + 6);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0325"));
}

TEST_F(OffStreamTest, AHiddenCaseNamesNoPlace) {
  const TaskResult task = grade_off_stream(
      [](const RunRequest& request) { return request.problem->tensors[0].elements() == 9; });
  EXPECT_EQ(task.score, 7 + 6);
  EXPECT_EQ(task.diagnostics.at(0).line, 0);
}

}  // namespace
}  // namespace rooflab
