#include "grader/pipeline/grade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/pipeline/grade_fixture.h"

// What a task comes to: its points, its cases, what the oracle adds, and a case by itself.
namespace rooflab {
namespace {

using testing::HasSubstr;

// Efficiency 1001 / 2002 = 1/2; from 1/16 to 1 lie four doublings, so three quarters of 8 points.
TEST_F(GradeTest, RightAnswerScoresItsPointsAndThoseForSpeed) {
  const GradeResult result = grade_with(solve);
  ASSERT_EQ(result.tasks.size(), 1U);
  const TaskResult& task = result.tasks[0];
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_DOUBLE_EQ(task.score, 16);
  EXPECT_DOUBLE_EQ(task.max_score, 18);
  ASSERT_EQ(task.cases.size(), 3U);
  EXPECT_TRUE(task.cases[2].hidden);
  ASSERT_EQ(task.timings.size(), 1U);
  EXPECT_DOUBLE_EQ(task.timings[0].efficiency, 0.5);
  EXPECT_EQ(task.timings[0].bound, "compute");
  EXPECT_EQ(result.seed, 8812U);
  EXPECT_EQ(result.device, "sim:round");
  EXPECT_EQ(runs_, 5);
}

TEST_F(GradeTest, ARightResultThatNoKernelComputedScoresNothing) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.activity.kernels.clear();
    outcome.activity.api_calls["cudaMemcpy"] = 2;
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0506"));
}

TEST_F(GradeTest, FewerOperationsThanTheCaseHasAreANoteForPeopleAndCostNothing) {
  const auto solve_by_few = [](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    simgpu::KernelCounters& counters = outcome.activity.kernels[0].counters;
    counters.thread_instructions = counters.flops["fp32"];
    counters.flops["fp32"] /= 8;
    return outcome;
  };
  const TaskResult task = grade_task_with(solve_by_few);
  const TaskResult usual = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, usual.score);
  EXPECT_THAT(task.diagnostics, testing::IsEmpty()) << "no student is accused";
  ASSERT_THAT(task.for_people, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(task.for_people[0], HasSubstr("kernels did"));
  EXPECT_THAT(task.for_people, testing::Contains("a hidden case: kernels did fewer operations than "
                                                 "this case takes"));
  EXPECT_THAT(usual.for_people, testing::IsEmpty());
}

/// Has something to say of each timed call.
class RemarkingOracle : public ScaleOracle {
 public:
  explicit RemarkingOracle(bool forfeits) : forfeits_(forfeits) {}
  std::vector<SpeedRemark> judge_speed(const Values& /*parameters*/,
                                       const CallEvidence& /*evidence*/) const override {
    return {{{"RL0431", "there are no tiles", "use tiles"}, forfeits_}};
  }

 private:
  bool forfeits_;
};

/// Finds fault with how each call came to its values.
class ComplainingOracle : public ScaleOracle {
 public:
  std::vector<Complaint> judge(const Problem& /*problem*/,
                               const CallEvidence& /*evidence*/) const override {
    return {{"RL0431", "each element is loaded twice", "share loads"}};
  }
};

TEST_F(GradeTest, AComplaintAboutHowRightValuesCameAboutSaysThatTheyAreRight) {
  oracle_ = [] { return std::make_unique<ComplainingOracle>(); };
  EXPECT_EQ(grade_task_with(solve).diagnostics.at(0).message,
            "the values are right, but each element is loaded twice");
}

TEST_F(GradeTest, HowATaskIsSolvedIsAMatterOfSpeedPointsAlone) {
  const TaskResult usual = grade_task_with(solve);
  oracle_ = [] { return std::make_unique<RemarkingOracle>(false); };
  const TaskResult advised = grade_task_with(solve);
  EXPECT_EQ(advised.verdict, Verdict::pass);
  EXPECT_EQ(advised.score, usual.score);
  EXPECT_EQ(advised.diagnostics.at(0).code, Code("RL0431"));
  oracle_ = [] { return std::make_unique<RemarkingOracle>(true); };
  const TaskResult without = grade_task_with(solve);
  EXPECT_EQ(without.verdict, Verdict::pass);
  EXPECT_EQ(without.score, 10) << "the answers keep their points";
  EXPECT_EQ(without.timings.at(0).points, 0);
  EXPECT_THAT(without.diagnostics.at(0).notes,
              testing::Contains(HasSubstr("points for speed are 0 of 8")));
}

TEST_F(GradeTest, CopyingTheDataOutOfATimedCallEarnsNothingForSpeed) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (!request.timed) return outcome;
    add_round_trip(outcome, 4000);
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0614"));
  EXPECT_EQ(task.timings.empty() ? 0 : task.timings[0].points, 0);
}

TEST_F(GradeTest, AForbiddenFunctionThatTheDeviceServedIsRejected) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.activity.api_calls["cublas"] = 1;
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::rejected);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0602"));
}

TEST_F(GradeTest, ATaskThatTheGpuCannotRunIsOutOfNothing) {
  part_.tasks[0].speeds[0].peak = "fp8_tensor";
  build_.end = BuildOutcome::End::failed;  // nobody should have tried
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::not_applicable);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.max_score, 0);
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0612"));
  EXPECT_THAT(task.diagnostics.at(0).message, HasSubstr("Round GPU has no fp8_tensor"));
}

TEST_F(GradeTest, ACaseThatTheGpuCannotRunIsLeftOut) {
  part_.tasks[0].cases[1].peak = "fp8_tensor";
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.max_score, 18);
  EXPECT_EQ(task.cases.size(), part_.tasks[0].cases.size() - 1);
  part_.tasks[0].cases[1].peak = "bf16_tensor";
  EXPECT_EQ(grade_task_with(solve).cases.size(), part_.tasks[0].cases.size());
}

TEST_F(GradeTest, ReplayingACaseThatTheGpuCannotRunIsOutOfNothing) {
  part_.tasks[0].cases[1].peak = "fp8_tensor";
  request_.task = part_.tasks[0].id;
  request_.case_number = 2;
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::not_applicable);
  EXPECT_EQ(task.max_score, 0);
  EXPECT_EQ(runs_, 0);
}

TEST_F(GradeTest, AWrongAnswerCostsItsGroupAndTheOtherCasesGoOn) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.problem->tensors[0].elements() == 7)
      outcome.outputs[1] = bytes_of(std::vector<float>(7, 0));
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.max_score, 18);
  ASSERT_EQ(task.cases.size(), 3U);
  EXPECT_EQ(task.cases[0].verdict, Verdict::pass);
  EXPECT_EQ(task.cases[1].verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.cases[2].verdict, Verdict::pass);
  EXPECT_TRUE(task.timings.empty());
  EXPECT_GT(runs_, 3) << "further ones look for the cause";
  EXPECT_EQ(task.summary, "2 of 3 cases are right");
  ASSERT_FALSE(task.diagnostics.empty());
}

TEST_F(GradeTest, ALaterCaseThatNamesTheCauseIsToldInsteadOfOneThatDoesNot) {
  part_.tasks[0].cases.insert(part_.tasks[0].cases.begin() + 2, make_case("forty", 40, false));
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    std::vector<float> y = floats_of(outcome.outputs[1]);
    for (float& value : y) value *= 1.5F;
    if (y.size() < 40) y[0] = -1;  // no known mistake makes that
    outcome.outputs[1] = bytes_of(y);
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  ASSERT_EQ(task.diagnostics.size(), 1U) << "what a case tells that knows less may contradict it";
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0418"));
}

TEST_F(GradeTest, ACauseThatAFewElementsTellIsLookedForInLargerCases) {
  part_.tasks[0].cases.insert(part_.tasks[0].cases.begin() + 1, make_case("forty", 40, false));
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    std::vector<float> y = floats_of(outcome.outputs[1]);
    for (float& value : y) value *= 1.5F;
    outcome.outputs[1] = bytes_of(y);
    return outcome;
  });
  EXPECT_THAT(task.diagnostics.at(0).evidence.at(0), HasSubstr("case forty"));
}

/// Draws what the device was asked for.
class DrawingOracle : public ScaleOracle {
 public:
  explicit DrawingOracle(std::string name) : name_(std::move(name)) {}
  std::map<std::string, std::string> artifacts(const Problem& problem,
                                               const CallEvidence& evidence) const override {
    return {{name_, std::to_string(problem.tensors[0].elements()) + " elements, " +
                        std::to_string(evidence.activity.kernels.size()) + " kernel"}};
  }

 private:
  std::string name_;
};

TEST_F(GradeTest, ArtifactsOfTheOracleComeWithARightResult) {
  oracle_ = [] { return std::make_unique<DrawingOracle>("chart.svg"); };
  part_.tasks[0].speeds.clear();
  const TaskResult right = grade_task_with(solve);
  EXPECT_EQ(right.artifacts,
            (std::map<std::string, std::string>{{"chart.svg", "7 elements, 1 kernel"}}))
      << "the hidden case of 9 shows none";
  const TaskResult wrong = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.outputs[1].assign(outcome.outputs[1].size(), std::byte{0});
    return outcome;
  });
  EXPECT_TRUE(wrong.artifacts.empty());
}

TEST_F(GradeTest, AnArtifactThatWouldLeaveItsFolderIsAGraderFault) {
  for (const char* name : {"../chart.svg", "a/b.svg", ".hidden", "", "Chart.svg"}) {
    oracle_ = [name] { return std::make_unique<DrawingOracle>(name); };
    EXPECT_EQ(verdict_of(solve), Verdict::grader_fault) << name;
  }
}

TEST_F(GradeTest, OneCaseIsReplayedWithoutPoints) {
  request_.task = "scale";
  request_.case_number = 2;
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::pass);
  ASSERT_EQ(task.cases.size(), 1U);
  EXPECT_EQ(task.cases[0].name, "seven");
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.max_score, 0);
  EXPECT_EQ(runs_, 2);
}

TEST_F(GradeTest, CaseGetsTheSameInputsAloneAsAmongOthers) {
  std::map<std::int64_t, std::vector<std::byte>> seen;
  const auto remember = [&](const RunRequest& request) {
    seen[request.problem->tensors[0].elements()] = request.problem->tensors[0].data;
    return solve(request);
  };
  grade_with(remember);
  const auto among_others = seen[7];
  request_.task = "scale";
  request_.case_number = 2;
  grade_with(remember);
  EXPECT_EQ(seen[7], among_others);
  request_.seed = 8813;
  grade_with(remember);
  EXPECT_NE(seen[7], among_others);
}

}  // namespace
}  // namespace rooflab
