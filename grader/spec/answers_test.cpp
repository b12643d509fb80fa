#include "grader/spec/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rooflab {
namespace {

using testing::HasSubstr;

class AnswersTest : public testing::Test {
 protected:
  AnswersTest()
      : file_(testing::TempDir() + "/rooflab_answers_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml") {
    task_.questions = {{"ridge", QuestionKind::number, "Where?", {}, 1},
                       {"bound", QuestionKind::choice, "Which?", {"memory", "compute"}, 1},
                       {"why", QuestionKind::text, "Why?", {}, 2}};
  }
  ~AnswersTest() override { std::filesystem::remove(file_); }

  Values load(const std::string& text) const {
    std::ofstream(file_) << text;
    return load_answers(file_, task_);
  }
  std::string error_of(const std::string& text) const {
    try {
      load(text);
    } catch (const SpecError& error) {
      return std::string(error.what()).substr(file_.string().size());
    }
    return "no error";
  }

  std::filesystem::path file_;
  TaskSpec task_;
};

TEST_F(AnswersTest, AreReadByTheirQuestions) {
  const Values answers = load("ridge = 12.5\nbound = \"b\"\nwhy = \"because\"\n");
  EXPECT_EQ(answers.size(), 3U);
  EXPECT_EQ(std::get<double>(answers.at("ridge")), 12.5);
}

TEST_F(AnswersTest, EmptyTextIsNoAnswer) {
  EXPECT_TRUE(load("ridge = \"\"\nbound = \"\"\nwhy = \"\"\n").empty());
  EXPECT_TRUE(load("").empty());
}

TEST_F(AnswersTest, OfTheWrongKindAreNamedByLine) {
  EXPECT_EQ(error_of("\nridge = \"12\"\n"), ":2: `ridge` wants a number; write it without quotes");
  EXPECT_EQ(error_of("bound = \"c\"\n"),
            ":1: `bound` wants one of its choices; write \"a\" to \"b\"");
  EXPECT_EQ(error_of("bound = 1\n"), ":1: `bound` wants one of its choices; write \"a\" to \"b\"");
  EXPECT_EQ(error_of("why = 3\n"), ":1: `why` wants text; write it in quotes");
  EXPECT_EQ(error_of("rigde = 3\n"),
            ":1: there is no question \"rigde\"; use the ids of the handout");
  EXPECT_THAT(error_of("ridge = [1]\n"), HasSubstr(":1: answers: `ridge` is an array"));
}

TEST_F(AnswersTest, DeeplyNestedTomlIsRefusedWithoutACrash) {
  EXPECT_THAT(error_of("ridge = " + std::string(100000, '[') + "\n"), HasSubstr(":1: "));
}

TEST_F(AnswersTest, FileLargerThanTheLimitIsRefused) {
  EXPECT_THAT(error_of("why = \"" + std::string(2 << 20, 'x') + "\"\n"),
              HasSubstr("larger than 1 MiB"));
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

}  // namespace
}  // namespace rooflab
