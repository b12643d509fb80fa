#include "grader/pipeline/grade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "grader/pipeline/fake_device.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using End = RunOutcome::End;

/// y = 2 x over n random elements; 1e6 * n FLOPs and no bytes, so n = 1000 takes 1000 us at the
/// roofline.
class ScaleOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const auto n = std::get<std::int64_t>(parameters.at("n"));
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    std::vector<float> x(static_cast<std::size_t>(n));
    for (float& value : x) value = static_cast<float>(random() % 1000) + 1;
    Problem problem;
    problem.parameters = parameters;
    problem.tensors.resize(2);
    problem.tensors[0].name = "x";
    problem.tensors[0].shape = {n};
    problem.tensors[0].data = bytes_of(x);
    problem.tensors[1].name = "y";
    problem.tensors[1].role = Role::output;
    problem.tensors[1].shape = {n};
    return problem;
  }
  std::vector<Expected> expect(const Problem& problem) const override {
    Expected expected{"y", {}, {}};
    for (const float value : floats_of(problem.tensors[0].data))
      expected.value.push_back(2.0 * value);
    expected.tolerance.assign(expected.value.size(), 1e-6);
    return {expected};
  }
  Work work(const Values& parameters) const override {
    return {{{"fp32", 1e6 * static_cast<double>(std::get<std::int64_t>(parameters.at("n")))}}, 0};
  }
  std::vector<Complaint> judge(const Problem& /*problem*/,
                               const CallEvidence& evidence) const override {
    if (evidence.activity.api_calls.contains("cudaDeviceReset")) {
      return {{"RL0407", "the device was reset", "leave it alone"}};
    }
    return {};
  }
};

RunOutcome solve(const RunRequest& request) {
  RunOutcome outcome;
  outcome.outputs = untouched(*request.problem);
  std::vector<float> y = floats_of(request.problem->tensors[0].data);
  for (float& value : y) value *= 2;
  outcome.outputs[1] = bytes_of(y);
  outcome.activity.elapsed_us = 2002;
  outcome.activity.kernels.emplace_back().counters.flops["fp32"] =
      1'000'000 * static_cast<std::uint64_t>(y.size());
  return outcome;
}

simgpu::Finding finding(simgpu::FindingKind kind, const std::string& code) {
  simgpu::Finding made;
  made.kind = kind;
  made.code = code;
  made.kernel = "scale";
  made.message = "something is wrong";
  return made;
}

/// One kernel task of 10 + 8 points with two public cases and a hidden one, graded on a scripted
/// device.
class GradeTest : public testing::Test {
 protected:
  GradeTest()
      : root_(testing::TempDir() + "/rooflab_grade_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()),
        library_(std::string(ROOFLAB_TESTDATA) + "/libgrade_plain.so") {
    std::filesystem::remove_all(root_);
    write("submission/part7-test/scale.cu", "// the student's\n");
    TaskSpec task;
    task.id = "scale";
    task.file = "scale.cu";
    task.entry = "scale";
    task.oracle = "scale";
    task.points = 10;
    task.forbidden = {"^cublas"};
    task.cases = {make_case("four", 4, false), make_case("seven", 7, false),
                  make_case("secret", 9, true)};
    task.speed.emplace();
    task.speed->points = 8;
    task.speed->parameters = {{"n", std::int64_t{1000}}};
    task.speed->zero_efficiency = 0.0625;
    task.speed->full_efficiency = 1;
    part_.number = 7;
    part_.directory = "part7-test";
    part_.title = "Test part";
    part_.tasks = {task};
    request_.submission = root_ / "submission";
    request_.solutions = root_ / "solutions";
    request_.seed = 8812;
  }
  ~GradeTest() override { std::filesystem::remove_all(root_); }

  static CaseSpec make_case(const std::string& name, std::int64_t n, bool hidden) {
    CaseSpec spec;
    spec.name = name;
    spec.parameters = {{"n", n}};
    spec.hidden = hidden;
    return spec;
  }

  void write(const std::string& path, const std::string& text) const {
    const auto file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  GradeResult grade_with(const FakeDevice::Behaviour& behave) {
    FakeDevice device(behave);
    const GradeTools tools{
        .device = device,
        .build = [this](const TaskSpec&, const std::string&) { return build_; },
        .oracle = [](const std::string&) { return std::make_unique<ScaleOracle>(); },
        .progress = [](const std::string&) {}};
    build_.library = library_;
    GradeResult result = grade(part_, request_, tools);
    runs_ = device.runs;
    return result;
  }
  TaskResult grade_task_with(const FakeDevice::Behaviour& behave) {
    return grade_with(behave).tasks.at(0);
  }
  Verdict verdict_of(const FakeDevice::Behaviour& behave) {
    return grade_task_with(behave).verdict;
  }

  /// A right answer with something else gone wrong.
  template <typename Change>
  Verdict verdict_after(Change change) {
    return verdict_of([change](const RunRequest& request) {
      RunOutcome outcome = solve(request);
      change(outcome);
      return outcome;
    });
  }
  Verdict verdict_of_end(End end) {
    return verdict_after([end](RunOutcome& outcome) { outcome.end = end; });
  }
  Verdict verdict_of_finding(simgpu::FindingKind kind, const std::string& code) {
    return verdict_after(
        [=](RunOutcome& outcome) { outcome.activity.findings = {finding(kind, code)}; });
  }

  std::filesystem::path root_;
  std::string library_;
  PartSpec part_;
  GradeRequest request_;
  BuildOutcome build_;
  int runs_ = 0;
};

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
  ASSERT_TRUE(task.timing.has_value());
  EXPECT_DOUBLE_EQ(task.timing->efficiency, 0.5);
  EXPECT_EQ(task.timing->bound, "compute");
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
  part_.tasks[0].speed->peak = "fp8_tensor";
  build_.end = BuildOutcome::End::failed;  // nobody should have tried
  const TaskResult task = grade_task_with(solve);
  EXPECT_EQ(task.verdict, Verdict::not_applicable);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.max_score, 0);
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, "RL0612");
  EXPECT_THAT(task.diagnostics.at(0).message, HasSubstr("Round GPU has no fp8_tensor"));
}

TEST_F(GradeTest, WrongAnswerStopsTheTaskAndScoresNothing) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.problem->tensors[0].elements() == 7)
      outcome.outputs[1] = bytes_of(std::vector<float>(7, 0));
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.max_score, 18);
  ASSERT_EQ(task.cases.size(), 2U);
  EXPECT_EQ(task.cases[0].verdict, Verdict::pass);
  EXPECT_EQ(task.cases[1].verdict, Verdict::wrong_answer);
  EXPECT_FALSE(task.timing.has_value());
  EXPECT_EQ(runs_, 2);
  ASSERT_FALSE(task.diagnostics.empty());
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

TEST_F(GradeTest, TimeBelowTheFloorIsSuspectAndEarnsNoSpeedPoints) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.activity.elapsed_us = 10;
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_EQ(task.score, 10);
}

TEST_F(GradeTest, WrongAnswerInTheTimedRunCostsTheWholeTask) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.timed) outcome.outputs[1] = bytes_of(std::vector<float>(1000, 0));
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 0);
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

/// The same submission with an `answers` task of two questions and a free text.
class AnswersTaskTest : public GradeTest {
 protected:
  AnswersTaskTest() {
    TaskSpec task;
    task.id = "answers";
    task.kind = TaskKind::answers;
    task.file = "answers.toml";
    task.points = 5;
    task.questions = {{"ridge", QuestionKind::number, "Where is it?", {}, 3},
                      {"bound", QuestionKind::choice, "Which?", {"memory", "compute"}, 2},
                      {"thoughts", QuestionKind::text, "Why?", {}, 4}};
    part_.tasks = {task};
    write("solutions/part7-test/answers.key.toml",
          "[ridge]\nanswer = 12.5\ntolerance = 0.01\n[bound]\nanswer = \"a\"\n");
  }
  TaskResult grade_answers_of(const std::string& text) {
    write("submission/part7-test/answers.toml", text);
    return grade_task_with(solve);
  }
};

TEST_F(AnswersTaskTest, EveryRightAnswerEarnsItsPoints) {
  const TaskResult all = grade_answers_of("ridge = 12.55\nbound = \"a\"\n");
  EXPECT_EQ(all.verdict, Verdict::pass);
  EXPECT_EQ(all.score, 5);
  EXPECT_EQ(all.max_score, 5);
  const TaskResult some = grade_answers_of("ridge = 12.7\nbound = \"a\"\nthoughts = \"none\"\n");
  EXPECT_EQ(some.verdict, Verdict::wrong_answer);
  EXPECT_EQ(some.score, 2);
  ASSERT_EQ(some.diagnostics.size(), 1U);
  EXPECT_THAT(some.diagnostics[0].message, HasSubstr("ridge"));
  EXPECT_THAT(some.summary, HasSubstr("1 written for a person to read"));
  EXPECT_EQ(runs_, 0);
}

TEST_F(AnswersTaskTest, NanAndEmptyFilesEarnNothing) {
  EXPECT_EQ(grade_answers_of("ridge = nan\n").score, 0);
  const TaskResult empty = grade_answers_of("");
  EXPECT_EQ(empty.verdict, Verdict::not_implemented);
  ASSERT_EQ(empty.diagnostics.size(), 1U);
  EXPECT_EQ(empty.diagnostics[0].message, "no question is answered yet");
}

TEST_F(AnswersTaskTest, BrokenFileIsTheStudentsWithItsLine) {
  const TaskResult task = grade_answers_of("ridge = 1\nbound = \n");
  EXPECT_EQ(task.verdict, Verdict::compile_error);
  EXPECT_THAT(task.diagnostics.at(0).message, testing::StartsWith("answers.toml:2: "));
}

TEST_F(AnswersTaskTest, WithoutAKeyOnlyTheFormIsChecked) {
  std::filesystem::remove_all(root_ / "solutions");
  const TaskResult task = grade_answers_of("ridge = 99\nbound = \"b\"\nthoughts = \"x\"\n");
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.max_score, 0);
  EXPECT_THAT(task.summary, HasSubstr("3 of 3 questions are answered"));
}

TEST_F(AnswersTaskTest, BrokenKeyIsOurFault) {
  write("solutions/part7-test/answers.key.toml", "[ridge]\nanswer = 12.5\n");
  EXPECT_EQ(grade_answers_of("ridge = 12.5\n").verdict, Verdict::grader_fault);
}

}  // namespace
}  // namespace rooflab
