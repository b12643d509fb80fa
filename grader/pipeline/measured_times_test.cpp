#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "grader/pipeline/grade_fixture.h"
#include "grader/pipeline/timing.h"

// What becomes of times that a real GPU took: their noise, and calls beside the last one.
namespace rooflab {
namespace {

using testing::HasSubstr;

/// A right answer, timed on a GPU; 1000 us is an efficiency of one.
RunOutcome measured(const RunRequest& request, std::vector<double> samples_us) {
  RunOutcome outcome = solve(request);
  if (request.timed) {
    outcome.samples_us = std::move(samples_us);
    outcome.sampling.emplace();
  }
  return outcome;
}

const std::vector<double> kSteady(10, 2002.0);
/// Efficiencies of a half and of a quarter by turns: 6 of 8 points, or 4.
const std::vector<double> kNoisy = {2002, 4004, 2002, 4004, 2002, 4004, 2002, 4004, 2002, 4004};

TEST(IntervalTest, OfTenSamplesIsFromTheSecondToTheNinth) {
  const Interval interval = interval_of_median({9, 1, 8, 2, 7, 3, 6, 4, 5, 10});
  EXPECT_EQ(interval.low, 2);
  EXPECT_EQ(interval.high, 9);
}

// The table of any textbook: the ranks of the 95 % interval of a median.
TEST(IntervalTest, HasTheRanksOfTheSignTest) {
  for (const auto& [count, rank] :
       {std::pair{6, 1}, {8, 1}, {9, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}, {40, 14}, {100, 40}}) {
    std::vector<double> samples(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) samples[static_cast<std::size_t>(i)] = i + 1;
    const Interval interval = interval_of_median(samples);
    EXPECT_EQ(interval.low, rank) << count;
    EXPECT_EQ(interval.high, count + 1 - rank) << count;
  }
}

TEST(IntervalTest, HoldsTheTrueMedianNearlyAlwaysWhateverTheDistribution) {
  std::mt19937 random(3);
  std::lognormal_distribution<double> skewed(0, 1);  // its median is 1
  int held = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> samples(14);
    for (double& sample : samples) sample = skewed(random);
    const Interval interval = interval_of_median(samples);
    held += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(held, 1900);
}

TEST(IntervalTest, IsWideWhereSamplesAreFew) {
  EXPECT_EQ(interval_of_median({100}).low, 90);
  EXPECT_EQ(interval_of_median({100}).high, 110);
  EXPECT_EQ(interval_of_median({100, 104, 102}).low, 96);
  EXPECT_EQ(interval_of_median({100, 104, 102}).high, 108);
  EXPECT_EQ(interval_of_median({1, 100}).low, 0) << "no time is below nothing";
}

TEST_F(GradeTest, AMeasuredTimeComesWithItsSpreadAndItsInterval) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome =
        measured(request, {2000, 2001, 2002, 2002, 2002, 2002, 2002, 2002, 2010, 2020});
    outcome.sampling =
        SamplingRecord{.clocks_watched = true, .dropped = 3, .contradicted = 1, .sm_mhz = 1305};
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
  const Timing& timing = task.timings.at(0);
  EXPECT_EQ(timing.time_us, 2002);
  ASSERT_TRUE(timing.measured);
  EXPECT_EQ(timing.measured->samples, 10);
  EXPECT_EQ(timing.measured->low_us, 2001);
  EXPECT_EQ(timing.measured->high_us, 2010);
  EXPECT_EQ(timing.measured->dropped, 3);
  EXPECT_EQ(timing.measured->contradicted, 1);
  EXPECT_EQ(timing.measured->clock_mhz, 1305);
  EXPECT_TRUE(timing.measured->clocks_watched);
  EXPECT_FALSE(grade_task_with(solve).timings.at(0).measured) << "this one is modelled";
}

TEST_F(GradeTest, SamplesThatWereDisturbedCostNothingAndAreANoteForPeopleOnlyWhereTheyHadToCount) {
  SamplingRecord sampling{.clocks_watched = true};
  sampling.busy_before = 7;
  sampling.other_users = {{4211, "python3", 0}};
  const auto grade_it = [&] {
    return grade_task_with([&](const RunRequest& request) {
      RunOutcome outcome = measured(request, kSteady);
      outcome.sampling = sampling;
      return outcome;
    });
  };
  const TaskResult undisturbed = grade_it();
  EXPECT_THAT(undisturbed.for_people, testing::IsEmpty());
  EXPECT_EQ(undisturbed.timings.at(0).measured->busy_before, 7);
  sampling.disturbed = 5;
  const TaskResult task = grade_it();
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, undisturbed.score);
  ASSERT_EQ(task.for_people.size(), 1U);
  EXPECT_THAT(task.for_people[0], HasSubstr("before 7 calls the GPU was busy while the code was "
                                            "stopped: a kernel that it left running, or another"));
  EXPECT_THAT(task.for_people[0], HasSubstr("python3 (process 4211)"));
}

TEST_F(GradeTest, AModelledTimeHasNoNoise) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.samples_us = {2002};  // as a simulated GPU fills it in
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_DOUBLE_EQ(task.score, 16);
  EXPECT_FALSE(task.timings.at(0).measured);
  EXPECT_EQ(runs_, 5) << "nothing is timed twice; one case is called again";
}

TEST_F(GradeTest, ANoisyTimeIsTakenOnceMore) {
  int timed = 0;
  const TaskResult task = grade_task_with([&](const RunRequest& request) {
    return measured(request, request.timed && ++timed == 1 ? kNoisy : kSteady);
  });
  EXPECT_EQ(timed, 2);
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_DOUBLE_EQ(task.score, 16);
  EXPECT_EQ(task.timings.size(), 1U);
}

TEST_F(GradeTest, ATimeThatStaysNoisyIsNoScoreAndNoZero) {
  int timed = 0;
  const TaskResult task = grade_task_with([&](const RunRequest& request) {
    timed += request.timed ? 1 : 0;
    return measured(request, kNoisy);
  });
  EXPECT_EQ(timed, 2);
  EXPECT_EQ(task.verdict, Verdict::grader_fault);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.max_score, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0902"));
  EXPECT_THAT(task.diagnostics[0].evidence.at(0), HasSubstr("between 2002.00 and 4004.00 us"));
  EXPECT_THAT(task.diagnostics[0].evidence.at(1), HasSubstr("2.00 points lie between"));
  EXPECT_EQ(task.timings.size(), 1U) << "the time can be looked at";
}

// The noise itself does not matter, only what it decides.
TEST_F(GradeTest, NoiseThatDecidesNothingIsScored) {
  std::vector<double> fast = kNoisy;
  for (double& sample : fast) sample /= 2.5;  // 800 and 1600 us: full marks at half the peak
  part_.tasks[0].speeds[0].full_efficiency = 0.5;
  const auto at = [&](const std::vector<double>& samples) {
    return grade_task_with([&](const RunRequest& request) { return measured(request, samples); });
  };
  std::vector<double> above_floor = fast;
  for (double& sample : above_floor) sample = std::max(sample, 1000.0);
  EXPECT_EQ(at(above_floor).verdict, Verdict::pass);
  EXPECT_DOUBLE_EQ(at(above_floor).score, 18);
  std::vector<double> slow = kNoisy;
  for (double& sample : slow) sample *= 20;
  EXPECT_EQ(at(slow).verdict, Verdict::pass);
  EXPECT_DOUBLE_EQ(at(slow).score, 10);
  part_.tasks[0].speeds[0].points = 0;
  EXPECT_EQ(at(kNoisy).verdict, Verdict::pass) << "a time that is only shown";
}

/// The runs of a device that calls once more with fresh inputs, for which `answer` returns what
/// it may.
template <typename Answer>
FakeDevice::Behaviour with_fresh_call(Answer answer) {
  return [answer](const RunRequest& request) {
    RunOutcome outcome = measured(request, kSteady);
    if (!request.timed) return outcome;
    RunRequest again = request;
    FreshCall fresh{.problem = request.fresh(0), .outputs = {}, .time_us = 2002};
    EXPECT_NE(fresh.problem.tensors[0].data, request.problem->tensors[0].data);
    EXPECT_NE(request.fresh(1).tensors[0].data, fresh.problem.tensors[0].data);
    EXPECT_EQ(request.fresh(0).tensors[0].data, fresh.problem.tensors[0].data);
    again.problem = &fresh.problem;
    fresh.outputs = answer(request, again);
    outcome.fresh.push_back(std::move(fresh));
    return outcome;
  };
}

TEST_F(GradeTest, ARightAnswerToFreshInputsChangesNothing) {
  const TaskResult task = grade_task_with(with_fresh_call(
      [](const RunRequest&, const RunRequest& again) { return solve(again).outputs; }));
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_DOUBLE_EQ(task.score, 16);
}

TEST_F(GradeTest, AKeptResultIsAWrongAnswer) {
  const TaskResult task = grade_task_with(with_fresh_call(
      [](const RunRequest& before, const RunRequest&) { return solve(before).outputs; }));
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0420"));
  EXPECT_THAT(task.diagnostics[0].message, HasSubstr("returned the result of the inputs before"));
  EXPECT_FALSE(task.diagnostics[0].evidence.empty());
}

TEST_F(GradeTest, AnAnswerThatIsWrongFromSomeCallOnIsAWrongAnswer) {
  const TaskResult task = grade_task_with(with_fresh_call(
      [](const RunRequest&, const RunRequest& again) { return untouched(*again.problem); }));
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0420"));
  EXPECT_THAT(task.diagnostics[0].message, HasSubstr("with inputs that no call before had"));
}

TEST_F(GradeTest, ATimedCallThatIsWrongIsAWrongAnswer) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = measured(request, kSteady);
    if (request.timed) outcome.drawn_outputs = untouched(*request.problem);
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0420"));
  EXPECT_THAT(task.diagnostics[0].message, HasSubstr("drawn at random"));
}

TEST_F(GradeTest, TimesThatDoNotHoldForFreshInputsAreSuspect) {
  const auto behave = with_fresh_call(
      [](const RunRequest&, const RunRequest& again) { return solve(again).outputs; });
  const TaskResult task = grade_task_with([&](const RunRequest& request) {
    RunOutcome outcome = behave(request);
    if (request.timed) {
      outcome.fresh[0].time_us = 9000;
      outcome.sampling->slower_on_fresh = true;
    }
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_EQ(task.score, 10) << "its answers are right";
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0595"));
  EXPECT_THAT(task.diagnostics[0].evidence.at(0), HasSubstr("2002.00 us with the same inputs"));
  EXPECT_THAT(task.diagnostics[0].evidence[0], HasSubstr("9000.00 us or more"));
}

TEST_F(GradeTest, TimesOfCallsThatCameBackTooEarlyAreSuspect) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = measured(request, kSteady);
    if (request.timed) outcome.sampling->early = 2;
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_EQ(task.score, 10);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0596"));
}

}  // namespace
}  // namespace rooflab
