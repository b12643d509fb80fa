#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/pipeline/grade_fixture.h"

// The verdict of a run, and what is told of it.
namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using End = RunOutcome::End;

TEST_F(GradeTest, OutputThatWasNeverWrittenIsWrong) {
  EXPECT_EQ(verdict_of([](const RunRequest& request) {
              RunOutcome outcome;
              outcome.outputs = untouched(*request.problem);
              return outcome;
            }),
            Verdict::wrong_answer);
}

TEST_F(GradeTest, ChangedInputIsAWrongAnswerThoughTheOutputIsRight) {
  EXPECT_EQ(verdict_after([](RunOutcome& outcome) { outcome.outputs[0][0] ^= std::byte{1}; }),
            Verdict::wrong_answer);
}

TEST_F(GradeTest, ComplaintOfTheOracleIsAWrongAnswer) {
  EXPECT_EQ(
      verdict_after([](RunOutcome& outcome) { outcome.activity.api_calls["cudaDeviceReset"] = 1; }),
      Verdict::wrong_answer);
}

TEST_F(GradeTest, EveryEndOfARunHasItsVerdict) {
  EXPECT_EQ(verdict_of_end(End::not_implemented), Verdict::not_implemented);
  EXPECT_EQ(verdict_of_end(End::exception), Verdict::runtime_error);
  EXPECT_EQ(verdict_of_end(End::exited), Verdict::runtime_error);
  EXPECT_EQ(verdict_of_end(End::killed), Verdict::runtime_error);
  EXPECT_EQ(verdict_of_end(End::time_limit), Verdict::time_limit);
  EXPECT_EQ(verdict_of_end(End::memory_limit), Verdict::memory_limit);
  EXPECT_EQ(verdict_of_end(End::output_limit), Verdict::output_limit);
  EXPECT_EQ(verdict_of_end(End::disk_limit), Verdict::disk_limit);
}

TEST_F(GradeTest, EveryFindingHasItsVerdictThoughTheOutputIsRight) {
  EXPECT_EQ(verdict_of_finding("RL0301"), Verdict::race);
  EXPECT_EQ(verdict_of_finding("RL0304"), Verdict::race);
  EXPECT_EQ(verdict_of_finding("RL0201"), Verdict::runtime_error);
  EXPECT_EQ(verdict_of_finding("RL0206"), Verdict::runtime_error);
  EXPECT_EQ(verdict_of_finding("RL0306"), Verdict::runtime_error);
  EXPECT_EQ(verdict_of_finding("RL0307"), Verdict::time_limit);
  EXPECT_EQ(verdict_of_finding("RL0309"), Verdict::pass);
}

TEST_F(GradeTest, RaceIsToldBeforeWhatFollowsFromIt) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.outputs[1] = bytes_of(std::vector<float>(floats_of(outcome.outputs[1]).size(), 0));
    outcome.end = End::time_limit;
    outcome.activity.findings = {finding("RL0201"), finding("RL0302")};
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::race);
  ASSERT_EQ(task.diagnostics.size(), 1U);
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0302"));
  EXPECT_FALSE(task.diagnostics[0].evidence.empty())
      << "the effect on the outputs belongs to the story";
}

TEST_F(GradeTest, AFaultThatStoppedTheLaunchHasNoEffectToTell) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome;
    outcome.outputs = untouched(*request.problem);
    outcome.activity.error = "cudaErrorIllegalAddress";
    outcome.activity.findings = {finding("RL0201")};
    return outcome;
  });
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0201"));
  EXPECT_THAT(task.diagnostics.at(0).evidence, testing::IsEmpty())
      << "that the rest was never written says nothing about the mistake";
}

/// Prints in every case, and throws the size of the hidden one.
RunOutcome tell_sizes(const RunRequest& request) {
  RunOutcome outcome = solve(request);
  const auto n = request.problem->tensors[0].elements();
  outcome.printed = "n = " + std::to_string(n);
  if (n == 9) {
    outcome.end = End::exception;
    outcome.detail = "n = 9";
  }
  return outcome;
}

TEST_F(GradeTest, NothingThatAHiddenCasePrintsOrThrowsReachesTheReport) {
  part_.tasks[0].cases.erase(part_.tasks[0].cases.begin(), part_.tasks[0].cases.begin() + 2);
  const TaskResult task = grade_task_with(tell_sizes);
  EXPECT_EQ(task.verdict, Verdict::runtime_error);
  EXPECT_EQ(task.printed, "");
  ASSERT_EQ(task.diagnostics.size(), 1U);
  EXPECT_EQ(task.diagnostics[0].message, "the function threw an exception");
  EXPECT_THAT(task.diagnostics[0].notes, testing::Each(HasSubstr("hidden")));
}

TEST_F(GradeTest, WhatThePublicCasesPrintIsKept) {
  EXPECT_EQ(grade_task_with(tell_sizes).printed, "n = 4");
}

TEST_F(GradeTest, AStoryQuotesTheTextThatWasGraded) {
  const TaskResult task = grade_task_with([this](const RunRequest& request) {
    write("submission/part7-test/scale.cu", "// changed while it ran\n");
    RunOutcome outcome = solve(request);
    outcome.activity.findings = {finding("RL0201")};
    outcome.activity.findings[0].where.file = "scale.cu";
    outcome.activity.findings[0].where.line = 1;
    return outcome;
  });
  EXPECT_EQ(task.diagnostics.at(0).labels.at(0).excerpt, "// the student's");
}

TEST_F(GradeTest, CudaErrorLeftBehindIsARuntimeError) {
  EXPECT_EQ(
      verdict_after([](RunOutcome& outcome) { outcome.cuda_error = "cudaErrorInvalidValue"; }),
      Verdict::runtime_error);
  EXPECT_EQ(verdict_after(
                [](RunOutcome& outcome) { outcome.activity.error = "cudaErrorIllegalAddress"; }),
            Verdict::runtime_error);
}

TEST_F(GradeTest, StubIsPlacedWhereTheGuestSaysItStands) {
  const TaskResult task = grade_task_with([](const RunRequest&) {
    RunOutcome outcome;
    outcome.end = End::not_implemented;
    outcome.detail = "choose a block shape";
    outcome.thrown = {"part7-test/scale.cu", 12, ""};
    return outcome;
  });
  ASSERT_EQ(task.diagnostics.size(), 1U);
  EXPECT_EQ(task.diagnostics[0].line, 12U);
  EXPECT_THAT(task.diagnostics[0].message, HasSubstr("choose a block shape"));
}

TEST_F(GradeTest, FaultOfTheDeviceIsTriedAgainAndThenCostsNothing) {
  const TaskResult task = grade_task_with([](const RunRequest&) {
    RunOutcome outcome;
    outcome.end = End::device_fault;
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::grader_fault);
  EXPECT_EQ(task.max_score, 0) << "a fault of ours is out of no points";
  EXPECT_EQ(runs_, 2);

  int calls = 0;
  const TaskResult second = grade_task_with([&calls](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (++calls == 1) outcome.end = End::device_fault;
    return outcome;
  });
  EXPECT_EQ(second.verdict, Verdict::pass);
}

TEST_F(GradeTest, DeviceThatThrowsIsAGraderFaultOfThatTaskAlone) {
  part_.tasks.push_back(part_.tasks[0]);
  part_.tasks[1].id = "scale_again";
  int calls = 0;
  const GradeResult result = grade_with([&calls](const RunRequest& request) {
    if (++calls == 1) throw std::runtime_error("the device process is gone");
    return solve(request);
  });
  EXPECT_EQ(result.tasks[0].verdict, Verdict::grader_fault);
  EXPECT_EQ(result.tasks[1].verdict, Verdict::pass);
}

}  // namespace
}  // namespace rooflab
