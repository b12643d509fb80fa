#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "grader/pipeline/grade_fixture.h"
#include "grader/spec/groups.h"

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
    complete_groups(task);
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

TEST_F(AnswersTaskTest, TheRightNumberInAnotherUnitIsToldApart) {
  const auto told = [&](const std::string& answer) {
    return grade_answers_of("ridge = " + answer + "\nbound = \"a\"\n").diagnostics.at(0);
  };
  EXPECT_THAT(told("12500").message, HasSubstr("the right number in another unit"));
  EXPECT_THAT(told("12500").help, HasSubstr("a factor of 1000, as between kB and MB"));
  EXPECT_THAT(told("0.0125").help, HasSubstr("a factor of 1000"));
  EXPECT_THAT(told("100").help, HasSubstr("bits and bytes"));
  EXPECT_THAT(told("13.1072").help, HasSubstr("between MB and MiB"));
  for (const char* wrong : {"0", "-12500", "25", "12.8", "inf", "nan"}) {
    EXPECT_THAT(told(wrong).message, testing::EndsWith("is not right")) << wrong;
  }
}

TEST_F(AnswersTaskTest, TheResultSaysOfEachQuestionWhatWasAnsweredAndWhatBecameOfIt) {
  write("solutions/part7-test/answers.key.toml",
        "[ridge]\nanswer = 12.5\ntolerance = 0.01\nslips = [{ formula = \"25\", cause = \"twice "
        "it\" }]\n[bound]\nanswer = \"a\"\n");
  const auto answers = [&](const std::string& text) { return grade_answers_of(text).answers; };
  const auto slip = answers("ridge = 25\nbound = \"a\"\nthoughts = \"none\"\n");
  ASSERT_EQ(slip.size(), 2U) << "a free text is for people";
  EXPECT_EQ(slip[0].given, "25");
  EXPECT_EQ(slip[0].verdict, Verdict::wrong_answer);
  EXPECT_EQ(slip[0].cause, "twice it");
  EXPECT_FALSE(slip[0].is_other_unit);
  EXPECT_EQ(slip[1].verdict, Verdict::pass);
  EXPECT_EQ(slip[1].given, "a: memory");
  EXPECT_TRUE(answers("ridge = 12500\n").at(0).is_other_unit);
  EXPECT_EQ(answers("ridge = 12500\n").at(1).verdict, Verdict::not_implemented);
  EXPECT_EQ(answers("ridge = 59 %\n").at(0).given, "") << "what could not be read";
  const auto file = root_ / "submission/part7-test/answers.toml";
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/etc/passwd", file);
  const TaskResult refused = grade_task_with(solve);
  ASSERT_EQ(refused.answers.size(), 2U);
  EXPECT_EQ(refused.answers[0].verdict, Verdict::rejected);
  EXPECT_EQ(refused.answers[0].given, "");
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

TEST_F(AnswersTaskTest, EachQuestionIsAGroup) {
  const TaskResult task = grade_answers_of("ridge = 12.7\nbound = \"a\"\n");
  ASSERT_EQ(task.groups.size(), 2U);
  EXPECT_EQ(task.groups[0].name, "ridge");
  EXPECT_EQ(task.groups[0].verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.groups[0].score, 0);
  EXPECT_EQ(task.groups[1].verdict, Verdict::pass);
  EXPECT_EQ(task.groups[1].score, 2);
  EXPECT_EQ(task.groups[1].max_score, 2);
}

TEST_F(AnswersTaskTest, BrokenLineCostsItsQuestionAloneAndIsNamed) {
  const TaskResult task = grade_answers_of("ridge = 59 %\nbound = \"a\"\nthoughts = \"it's\n");
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 2);
  ASSERT_EQ(task.diagnostics.size(), 2U);
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0613"));
  EXPECT_EQ(task.diagnostics[0].line, 1U);
  EXPECT_THAT(task.diagnostics[0].message, HasSubstr("ridge wants a number, and 59 % is not one"));
  EXPECT_THAT(task.diagnostics[0].help, HasSubstr("59 or 0.59"));
  EXPECT_EQ(task.diagnostics[1].line, 3U);
  EXPECT_THAT(task.summary, HasSubstr("1 written for a person to read"));
}

TEST_F(AnswersTaskTest, AllThatIsWrongWithTheFileIsToldInOneRun) {
  const TaskResult task = grade_answers_of("rigde = 12.5\nbound = a\n\nwhat\n");
  std::vector<std::string> messages;
  for (const Diagnostic& story : task.diagnostics) messages.push_back(story.message);
  EXPECT_THAT(messages, testing::ElementsAre(HasSubstr("bound wants one of its choices"),
                                             "the answer to ridge is missing",
                                             "there is no question \"rigde\"; did you mean ridge?",
                                             "this line is no answer"));
}

TEST_F(AnswersTaskTest, AFewQuestionsLeftOutAreNotWrong) {
  const TaskResult task = grade_answers_of("bound = \"a\"\n");
  EXPECT_EQ(task.verdict, Verdict::not_implemented);
  EXPECT_EQ(task.score, 2);
}

TEST_F(AnswersTaskTest, WithoutAKeyOnlyTheFormIsCheckedAndThePointsComeLater) {
  std::filesystem::remove_all(root_ / "solutions");
  const TaskResult task = grade_answers_of("ridge = 99\nbound = \"b\"\nthoughts = \"x\"\n");
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.max_score, 5);
  EXPECT_EQ(task.graded_later, 5);
  EXPECT_THAT(task.diagnostics, testing::IsEmpty());
  EXPECT_THAT(task.summary, HasSubstr("3 of 3 questions are answered"));
  EXPECT_EQ(task.cases.back().name, "thoughts") << "the next run is compared with it";
  const TaskResult bad = grade_answers_of("ridge = 59 %\nbound = \"b\"\n");
  EXPECT_EQ(bad.verdict, Verdict::wrong_answer);
  EXPECT_EQ(bad.max_score, 5);
  EXPECT_EQ(bad.diagnostics.at(0).line, 1U);
  EXPECT_EQ(bad.diagnostics.at(1).message, "the answer to thoughts is missing");
}

TEST_F(AnswersTaskTest, AnOpenBonusQuestionDecidesNothing) {
  std::filesystem::remove_all(root_ / "solutions");
  part_.tasks[0].questions[2].bonus = true;
  const TaskResult task = grade_answers_of("ridge = 99\nbound = \"b\"\nthoughts = \"\"\n");
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_THAT(task.diagnostics, testing::IsEmpty());
  EXPECT_THAT(task.summary, HasSubstr("2 of 2 questions are answered, and 0 of 1 bonus;"));
  const TaskResult all = grade_answers_of("ridge = 9\nbound = \"b\"\nthoughts = \"yes\"\n");
  EXPECT_THAT(all.summary, HasSubstr("2 of 2 questions are answered, and 1 of 1 bonus;"));
}

TEST_F(AnswersTaskTest, BrokenKeyIsOurFault) {
  write("solutions/part7-test/answers.key.toml", "[ridge]\nanswer = 12.5\n");
  EXPECT_EQ(grade_answers_of("ridge = 12.5\n").verdict, Verdict::grader_fault);
}

/// The same with a question of n = 600 on the page, or one of 100, 101, … 999; the answer is n / 6.
class DrawnAnswersTest : public AnswersTaskTest {
 protected:
  DrawnAnswersTest() {
    QuestionSpec& ridge = part_.tasks[0].questions[0];
    Draw n{.name = "n", .question = "ridge", .page = 600, .values = {}};
    for (int i = 100; i < 1000; ++i) n.values.push_back(i);
    ridge.draws = {n};
    ridge.pattern = "Where is it for {n}?";
    part_.tasks[0] = asked_of(part_.tasks[0], part_.number, "");
    write("solutions/part7-test/answers.key.toml",
          "[ridge]\nanswer = 100\ntolerance = 1e-6\nformula = \"n / 6\"\n"
          "slips = [{ formula = \"n / 3\", cause = \"an fp32 value has four bytes\" }]\n"
          "[bound]\nanswer = \"a\"\n");
  }

  double number_of(const std::string& student) const {
    return numbers_of(part_.number, part_.tasks[0].questions[0].draws, student).at("n");
  }
  TaskResult grade_ridge(double answer, const std::string& line = "") {
    return grade_answers_of(fmt::format("{}ridge = {}\nbound = \"a\"\n", line, answer));
  }
};

TEST_F(DrawnAnswersTest, WithoutAStudentThePagesNumbersCount) {
  const TaskResult task = grade_ridge(100);
  EXPECT_EQ(task.score, 5);
  EXPECT_THAT(task.summary, HasSubstr("with the page's numbers"));
  EXPECT_EQ(task.groups[0].title, "Where is it for 600?");
}

TEST_F(DrawnAnswersTest, TheStudentOfTheRunIsAskedWithTheirOwnNumbers) {
  request_.students = {"ada"};
  const TaskResult task = grade_ridge(number_of("ada") / 6);
  EXPECT_EQ(task.score, 5);
  EXPECT_THAT(task.summary, HasSubstr("with the student's own numbers"));
  EXPECT_THAT(task.summary, testing::Not(HasSubstr("ada")));
  EXPECT_EQ(task.groups[0].title, fmt::format("Where is it for {}?", number_of("ada")));
  const TaskResult wrong = grade_ridge(7);
  EXPECT_THAT(wrong.diagnostics.at(0).evidence,
              testing::ElementsAre(fmt::format("Where is it for {}?", number_of("ada"))));
  EXPECT_EQ(wrong.diagnostics.at(0).commands.back().second,
            "grader --part 7 --task answers --list");
}

TEST_F(DrawnAnswersTest, TheFileSaysWhoseAnswersItHas) {
  EXPECT_EQ(grade_ridge(number_of("ada") / 6, "student = \"Ada\"\n").score, 5);
  EXPECT_EQ(grade_ridge(100, "student = \"Ada\"\n").score, 2);
}

TEST_F(DrawnAnswersTest, AnAnswerToThePagesNumbersIsToldApart) {
  request_.students = {"ada"};
  const TaskResult task = grade_ridge(100);
  EXPECT_EQ(task.diagnostics.at(0).message,
            "the answer to ridge is right for the numbers on the page, but yours differ");
}

TEST_F(DrawnAnswersTest, AKnownSlipIsToldWithTheStudentsNumbers) {
  request_.students = {"ada"};
  const TaskResult task = grade_ridge(number_of("ada") / 3);
  EXPECT_EQ(task.diagnostics.at(0).message,
            "the answer to ridge is not right: an fp32 value has four bytes");
  EXPECT_THAT(grade_ridge(number_of("ada") / 6e3).diagnostics.at(0).message,
              HasSubstr("the right number in another unit"));
}

TEST_F(DrawnAnswersTest, OnlyANameOfTheStudentsOwnCounts) {
  request_.students = {"1815", "ada", "ada@example.org"};
  EXPECT_EQ(grade_ridge(number_of("1815") / 6).score, 5);
  EXPECT_EQ(grade_ridge(number_of("ada") / 6).score, 2);
  EXPECT_EQ(grade_ridge(number_of("ada") / 6, "student = \"ada\"\n").score, 5);
  const TaskResult other = grade_ridge(number_of("bob") / 6, "student = \"bob\"\n");
  EXPECT_EQ(other.score, 2);
  EXPECT_THAT(other.for_people, testing::ElementsAre(HasSubstr("says that they are those of bob")));
  EXPECT_THAT(other.summary, HasSubstr("and not those of whom the file names"));
}

TEST_F(DrawnAnswersTest, NobodyInParticularHasThePagesNumbersUnlessTheFileNamesThem) {
  request_.students = {"", "ada"};
  EXPECT_EQ(grade_ridge(100).score, 5);
  EXPECT_EQ(grade_ridge(number_of("ada") / 6, "student = \"ada\"\n").score, 5);
  EXPECT_EQ(grade_ridge(100, "student = \"bob\"\n").score, 5);
}

TEST_F(DrawnAnswersTest, AKitChecksTheFormAndAsksWithTheStudentsNumbers) {
  std::filesystem::remove_all(root_ / "solutions");
  request_.students = {"ada"};
  const TaskResult task = grade_answers_of("bound = \"b\"\n");
  EXPECT_EQ(task.groups[0].title, fmt::format("Where is it for {}?", number_of("ada")));
  EXPECT_EQ(task.diagnostics.at(0).message, "the answer to ridge is missing");
  EXPECT_THAT(task.diagnostics.at(0).evidence,
              testing::ElementsAre(fmt::format("Where is it for {}?", number_of("ada"))));
}

TEST_F(DrawnAnswersTest, AFormulaWithoutAValueIsOurFault) {
  write("solutions/part7-test/answers.key.toml",
        "[ridge]\nanswer = 100\nformula = \"n / 0\"\n[bound]\nanswer = \"a\"\n");
  EXPECT_EQ(grade_ridge(100).verdict, Verdict::grader_fault);
}

}  // namespace
}  // namespace rooflab
