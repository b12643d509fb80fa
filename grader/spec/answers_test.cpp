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
    task_.file = "answers.toml";
    task_.questions = {{"ridge", QuestionKind::number, "Where?", {}, 1},
                       {"bound", QuestionKind::choice, "Which?", {"memory", "compute"}, 1},
                       {"why", QuestionKind::text, "Why?", {}, 2}};
  }
  ~AnswersTest() override { std::filesystem::remove(file_); }

  std::string error_of(const std::string& text) const {
    try {
      read_answers(text, task_);
    } catch (const SpecError& error) {
      return std::string(error.what()).substr(task_.file.size());
    }
    return "no error";
  }

  std::filesystem::path file_;
  TaskSpec task_;
};

TEST_F(AnswersTest, AreReadByTheirQuestions) {
  const Values answers = read_answers("ridge = 12.5\nbound = \"b\"\nwhy = \"because\"\n", task_);
  EXPECT_EQ(answers.size(), 3U);
  EXPECT_EQ(std::get<double>(answers.at("ridge")), 12.5);
}

TEST_F(AnswersTest, EmptyTextIsNoAnswer) {
  EXPECT_TRUE(read_answers("ridge = \"\"\nbound = \"\"\nwhy = \"\"\n", task_).empty());
  EXPECT_TRUE(read_answers("", task_).empty());
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

TEST_F(AnswersTest, KeyLargerThanTheLimitIsRefused) {
  std::ofstream(file_) << "why = \"" + std::string(2 << 20, 'x') + "\"\n";
  try {
    load_answer_key(file_, task_);
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("larger than 1 MiB"));
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

}  // namespace
}  // namespace rooflab
