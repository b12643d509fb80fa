#include "grader/pipeline/grade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "grader/pipeline/grade_fixture.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using End = RunOutcome::End;

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
  EXPECT_EQ(runs_, 4);
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
  EXPECT_EQ(task.diagnostics.at(0).code, "RL0506");
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

TEST_F(GradeTest, HowATaskIsSolvedIsAMatterOfSpeedPointsAlone) {
  const TaskResult usual = grade_task_with(solve);
  oracle_ = [] { return std::make_unique<RemarkingOracle>(false); };
  const TaskResult advised = grade_task_with(solve);
  EXPECT_EQ(advised.verdict, Verdict::pass);
  EXPECT_EQ(advised.score, usual.score);
  EXPECT_EQ(advised.diagnostics.at(0).code, "RL0431");
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
    auto& copy = outcome.activity.memory.emplace_back();
    copy.kind = "copy device to host";
    copy.bytes = 4000;
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_EQ(task.score, 10);
  EXPECT_EQ(task.diagnostics.at(0).code, "RL0506");
}

TEST_F(GradeTest, AForbiddenFunctionThatTheDeviceServedIsRejected) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.activity.api_calls["cublas"] = 1;
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::rejected);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, "RL0602");
}

TEST_F(GradeTest, ATaskThatTheGpuCannotRunIsOutOfNothing) {
  part_.tasks[0].speeds[0].peak = "fp8_tensor";
  build_.end = BuildOutcome::End::failed;  // nobody should have tried
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::not_applicable);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.max_score, 0);
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, "RL0612");
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
  EXPECT_EQ(runs_, 3);
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
  EXPECT_EQ(task.diagnostics[0].code, "RL0418");
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
  using enum simgpu::FindingKind;
  EXPECT_EQ(verdict_of_finding(shared_race, "RL0301"), Verdict::race);
  EXPECT_EQ(verdict_of_finding(global_race, "RL0304"), Verdict::race);
  EXPECT_EQ(verdict_of_finding(out_of_bounds, "RL0201"), Verdict::runtime_error);
  EXPECT_EQ(verdict_of_finding(uninitialized_read, "RL0206"), Verdict::runtime_error);
  EXPECT_EQ(verdict_of_finding(deadlock, "RL0306"), Verdict::runtime_error);
  EXPECT_EQ(verdict_of_finding(deadlock, "RL0307"), Verdict::time_limit);
  EXPECT_EQ(verdict_of_finding(leak, "RL0309"), Verdict::pass);
}

TEST_F(GradeTest, RaceIsToldBeforeWhatFollowsFromIt) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.outputs[1] = bytes_of(std::vector<float>(floats_of(outcome.outputs[1]).size(), 0));
    outcome.end = End::time_limit;
    outcome.activity.findings = {finding(simgpu::FindingKind::out_of_bounds, "RL0201"),
                                 finding(simgpu::FindingKind::shared_race, "RL0302")};
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::race);
  ASSERT_EQ(task.diagnostics.size(), 1U);
  EXPECT_EQ(task.diagnostics[0].code, "RL0302");
  EXPECT_FALSE(task.diagnostics[0].evidence.empty())
      << "the effect on the outputs belongs to the story";
}

TEST_F(GradeTest, AFaultThatStoppedTheLaunchHasNoEffectToTell) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome;
    outcome.outputs = untouched(*request.problem);
    outcome.activity.error = "cudaErrorIllegalAddress";
    outcome.activity.findings = {finding(simgpu::FindingKind::out_of_bounds, "RL0201")};
    return outcome;
  });
  EXPECT_EQ(task.diagnostics.at(0).code, "RL0201");
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
  EXPECT_THAT(task.diagnostics[0].notes, ElementsAre(HasSubstr("hidden")));
}

TEST_F(GradeTest, WhatThePublicCasesPrintIsKept) {
  EXPECT_EQ(grade_task_with(tell_sizes).printed, "n = 4");
}

TEST_F(GradeTest, AStoryQuotesTheTextThatWasGraded) {
  const TaskResult task = grade_task_with([this](const RunRequest& request) {
    write("submission/part7-test/scale.cu", "// changed while it ran\n");
    RunOutcome outcome = solve(request);
    outcome.activity.findings = {finding(simgpu::FindingKind::out_of_bounds, "RL0201")};
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
    outcome.detail = "part7-test/scale.cu:12: choose a block shape";
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

TEST_F(GradeTest, AMissingFileThatTheTaskUsesIsNamed) {
  part_.tasks[0].uses = {"helper.cu"};
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::not_implemented);
  EXPECT_EQ(task.diagnostics.at(0).file, "helper.cu");
  EXPECT_EQ(runs_, 0);
  write("submission/part7-test/helper.cu", "// the student's\n");
  EXPECT_EQ(verdict_of(solve), Verdict::pass);
}

TEST_F(GradeTest, ATodoInAFileThatTheTaskUsesIsNamedWithItsLine) {
  part_.tasks[0].uses = {"helper.cu"};
  write("submission/part7-test/helper.cu", "// the student's\n");
  const TaskResult task = grade_task_with([](const RunRequest&) {
    RunOutcome outcome;
    outcome.end = RunOutcome::End::not_implemented;
    outcome.detail = "part7-test/helper.cu:12: scale a row";
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::not_implemented);
  EXPECT_EQ(task.diagnostics.at(0).file, "helper.cu");
  EXPECT_EQ(task.diagnostics.at(0).line, 12U);
}

TEST_F(GradeTest, ACompileErrorInAFileThatTheTaskUsesIsNamedWithItsLine) {
  part_.tasks[0].uses = {"helper.cu"};
  write("submission/part7-test/helper.cu", "// the student's\n");
  build_.end = BuildOutcome::End::failed;
  build_.file = "helper.cu";
  build_.messages = "part7-test/helper.cu(3): error: expected a \";\"\n";
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::compile_error);
  EXPECT_EQ(task.diagnostics.at(0).file, "helper.cu");
  EXPECT_EQ(task.diagnostics.at(0).line, 3U);
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
            (std::map<std::string, std::string>{{"chart.svg", "9 elements, 1 kernel"}}));
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

TEST_F(GradeTest, CompileErrorIsTheStudents) {
  build_.end = BuildOutcome::End::failed;
  build_.messages = "part7-test/scale.cu(3): error: expected a \";\"\n";
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::compile_error);
  EXPECT_EQ(task.score, 0);
  EXPECT_THAT(task.diagnostics.at(0).evidence,
              ElementsAre("part7-test/scale.cu(3): error: expected a \";\""));
  EXPECT_EQ(runs_, 0);
}

TEST_F(GradeTest, FaultOfTheBuildSandboxIsOurs) {
  build_.end = BuildOutcome::End::fault;
  EXPECT_EQ(verdict_of(solve), Verdict::grader_fault);
}

TEST_F(GradeTest, ForbiddenImportIsRejectedUnrun) {
  library_ = std::string(ROOFLAB_TESTDATA) + "/libgrade_forbidden.so";
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::rejected);
  EXPECT_THAT(task.diagnostics.at(0).message, HasSubstr("cublasSgemm_v2"));
  EXPECT_EQ(runs_, 0);
}

TEST_F(GradeTest, LookingFunctionsUpAtRunTimeIsRejected) {
  library_ = std::string(ROOFLAB_TESTDATA) + "/libgrade_lookup.so";
  EXPECT_EQ(verdict_of(solve), Verdict::rejected);
}

TEST_F(GradeTest, CuptiIsLookedUpAtRunTimeByTasksThatNameIt) {
  library_ = std::string(ROOFLAB_TESTDATA) + "/libgrade_lookup.so";
  part_.tasks[0].libraries = {"cupti"};
  std::vector<std::string> given;
  EXPECT_EQ(verdict_of([&](const RunRequest& request) {
              given = request.libraries;
              return solve(request);
            }),
            Verdict::pass);
  EXPECT_EQ(given, (std::vector<std::string>{"cupti"})) << "the device is told what to offer";
  part_.tasks[0].forbidden = {"^dlsym$"};
  EXPECT_EQ(verdict_of(solve), Verdict::rejected) << "a task may still forbid it";
}

TEST_F(GradeTest, FileWithoutTheFunctionIsACompileErrorThatNamesIt) {
  library_ = std::string(ROOFLAB_TESTDATA) + "/libgrade_unresolved.so";
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::compile_error);
  EXPECT_THAT(task.diagnostics.at(0).evidence.at(0),
              HasSubstr("scale_values(float const*, int) is declared but not defined"));
}

TEST_F(GradeTest, LinkInPlaceOfAFileIsRejectedAndNotFollowed) {
  std::filesystem::remove(root_ / "submission/part7-test/scale.cu");
  std::filesystem::create_symlink("/etc/passwd", root_ / "submission/part7-test/scale.cu");
  EXPECT_EQ(verdict_of(solve), Verdict::rejected);
}

TEST_F(GradeTest, MissingFileIsNotImplementedWhenAnotherIsThere) {
  part_.tasks.push_back(part_.tasks[0]);
  part_.tasks[1].id = "other";
  part_.tasks[1].file = "other.cu";
  const GradeResult result = grade_with(solve);
  EXPECT_EQ(result.tasks[0].verdict, Verdict::pass);
  EXPECT_EQ(result.tasks[1].verdict, Verdict::not_implemented);
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
  EXPECT_EQ(runs_, 1);
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

std::string usage_error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(GradeTest, UnknownTasksAndCasesAreNamedWithWhatThereIs) {
  request_.task = "scael";
  EXPECT_EQ(usage_error_of([&] { grade_with(solve); }),
            "part 7 has no task scael; its tasks are scale");
  request_.task = "scale";
  request_.case_number = 3;  // the third is hidden
  EXPECT_THAT(usage_error_of([&] { grade_with(solve); }),
              HasSubstr("task scale has no case 3; it has 2"));
}

TEST_F(GradeTest, SubmissionThatHoldsNothingIsAUsageError) {
  request_.submission = root_ / "nowhere";
  EXPECT_THAT(usage_error_of([&] { grade_with(solve); }), HasSubstr("there is no submission"));
  std::filesystem::create_directories(root_ / "empty");
  request_.submission = root_ / "empty";
  EXPECT_THAT(usage_error_of([&] { grade_with(solve); }), HasSubstr("has no file of part 7"));
  write("a_file", "");
  request_.submission = root_ / "a_file";
  EXPECT_THAT(usage_error_of([&] { grade_with(solve); }), HasSubstr("is no folder"));
}

TEST_F(GradeTest, PartFolderThatLeadsOutOfTheSubmissionIsRefused) {
  write("elsewhere/scale.cu", "// someone else's\n");
  std::filesystem::remove_all(root_ / "submission/part7-test");
  std::filesystem::create_symlink(root_ / "elsewhere", root_ / "submission/part7-test");
  EXPECT_THAT(usage_error_of([&] { grade_with(solve); }), HasSubstr("link out of the submission"));
}

}  // namespace
}  // namespace rooflab
