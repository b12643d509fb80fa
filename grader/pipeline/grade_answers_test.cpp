#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "grader/pipeline/grade_fixture.h"

namespace rooflab {
namespace {

using testing::HasSubstr;

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

TEST_F(AnswersTaskTest, AWrongChoiceIsToldWithTheQuestionAndItsChoices) {
  const TaskResult task = grade_answers_of("ridge = 12.5\nbound = \"b\"\n");
  EXPECT_THAT(task.diagnostics.at(0).evidence,
              testing::ElementsAre("Which?", "a: memory", "b: compute"));
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
