#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/pipeline/grade_fixture.h"

namespace rooflab {
namespace {

using simgpu::FindingKind;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

RunOutcome solve_wrongly(const RunRequest& request) {
  RunOutcome outcome = solve(request);
  outcome.outputs[1][5] ^= std::byte{0xff};
  return outcome;
}

/// A device whose checkers look at a call only when they are asked, as a real GPU's do.
class CheckedCallsTest : public GradeTest {
 protected:
  void find(Code code) { checked_ = {.findings = {finding(code)}}; }
};

TEST_F(CheckedCallsTest, WhatTheyFindIsTheVerdictOfACaseThatFailed) {
  find("RL0302");
  const TaskResult task = grade_task_with(solve_wrongly);
  EXPECT_EQ(task.verdict, Verdict::race);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0302"));
  EXPECT_FALSE(task.diagnostics.at(0).evidence.empty()) << "with what it did to the output";
  EXPECT_EQ(checks_, 1);
}

TEST_F(CheckedCallsTest, AreNotAskedAboutACaseThatPasses) {
  find("RL0302");
  EXPECT_EQ(grade_task_with(solve).verdict, Verdict::pass);
  EXPECT_EQ(checks_, 0);
}

TEST_F(CheckedCallsTest, LeaveAWrongAnswerAsItIsWhereTheyFindNothing) {
  checked_.emplace();
  const TaskResult task = grade_task_with(solve_wrongly);
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(checks_, 1) << "once for each task";
}

TEST_F(CheckedCallsTest, SayWhyTheyDoNotWorkAndGradingGoesOn) {
  checked_ = {.unavailable = "the toolkit has no compute-sanitizer"};
  const TaskResult task = grade_task_with(solve_wrongly);
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_THAT(task.diagnostics.at(0).notes,
              Contains(HasSubstr("the toolkit has no compute-sanitizer")));
}

TEST_F(CheckedCallsTest, SayWhatTheyDidNotSee) {
  checked_ = {.incomplete = "memcheck took longer than 20 s"};
  const TaskResult task = grade_task_with(solve_wrongly);
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_THAT(task.diagnostics.at(0).notes,
              Contains("races and wrong accesses may be unseen: memcheck took longer than 20 s"));
}

TEST_F(CheckedCallsTest, AreNotAskedWhereEveryRunIsChecked) {
  const TaskResult task = grade_task_with(solve_wrongly);
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(checks_, 0);
  EXPECT_THAT(task.diagnostics.at(0).notes, Each(Not(HasSubstr("races"))));
}

}  // namespace
}  // namespace rooflab
