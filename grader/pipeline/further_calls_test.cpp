// Calls behind a first one in the same process: which case has them, and what is said of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/pipeline/grade_fixture.h"

namespace rooflab {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::int64_t size_of(const Problem& problem) { return problem.tensors[0].elements(); }

/// Right alone, and behind a first call what `answer` makes of one. @param answer fills in outputs
FakeDevice::Behaviour with_further_calls(std::function<void(FreshCall&, const Problem&)> answer) {
  return [answer = std::move(answer)](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    for (std::size_t i = 0; i < request.further.size() && !request.timed; ++i) {
      FreshCall call;
      call.problem = request.fresh(static_cast<int>(i));
      call.number = static_cast<int>(i) + 2;
      RunRequest again = request;
      again.problem = &call.problem;
      call.outputs = solve(again).outputs;
      answer(call, *request.problem);
      outcome.fresh.push_back(std::move(call));
    }
    return outcome;
  };
}

/// @param sees_order whether its kernel can see the order of warps and blocks
FakeDevice::Behaviour wrong_backwards(bool sees_order) {
  return [sees_order](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    for (simgpu::KernelRecord& kernel : outcome.activity.kernels) kernel.sees_order = sees_order;
    if (request.backwards)
      outcome.outputs.back().assign(outcome.outputs.back().size(), std::byte{1});
    return outcome;
  };
}

TEST_F(GradeTest, AResultThatDependsOnTheOrderOfWarpsAndBlocksIsARace) {
  const TaskResult task = grade_task_with(wrong_backwards(true));
  EXPECT_EQ(task.verdict, Verdict::race);
  ASSERT_FALSE(task.diagnostics.empty());
  EXPECT_EQ(task.diagnostics.front().code.text(), "RL0556");
  EXPECT_THAT(task.diagnostics.front().notes.front(), StartsWith("in that order: "));
}

TEST_F(GradeTest, AKernelThatTakesTooLongBackwardsIsRight) {
  const auto behave = [](const RunRequest& request) {
    RunOutcome outcome = wrong_backwards(true)(request);
    if (request.backwards) {
      simgpu::Finding finding;
      finding.code = "RL0319";
      outcome.activity.findings.push_back(finding);
      outcome.activity.error = "cudaErrorLaunchTimeout";
    }
    return outcome;
  };
  EXPECT_EQ(grade_task_with(behave).verdict, Verdict::pass);
}

TEST_F(GradeTest, AKernelThatSeesNoOrderIsNotRunBackwards) {
  EXPECT_EQ(grade_task_with(wrong_backwards(false)).verdict, Verdict::pass);
}

TEST_F(GradeTest, TheLargestPublicCaseIsCalledAgainBehindASmallerOne) {
  part_.tasks[0].cases = {make_case("first", 2, false), make_case("four", 4, false),
                          make_case("nine", 9, false), make_case("six", 6, false),
                          make_case("secret", 50, true)};
  std::vector<std::int64_t> sizes;
  const TaskResult task = grade_task_with([&](const RunRequest& request) {
    if (!request.timed && !request.further.empty()) {
      sizes.push_back(size_of(*request.problem));
      for (int i = 0; i < 3; ++i) sizes.push_back(size_of(request.fresh(i)));
      EXPECT_EQ(request.further.at(2).at, 0U);
      EXPECT_NE(request.fresh(2).tensors[0].data, request.problem->tensors[0].data);
    }
    return solve(request);
  });
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{4, 9, 9, 4}));
  EXPECT_EQ(task.verdict, Verdict::pass);
}

// A case of one element is small enough to be called often: ScaleOracle::work.
TEST_F(GradeTest, TheSmallestCaseIsCalledAgainAndAgainBehindThem) {
  part_.tasks[0].cases = {make_case("nine", 9, false), make_case("four", 4, false),
                          make_case("one", 1, false)};
  std::vector<std::int64_t> sizes;
  std::vector<std::optional<std::size_t>> places;
  grade_task_with([&](const RunRequest& request) {
    for (std::size_t i = 3; i < request.further.size() && !request.timed; ++i) {
      sizes.push_back(size_of(request.fresh(static_cast<int>(i))));
      places.push_back(request.further[i].at);
    }
    return solve(request);
  });
  ASSERT_GE(sizes.size(), 5U);
  EXPECT_LE(sizes.size(), 20U);
  EXPECT_THAT(sizes, testing::Each(1));
  EXPECT_EQ(places[0], std::nullopt);
  EXPECT_EQ(places[1], 3U) << "where the first of them was";
}

TEST_F(GradeTest, WhatIsRightForFourCallsOnlyIsWrong) {
  part_.tasks[0].cases = {make_case("nine", 9, false), make_case("four", 4, false),
                          make_case("one", 1, false)};
  const TaskResult task =
      grade_task_with(with_further_calls([](FreshCall& call, const Problem& /*first*/) {
        if (call.number > 4) call.outputs = untouched(call.problem);
      }));
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0420"));
  EXPECT_THAT(task.diagnostics[0].message, HasSubstr("the 5th call in one process"));
}

TEST_F(GradeTest, ASmallestCaseThatIsWrongByItselfAccusesNobodyOfCounting) {
  part_.tasks[0].cases = {make_case("nine", 9, false), make_case("four", 4, false),
                          make_case("one", 1, false)};
  const auto wrong_for_one = with_further_calls([](FreshCall& call, const Problem& /*first*/) {
    if (size_of(call.problem) == 1) call.outputs = untouched(call.problem);
  });
  const TaskResult task = grade_task_with([&](const RunRequest& request) {
    RunOutcome outcome = wrong_for_one(request);
    if (size_of(*request.problem) == 1) outcome.outputs = untouched(*request.problem);
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  for (const Diagnostic& diagnostic : task.diagnostics) EXPECT_NE(diagnostic.code, Code("RL0420"));
}

TEST_F(GradeTest, WhatStoresToEarlierArraysIsSaidToDoSo) {
  part_.tasks[0].cases.front() = make_case("three", 3, false);
  const TaskResult task =
      grade_task_with(with_further_calls([](FreshCall& call, const Problem& /*first*/) {
        if (call.number != 3) return;
        call.outputs = untouched(call.problem);
        call.wrote_to_earlier = true;
      }));
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0420"));
  EXPECT_THAT(task.diagnostics[0].message,
              HasSubstr("third call in one process, with larger arrays than the first, stores its "
                        "result where an earlier call had its outputs"));
}

TEST_F(GradeTest, AResultOfEarlierInputsIsSaidToBeStale) {
  part_.tasks[0].cases.front() = make_case("three", 3, false);
  const TaskResult task =
      grade_task_with(with_further_calls([](FreshCall& call, const Problem& first) {
        if (call.number != 4) return;
        RunRequest request;
        request.problem = &first;
        call.outputs = solve(request).outputs;
      }));
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0420"));
  EXPECT_THAT(task.diagnostics[0].message, HasSubstr("returned the result of the inputs before"));
}

TEST_F(GradeTest, AFurtherCallThatFailsIsSaidToBeOne) {
  part_.tasks[0].cases.front() = make_case("three", 3, false);
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.timed || request.further.empty()) return outcome;
    outcome.failed_call = 2;
    outcome.activity.findings = {finding("RL0201")};
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::runtime_error);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0201"));
  EXPECT_THAT(task.diagnostics[0].message,
              StartsWith("the second call in one process, with larger arrays than the first, goes "
                         "wrong: "));
}

TEST_F(GradeTest, ASmallerCaseThatIsWrongByItselfAccusesNobodyOfKeepingAnything) {
  part_.tasks[0].cases.front() = make_case("three", 3, false);
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.timed || request.further.empty()) return outcome;
    outcome.outputs = untouched(*request.problem);
    FreshCall again;
    again.number = 4;
    again.problem = request.fresh(2);
    again.outputs = untouched(again.problem);
    outcome.fresh = {again};
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
}

/// Whatever a smaller case does by itself, its own case tells.
TEST_F(GradeTest, AFirstCallThatFailsAccusesNobodyOfKeepingAnything) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.timed || request.further.empty()) return outcome;
    outcome.activity.findings = {finding("RL0201")};
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
}

}  // namespace
}  // namespace rooflab
