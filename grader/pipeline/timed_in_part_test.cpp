#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "grader/pipeline/grade_fixture.h"

// Timed cases of a task: their order, points, verdicts, and what is checked beside the time.
namespace rooflab {
namespace {

// Timed calls of which the device runs only a part.

/// A timed run of which the device simulated a part: a lower bound of its time, and outputs that
/// nobody finished.
RunOutcome cut_short(const RunRequest& request, double at_least_us) {
  RunOutcome outcome = solve(request);
  if (!request.timed) return outcome;
  outcome.keeps_records = true;
  outcome.outputs[1] = bytes_of(std::vector<float>(1000, 0));
  simgpu::KernelRecord kernel;
  kernel.name = "scale";
  kernel.at_least = true;
  kernel.time.total_us = at_least_us;
  kernel.counters.warp_instructions = 1000;
  outcome.activity.kernels = {kernel};
  outcome.activity.elapsed_us = at_least_us;
  return outcome;
}

TEST_F(GradeTest, ARightCallThatIsTooSlowToTimeKeepsItsAnswersPoints) {
  const TaskResult task =
      grade_task_with([](const RunRequest& request) { return cut_short(request, 1e6); });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, 10);
  ASSERT_EQ(task.timings.size(), 1U);
  EXPECT_TRUE(task.timings[0].at_least);
  EXPECT_DOUBLE_EQ(task.timings[0].time_us, 1e6);
  EXPECT_EQ(task.timings[0].points, 0);
  ASSERT_FALSE(task.diagnostics.empty());
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0597"));
  EXPECT_THAT(task.diagnostics[0].message, testing::HasSubstr("takes at least 1e+03 ms"));
}

/// The same, where `blocks` of 10 have written their tenth of y, `value` times what it should be.
RunOutcome settled_in_part(const RunRequest& request, double at_least_us, std::size_t blocks,
                           float value) {
  RunOutcome outcome = cut_short(request, at_least_us);
  if (!request.timed) return outcome;
  constexpr std::size_t kOfABlock = 100;
  std::vector<float> y(10 * kOfABlock, 0);
  const std::vector<float> x = floats_of(request.problem->tensors[0].data);
  outcome.settled.written.resize(2);
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t first = 3 * block % 10 * kOfABlock;
    for (std::size_t i = first; i < first + kOfABlock; ++i) y[i] = 2 * value * x[i];
    outcome.settled.written[1].push_back({first * sizeof(float), kOfABlock * sizeof(float)});
  }
  std::ranges::sort(outcome.settled.written[1], {}, &simgpu::ByteRange::address);
  outcome.settled.of_grid = {0, 10 * kOfABlock * sizeof(float)};
  outcome.outputs[1] = bytes_of(y);
  return outcome;
}

TEST_F(GradeTest, ABoundAboveTheRooflineLeavesTheSpeedPointsOfItsTime) {
  const TaskResult task = grade_task_with(
      [](const RunRequest& request) { return settled_in_part(request, 1001, 3, 1); });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, task.max_score);
  EXPECT_TRUE(task.for_people.empty());
}

TEST_F(GradeTest, ABoundBelowTheRooflineIsNoSuspectAndEarnsNothing) {
  for (const double at_least_us : {10.0, 500.0, 1000.0}) {  // the roofline is 1001
    const TaskResult task = grade_task_with(
        [&](const RunRequest& request) { return settled_in_part(request, at_least_us, 3, 1); });
    EXPECT_EQ(task.verdict, Verdict::pass) << at_least_us;
    EXPECT_EQ(task.score, 10) << at_least_us;
    ASSERT_FALSE(task.diagnostics.empty());
    EXPECT_EQ(task.diagnostics[0].code, Code("RL0597"));
    EXPECT_THAT(task.diagnostics[0].evidence,
                testing::Contains(testing::HasSubstr("a bound below it says nothing")));
    EXPECT_EQ(task.timings.at(0).efficiency, 0);
  }
}

TEST_F(GradeTest, ABoundEarnsNothingWhereItsKernelDidNothingThatAGpuWouldDo) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = settled_in_part(request, 1001, 3, 1);
    if (request.timed) outcome.activity.kernels.at(0).counters = {};
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, 10);
  ASSERT_FALSE(task.diagnostics.empty());
  EXPECT_THAT(task.diagnostics[0].evidence,
              testing::Contains(testing::HasSubstr("is nothing that a GPU would do")));
}

TEST_F(GradeTest, DataThatWentOverTheHostBeforeACutFailsTheTimedCase) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = settled_in_part(request, 1001, 3, 1);
    if (!request.timed) return outcome;
    add_round_trip(outcome, 4000);
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  ASSERT_FALSE(task.diagnostics.empty());
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0614"));
  EXPECT_EQ(task.timings.empty() ? 0 : task.timings[0].points, 0);
}

TEST_F(GradeTest, ABoundEarnsNothingWhereLaunchesBehindItDidNotRun) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = cut_short(request, 1001);
    if (!request.timed) return outcome;
    outcome.activity.kernels.push_back(outcome.activity.kernels[0]);
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, 10);
  ASSERT_FALSE(task.diagnostics.empty());
  EXPECT_THAT(task.diagnostics[0].evidence,
              testing::Contains(testing::HasSubstr("1 launch behind it did not run")));
  EXPECT_THAT(task.diagnostics[0].evidence,
              testing::Contains(testing::HasSubstr("none of its 8 speed points are left")));
}

TEST_F(GradeTest, ABoundByAKernelsFirstBlocksEarnsNothingWhereNothingIsCompared) {
  const auto bounded_by_beginning = [](RunOutcome outcome) {
    for (simgpu::KernelRecord& kernel : outcome.activity.kernels) kernel.sampled_blocks = 30;
    return outcome;
  };
  const auto uncompared = [&](const RunRequest& request) {
    return bounded_by_beginning(cut_short(request, 1001));
  };
  EXPECT_EQ(grade_task_with(uncompared).score, 10);
  const TaskResult compared = grade_task_with([&](const RunRequest& request) {
    return bounded_by_beginning(settled_in_part(request, 1001, 3, 1));
  });
  EXPECT_EQ(compared.score, compared.max_score);
}

TEST_F(GradeTest, WhatWholeBlocksOfACallThatIsTooSlowHaveWrittenIsCompared) {
  const TaskResult task = grade_task_with(
      [](const RunRequest& request) { return settled_in_part(request, 10, 3, 1.5F); });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 0);
  ASSERT_FALSE(task.diagnostics.empty());
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0418")) << "with its cause";
}

TEST_F(GradeTest, ACallThatIsTooSlowAndCannotBeComparedEarnsAQuarterOfItsSpeedPointsAtMost) {
  const TaskResult task =
      grade_task_with([](const RunRequest& request) { return cut_short(request, 1001); });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, 10 + 8.0 / 4);
  ASSERT_FALSE(task.diagnostics.empty());
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0597"));
  EXPECT_THAT(task.diagnostics[0].notes,
              testing::Contains(testing::HasSubstr("at most a quarter of its points")));
  EXPECT_EQ(task.for_people.size(), 1U);
}

TEST_F(GradeTest, ACallWhoseBlocksThatRanWriteTooLittleEarnsNothingForItsSpeed) {
  const auto half_written = [](const RunRequest& request) {
    RunOutcome outcome = settled_in_part(request, 1001, 3, 1);
    for (std::uint64_t& bytes : outcome.settled.of_grid) bytes /= 2;
    return outcome;
  };
  const auto sampled = [&](const RunRequest& request) {
    RunOutcome outcome = half_written(request);
    if (!request.timed) return outcome;
    outcome.sampled = true;
    for (simgpu::KernelRecord& kernel : outcome.activity.kernels) {
      kernel.at_least = false;
      kernel.sampled = true;
      kernel.counters.flops["fp32"] = 1'000'000'000;
      kernel.counters.global_store_sectors = 1'000'000;
    }
    return outcome;
  };
  for (const TaskResult& task : {grade_task_with(half_written), grade_task_with(sampled)}) {
    EXPECT_EQ(task.verdict, Verdict::pass);
    EXPECT_EQ(task.score, 10);
    ASSERT_FALSE(task.diagnostics.empty());
    EXPECT_THAT(task.diagnostics[0].evidence,
                testing::Contains(testing::HasSubstr("others do more than they")));
    EXPECT_EQ(task.for_people.size(), 1U);
  }
}

TEST_F(GradeTest, ALaunchThatIsSampledForItsLengthAndWorkedOnEarnsAQuarterAtMost) {
  const auto sampled_before_another = [](const RunRequest& request) {
    RunOutcome outcome = cut_short(request, 1000);
    if (!request.timed) return outcome;
    outcome.sampled = true;
    simgpu::KernelRecord& first = outcome.activity.kernels[0];
    first.at_least = false;
    first.sampled = true;
    first.sequence = 1;
    first.counters.flops["fp32"] = 1'000'000'000;
    first.counters.global_store_sectors = 1'000'000;
    outcome.activity.kernels.push_back(first);
    outcome.activity.kernels[1].sequence = 2;
    return outcome;
  };
  EXPECT_EQ(grade_task_with(sampled_before_another).score, 10 + 8.0 / 4);
}

TEST_F(GradeTest, TimedCasesBehindOneThatWasTooSlowGetLessWork) {
  auto& speeds = part_.tasks[0].speeds;
  for (const char* name : {"second", "third", "fourth"}) {
    speeds.push_back(another(speeds[0], name, 1000, 4));
  }
  std::vector<double> shares;
  grade_task_with([&](const RunRequest& request) {
    if (request.timed) shares.push_back(request.share_of_work);
    return cut_short(request, 1e6);
  });
  EXPECT_EQ(shares, (std::vector<double>{1, 1, 0.5, 0.25})) << "the second had begun";
  shares.clear();
  grade_task_with([&](const RunRequest& request) {
    if (request.timed) shares.push_back(request.share_of_work);
    return solve(request);
  });
  EXPECT_EQ(shares, (std::vector<double>{1, 1, 1, 1})) << "of none that was too slow";
}

TEST_F(GradeTest, WhateverAProgramDoesBehindTheCutIsNotItsFault) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = cut_short(request, 1e6);
    if (request.timed) outcome.end = RunOutcome::End::time_limit;
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, 10);
}

TEST_F(GradeTest, AFaultBeforeTheCutFailsTheTask) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = cut_short(request, 1e6);
    simgpu::Finding finding;
    finding.code = "RL0201";
    if (request.timed) outcome.activity.findings = {finding};
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::runtime_error);
}

/// One of 10 blocks ran and wrote its part of y; all of them write so many bytes. Without
/// sampling, all of y is right.
RunOutcome sampled_in_part(const RunRequest& request, float value, std::uint64_t of_grid) {
  RunOutcome outcome = solve(request);
  if (!request.sampled) return outcome;
  const RunOutcome part = settled_in_part(request, 2000, 1, value);
  outcome.outputs = part.outputs;
  outcome.settled = part.settled;
  outcome.settled.of_grid = {0, of_grid};
  outcome.sampled = true;
  return outcome;
}

TEST_F(GradeTest, OfASampledCallWhatItsBlocksWroteIsCompared) {
  part_.tasks[0].speeds[0].sampled = true;
  std::vector<bool> asked;
  const auto sample = [&](float value, std::uint64_t of_grid) {
    asked.clear();
    return grade_task_with([&asked, value, of_grid](const RunRequest& request) {
      if (request.timed) asked.push_back(request.sampled);
      return sampled_in_part(request, value, of_grid);
    });
  };
  const TaskResult right = sample(1, 4000);
  EXPECT_EQ(right.verdict, Verdict::pass);
  EXPECT_EQ(asked, (std::vector<bool>{true})) << "and nothing more is run";
  EXPECT_TRUE(right.timings.at(0).sampled);
  EXPECT_EQ(sample(1.5F, 4000).verdict, Verdict::wrong_answer);
}

TEST_F(GradeTest, ASampledCallThatDoesNotTellWhetherItIsRightRunsInFull) {
  part_.tasks[0].speeds[0].sampled = true;
  std::vector<double> shares;
  const auto run_with = [&](float in_full) {
    shares.clear();
    return grade_task_with([&shares, in_full](const RunRequest& request) {
      if (request.timed) shares.push_back(request.share_of_work);
      // Half of y is written by nobody, as far as the samples tell.
      RunOutcome outcome = sampled_in_part(request, 1, 2000);
      if (request.timed && !request.sampled)
        outcome.outputs[1] = bytes_of(std::vector(1000, in_full));
      return outcome;
    });
  };
  EXPECT_EQ(run_with(-1).verdict, Verdict::wrong_answer);
  EXPECT_EQ(shares, (std::vector<double>{1, 8}));
  const TaskResult right =
      grade_task_with([](const RunRequest& request) { return sampled_in_part(request, 1, 2000); });
  EXPECT_EQ(right.verdict, Verdict::pass);
  EXPECT_FALSE(right.timings.at(0).sampled);
}

TEST_F(GradeTest, SamplesThatDoNotTellAndARunInFullThatTakesTooLongLeaveAQuarter) {
  part_.tasks[0].speeds[0].sampled = true;
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    return request.sampled ? sampled_in_part(request, 1, 2000) : cut_short(request, 1001);
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, 10 + 8.0 / 4);
}

}  // namespace
}  // namespace rooflab
