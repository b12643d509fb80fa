#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "grader/pipeline/grade_fixture.h"

// Submissions that are not all there, do not compile, or use what they may not.
namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
    outcome.detail = "scale a row";
    outcome.thrown = {"part7-test/helper.cu", 12, ""};
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
            "part 7 has no task scael; its tasks are scale; did you mean scale?");
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
