#include "grader/spec/answers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class AnswersTest : public testing::Test {
 protected:
  AnswersTest()
      : file_(testing::TempDir() + "/rooflab_answers_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml") {
    task_.file = "answers.toml";
    task_.questions = {{"ridge", QuestionKind::number, "Where?", {}, 1},
                       {"bound", QuestionKind::choice, "Which?", {"memory", "compute"}, 1},
                       {"why", QuestionKind::text, "Why?", {}, 2}};
  }
  ~AnswersTest() override { std::filesystem::remove(file_); }

  Answers read(const std::string& text) const { return read_answers(text, task_); }
  double number_in(const std::string& text) const {
    return std::get<double>(read(text).values.at("ridge"));
  }
  std::string text_in(const std::string& text) const {
    const Answers answers = read(text);
    const auto found = answers.values.find("why");
    return found == answers.values.end() ? "none" : std::get<std::string>(found->second);
  }
  /// "line question: message; help" of each problem; a question that goes on is in brackets.
  std::vector<std::string> problems_of(const std::string& text) const {
    std::vector<std::string> all;
    for (const AnswerProblem& problem : read(text).problems) {
      all.push_back(fmt::format("{} {}: {}; {}", problem.line,
                                problem.costs ? problem.question : "(" + problem.question + ")",
                                problem.message, problem.help));
    }
    return all;
  }

  std::filesystem::path file_;
  TaskSpec task_;
};

TEST_F(AnswersTest, AreReadByTheirQuestions) {
  const Answers answers = read("ridge = 12.5  # FLOP/B\nbound = \"b\"\nwhy = \"because\"\n");
  EXPECT_EQ(answers.values.size(), 3U);
  EXPECT_EQ(std::get<double>(answers.values.at("ridge")), 12.5);
  EXPECT_THAT(answers.problems, IsEmpty());
}

TEST_F(AnswersTest, EmptyTextIsNoAnswer) {
  for (const char* text : {"ridge = \"\"\nbound = \"\"\nwhy = \"\"\n", "", "# only words\r\n",
                           "why = \'\'\'\'\'\'\nridge = \"\"\"\"\"\"\n"}) {
    EXPECT_THAT(read(text).values, IsEmpty()) << text;
    EXPECT_THAT(problems_of(text), IsEmpty()) << text;
  }
}

TEST_F(AnswersTest, OneThatCannotBeReadFailsAloneAndSaysWhatIsExpected) {
  for (const char* line : {"ridge = 59 %", "ridge = \"59 %\"", "ridge = 59,5", "ridge = [59]",
                           "ridge = { a = 1 }", "ridge = true", "ridge = ", "ridge = 2026-11-23",
                           "ridge = 59 FLOP/B # or so", "ridge = \'\'\'59\'\'\'", "ridge = \"59"}) {
    const std::string text = std::string("why = \"first\"\n") + line + "\nbound = \"a\"\n";
    const Answers answers = read(text);
    EXPECT_EQ(std::get<std::string>(answers.values.at("why")), "first") << line;
    EXPECT_EQ(std::get<std::string>(answers.values.at("bound")), "a") << line;
    EXPECT_FALSE(answers.values.contains("ridge")) << line;
    ASSERT_EQ(answers.problems.size(), 1U) << line;
    EXPECT_EQ(answers.problems[0].question, "ridge") << line;
    EXPECT_EQ(answers.problems[0].line, 2U) << line;
    EXPECT_EQ(answers.problems[0].help,
              line == std::string("ridge = 59,5")
                  ? "write it with a decimal point and without quotes: 59.5"
                  : "write it without quotes and without a unit, as in 59 or 0.59");
  }
}

TEST_F(AnswersTest, AllThatCannotBeReadAreNamedInOneRun) {
  EXPECT_THAT(
      problems_of("ridge = \"12\"\nbound = \"c\"\nrigde = 3\n"),
      ElementsAre("1 ridge: ridge wants a number, and \"12\" is not one; write it without quotes "
                  "and without a unit, as in 59 or 0.59",
                  "2 bound: bound wants one of its choices, and \"c\" is not one; write its letter "
                  "in quotes, \"a\" to \"b\"",
                  "3 (): there is no question \"rigde\"; did you mean ridge?; use the ids of the "
                  "handout"));
  EXPECT_THAT(problems_of("bound = 1\n"), ElementsAre(HasSubstr("and 1 is not one")));
}

TEST_F(AnswersTest, TheCommonestSlipsOfWritingAreNamed) {
  const std::string wants = "1 bound: bound wants one of its choices, and ";
  EXPECT_THAT(problems_of("bound = b # as measured\n"),
              ElementsAre(wants + "b has no quotes; write \"b\", in quotes"));
  for (const char* capital : {"\"B\"", "'B'", "B"}) {
    EXPECT_THAT(problems_of(std::string("bound = ") + capital + "\n"),
                ElementsAre(wants + capital +
                            " is a capital letter; write \"b\", a small letter in quotes"));
  }
  EXPECT_THAT(problems_of("bound = \"C\"\n"), ElementsAre(HasSubstr("is not one")));
  for (const char* comma : {"184,4", "\"184,4\""}) {
    EXPECT_THAT(problems_of(std::string("ridge = ") + comma + "\n"),
                ElementsAre(HasSubstr(std::string("wants a number, and ") + comma +
                                      " has a comma; write it with a decimal point and without "
                                      "quotes: 184.4")));
  }
  EXPECT_THAT(
      problems_of("ridge = 1,024\n"),
      ElementsAre(HasSubstr("write 1024 without the comma, or 1.024 with a decimal point")));
  EXPECT_THAT(problems_of("ridge = \"1,2,3\"\n"), ElementsAre(HasSubstr("is not one")));
}

TEST_F(AnswersTest, TextOfSeveralLinesMayHoldAnything) {
  const std::string words = "first\nridge = 3 is what I thought\n[x]\nbound = \"a\"\n";
  const std::string text = "why = \'\'\'\n" + words + "\'\'\'\nridge = 12.5\n";
  EXPECT_EQ(text_in(text), words);
  EXPECT_EQ(number_in(text), 12.5);
  EXPECT_THAT(problems_of(text), IsEmpty());
  EXPECT_EQ(text_in("why = \"\"\"a \\\"\"\" b\"\"\"\n"), "a \"\"\" b");
}

TEST_F(AnswersTest, TextWithBrokenQuotesIsRecoveredUpToTheNextQuestion) {
  const std::string after = "\nridge = 12.5\n";
  for (const auto& [line, words] : std::vector<std::pair<std::string, std::string>>{
           {"why = \"\"\"it is\nmemory bound", "it is\nmemory bound"},
           {"why = \'\'\'it is\nmemory bound\"\"\"", "it is\nmemory bound"},
           {"why = \"it is\nmemory bound\"", "it is\nmemory bound"},
           {"why = \"it is\nmemory bound", "it is\nmemory bound"},
           {"why = \"a \"hot\" loop\"", "a \"hot\" loop"},
           {"why = it is memory bound", "it is memory bound"},
           {"why = \"5 \\% of it\"", "5 \\% of it"},
           {"why = \"caf\xE9\"", "caf\xE9"},
           {"why = 3", "3"}}) {
    EXPECT_EQ(text_in(line + after), words) << line;
    EXPECT_EQ(number_in(line + after), 12.5) << line;
    EXPECT_THAT(problems_of(line + after), ElementsAre(HasSubstr("1 (why): the quotes"))) << line;
    EXPECT_EQ(text_in("ridge = 12.5\n" + line), words) << "at the end: " << line;
  }
}

TEST_F(AnswersTest, TextThatIsNotClosedDoesNotSwallowTheNextOne) {
  task_.questions.push_back({"thoughts", QuestionKind::text, "What?", {}, 2});
  for (const char* second : {"thoughts = \"\"\"two\"\"\"\n", "thoughts = \"\"\"\ntwo\n\"\"\"\n"}) {
    const Answers answers = read(std::string("why = \"\"\"one\n") + second + "ridge = 1.5\n");
    EXPECT_EQ(std::get<std::string>(answers.values.at("why")), "one") << second;
    EXPECT_THAT(std::get<std::string>(answers.values.at("thoughts")), StartsWith("two")) << second;
    EXPECT_EQ(std::get<double>(answers.values.at("ridge")), 1.5) << second;
  }
}

TEST_F(AnswersTest, LinesOfNoQuestionCostNothing) {
  const std::string text =
      "\xEF\xBB\xBF[answers]\r\nridge = 12.5\r\nwhat is this?\r\nand this\r\n\"bound\" = 'a'\r\n";
  EXPECT_EQ(read(text).values.size(), 2U);
  EXPECT_THAT(problems_of(text),
              ElementsAre(StartsWith("1 (): answers stand in no section; remove the line"),
                          StartsWith("3 (): this line is no answer; ")));
}

TEST_F(AnswersTest, ALooseLineMakesOnlyThoseQuestionsUnclearThatItMayAnswer) {
  const auto unclear = [&](const std::string& text) { return read(text).unclear; };
  EXPECT_THAT(unclear("ridge = 1\noops\nbound = \"a\"\nwhy = \"\"\n"), IsEmpty())
      << "why has its own line, which is blank";
  EXPECT_THAT(unclear("ridge = 1\nbound = \"a\"\nwhy =\n\nbecause of it\n"), ElementsAre("why"));
  EXPECT_THAT(unclear("ridge = 1\nbound = \"a\"\nbecause of it\n"), ElementsAre("why"))
      << "why has no line, so that the loose one may be its answer";
  EXPECT_THAT(unclear("ridge = 1\nbound = \"a\"\nwyh = \"because of it\"\n"), ElementsAre("why"));
  EXPECT_THAT(unclear("ridge = 1\nbound = \"a\"\nwhy =\n"), IsEmpty());
  EXPECT_THAT(unclear("[answers]\nridge = 1\nbound = \"a\"\n"), IsEmpty())
      << "a heading is no answer";
  EXPECT_THAT(unclear("ridge = 1\nbound = \"a\"\nwhy = \"since\"\noops\n"), IsEmpty());
}

TEST_F(AnswersTest, TwoAnswersToOneQuestionAreNone) {
  EXPECT_THAT(problems_of("ridge = 1\nridge = 2\nridge = 1\n"),
              ElementsAre("2 ridge: ridge is answered twice, in line 1 and here; keep one of the "
                          "two"));
  EXPECT_THAT(read("ridge = 1\nridge = 2\nridge = 1\n").values, IsEmpty());
  EXPECT_THAT(problems_of("ridge = 1\nridge = 1\n"), IsEmpty());
  EXPECT_EQ(text_in("why = \"one\"\nwhy = \"two\"\n"), "one\ntwo");
}

TEST_F(AnswersTest, HostileTextsTakeNoStackAndFewComplaints) {
  std::string dots = "a";
  for (int i = 0; i < 400'000; ++i) dots += ".a";
  std::string strange;
  for (int i = 0; i < 100'000; ++i) strange += "x\n\n";
  std::string twice;
  for (int i = 0; i < 60'000; ++i) twice += fmt::format("ridge = {}\n", i);
  for (const std::string& text :
       {dots + " = 1\n", "ridge = " + dots + "\n", "ridge = " + std::string(400'000, '[') + "\n",
        "ridge = " + std::string(400'000, '{') + "\n", strange, twice,
        "ridge = " + std::string(400'000, '-') + "1\n", "why = " + std::string(400'000, '['),
        "why = \"\"\"" + std::string(400'000, '\\')}) {
    const Answers answers = read(text + "\nbound = \"a\"\n");
    EXPECT_TRUE(answers.values.contains("bound")) << text.substr(0, 20);
    EXPECT_FALSE(answers.values.contains("ridge")) << text.substr(0, 20);
    EXPECT_LE(answers.problems.size(), 10U) << text.substr(0, 20);
    for (const AnswerProblem& problem : answers.problems) {
      EXPECT_LE(problem.message.size() + problem.excerpt.size(), 400U) << text.substr(0, 20);
    }
  }
}

TEST_F(AnswersTest, KeyLargerThanTheLimitIsRefused) {
  std::ofstream(file_) << "why = \"" + std::string(2 << 20, 'x') + "\"\n";
  try {
    load_answer_key(file_, task_);
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("larger than 1 MiB"));
  }
}

TEST_F(AnswersTest, ARubricGivesThePointsOfItsFreeText) {
  const std::string keys = "[ridge]\nanswer = 12.5\n[bound]\nanswer = \"a\"\n";
  const auto load = [&](const std::string& more) {
    std::ofstream(file_) << keys << more;
    return load_answer_key(file_, task_);
  };
  const auto text = std::ranges::find(task_.questions, QuestionKind::text, &QuestionSpec::kind);
  ASSERT_NE(text, task_.questions.end());
  const std::string half = fmt::format("{:g}", text->points / 2);
  const std::string item = "{ points = " + half + ", text = \"names one\" }";
  const auto rubric =
      load("[" + text->id + "]\nrubric = [" + item + ", " + item + "]\n").at(text->id).rubric;
  ASSERT_EQ(rubric.size(), 2U);
  EXPECT_EQ(rubric[1].points, text->points / 2);
  EXPECT_EQ(rubric[1].text, "names one");
  for (const std::string& wrong :
       {"[" + text->id + "]\nrubric = [" + item + "]\n",
        "[" + text->id + "]\nrubric = [{ points = 0, text = \"nothing\" }]\n"}) {
    EXPECT_THAT([&] { load(wrong); }, testing::ThrowsMessage<SpecError>(HasSubstr(text->id)))
        << wrong;
  }
}

TEST_F(AnswersTest, KeyMustHoldEveryQuestionThatAMachineCanJudge) {
  std::ofstream(file_)
      << "[ridge]\nanswer = 12.5\ntolerance = 0.01\nwhy = \"peak over bandwidth\"\n";
  try {
    load_answer_key(file_, task_);
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("question \"bound\" has no key; add [bound]"));
  }
  std::ofstream(file_, std::ios::app) << "[bound]\nanswer = \"a\"\n";
  const auto keys = load_answer_key(file_, task_);
  EXPECT_EQ(keys.at("ridge").tolerance, 0.01);
  EXPECT_EQ(std::get<std::string>(keys.at("bound").answer), "a");
}

TEST_F(AnswersTest, AFileMaySayWhoseAnswersItHas) {
  EXPECT_EQ(read("student = \"Ada@example.org\"  # me\nridge = 1\n").student, "ada@example.org");
  EXPECT_EQ(read("student = 0042\n").student, "0042");
  EXPECT_EQ(read("ridge = 1\nstudent = ada\n").student, "ada");
  EXPECT_EQ(read("ridge = 1\n").student, "");
  EXPECT_EQ(read("student = \"\"  # your ID\n").student, "");
  EXPECT_THAT(problems_of("student = \"\"\n\nstudent = \"ada\"\nstudent = 'ADA'\n"), IsEmpty());
  EXPECT_EQ(read("why = \"never closed\nstudent = \"ada\"\n").student, "ada");
}

TEST_F(AnswersTest, AHostileStudentIsNobodyAndCostsNothing) {
  for (const std::string& id :
       {std::string(5000, 'a'), std::string("\"\x1b[31m\""), std::string("\"\xff\"")}) {
    const Answers answers = read("student = " + id + "\nridge = 1\n");
    EXPECT_EQ(answers.student, "");
    EXPECT_TRUE(answers.values.contains("ridge"));
    EXPECT_THAT(problems_of("student = " + id + "\n"),
                ElementsAre(StartsWith("1 (): this is no student's ID; write yours in quotes")));
  }
  EXPECT_THAT(problems_of("student = \"ada\"\nstudent = \"bob\"\n"),
              ElementsAre(StartsWith("2 (): student has an ID already")));
  EXPECT_EQ(read("student = \"ada\"\nstudent = \"bob\"\n").student, "ada");
}

/// A key for a question that draws a number n of 2, 3 and 4; the page's own is 6.
class DrawnKeyTest : public AnswersTest {
 protected:
  DrawnKeyTest() {
    task_.questions = {{"ridge", QuestionKind::number, "Where?", {}, 1}};
    task_.questions[0].draws = {{.name = "n", .question = "ridge", .page = 6, .values = {2, 3, 4}}};
  }
  AnswerKey load(const std::string& key) {
    std::ofstream(file_) << "[ridge]\n" << key;
    return load_answer_key(file_, task_).at("ridge");
  }
  std::string told(const std::string& key) {
    try {
      load(key);
    } catch (const SpecError& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(DrawnKeyTest, TheKeySolvesItWithTheStudentsNumbers) {
  const AnswerKey key = load("answer = 36\nformula = \"n^2\"\n");
  EXPECT_EQ(right_number(key, {{"n", 3}}), 9);
  EXPECT_EQ(right_number(key, {{"n", 6}}), 36);
  AnswerKey plain;
  plain.answer = std::int64_t{5};
  EXPECT_EQ(right_number(plain, {}), 5);
}

TEST_F(DrawnKeyTest, AKnownSlipIsToldWhereItCanBeToldApart) {
  const AnswerKey key = load(
      "answer = 36\ntolerance = 0.01\nformula = \"n^2\"\n"
      "slips = [{ formula = \"2 * n\", cause = \"a square is n times n\" }]\n");
  const KnownSlip* slip = slip_that_gives(6.01, key, {{"n", 3}});
  ASSERT_NE(slip, nullptr);
  EXPECT_EQ(slip->cause, "a square is n times n");
  EXPECT_EQ(slip_that_gives(7, key, {{"n", 3}}), nullptr);
  EXPECT_EQ(slip_that_gives(4, key, {{"n", 2}}), nullptr) << "2 * 2 is 2^2";
}

TEST_F(DrawnKeyTest, AFormulaThatCannotBeRightIsRefused) {
  EXPECT_THAT(told("answer = 36\n"), HasSubstr("draws numbers, and has no formula"));
  EXPECT_THAT(told("answer = 35\nformula = \"n^2\"\n"), HasSubstr("gives 36 with the page's own"));
  EXPECT_THAT(told("answer = 36\nformula = \"m^2\"\n"), HasSubstr("draws no number m"));
  EXPECT_THAT(told("answer = 36\nformula = \"n^\"\n"), HasSubstr("correct the formula"));
  EXPECT_THAT(told("answer = 9\nformula = \"36 / (n - 2)\"\n"), HasSubstr("not finite"))
      << "for n = 2, which can be drawn";
  EXPECT_THAT(told("answer = 36\nformula = \"n^2\"\n"
                   "slips = [{ formula = \"k\", cause = \"none\" }]\n"),
              HasSubstr("draws no number k"));
  task_.questions = {{"ridge", QuestionKind::text, "Why?", {}, 1}};
  EXPECT_THAT(told("formula = \"1\"\n"), HasSubstr("asks for no number"));
}

}  // namespace
}  // namespace rooflab
