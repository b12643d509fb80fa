#include "grader/spec/tested.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace rooflab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kPartOfTests = R"(number = 7
title = "Test part"
[[task]]
id = "scale_tests"
title = "Tests of scale"
kind = "tests"
file = "scale_tests.cpp"
entry = "scale_tests"
oracle = "scale"
points = 4
hints = ["one", "two", "three"]
[task.tested]
most_cases = 5
most_elements = 100
fixed = { type = "float" }
chosen.n = { low = 1, high = 9 }
chosen.factor = { low = 0.5, high = 4.0 }
[[task.group]]
name = "right"
points = 1
[[task.group]]
name = "edges"
points = 3
title = "odd lengths"
question = "Is every length even?"
)";

class TestedTest : public testing::Test {
 protected:
  TestedTest()
      : folder_(testing::TempDir() + "/rooflab_tested_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "part7-test");
  }
  ~TestedTest() override { std::filesystem::remove_all(folder_); }

  PartSpec load(const std::string& text) const {
    std::ofstream(folder_ / "part7-test/part.toml") << text;
    return read_part_folder(folder_ / "part7-test", folder_);
  }

  /// kPartOfTests with `from` replaced.
  PartSpec load_with(const std::string& from, const std::string& to) const {
    std::string text = kPartOfTests;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return load(text.replace(at, from.size(), to));
  }

  void expect_error(const std::string& from, const std::string& to,
                    const std::string& message) const {
    EXPECT_THAT([&] { load_with(from, to); }, ThrowsMessage<SpecError>(HasSubstr(message)));
  }

  std::filesystem::path folder_;
};

TEST_F(TestedTest, ATaskSaysWhatACaseMayBeAndWhatToAskWhoeverMissesAMistake) {
  const TaskSpec task = load(kPartOfTests).tasks.at(0);
  EXPECT_EQ(task.kind, TaskKind::tests);
  EXPECT_EQ(task.tested.most_cases, 5);
  EXPECT_EQ(task.tested.most_elements, 100);
  EXPECT_EQ(task.tested.fixed, (Values{{"type", "float"}}));
  EXPECT_EQ(task.tested.chosen.at("n").high, Value(std::int64_t{9}));
  EXPECT_EQ(task.tested.chosen.at("factor").low, Value(0.5));
  EXPECT_EQ(task.groups.at(1).question, "Is every length even?");
}

TEST_F(TestedTest, ARangeIsOfTwoNumbersOfOneTypeInOrder) {
  const std::string range = "{ low = 1, high = 9 }";
  for (const char* wrong :
       {"{ low = 9, high = 1 }", "{ low = 1, high = 9.5 }", "{ low = \"a\", high = \"b\" }"}) {
    expect_error(range, wrong, "`low` and `high` of n are no range");
  }
}

TEST_F(TestedTest, WhatAllCasesMayAskForIsBounded) {
  expect_error("most_cases = 5", "most_cases = 0", "allow 1 to 50 cases");
  expect_error("most_elements = 100", "most_elements = 40000",
               "allow 1 to 32768 elements, of all arrays of all cases together");
  expect_error("most_elements = 100\n", "", "most_elements");
}

TEST_F(TestedTest, RightImplementationsAndMistakesHaveGroups) {
  expect_error("name = \"right\"", "name = \"whole\"\nquestion = \"?\"", "lacks a group");
  expect_error("question = \"Is every length even?\"", "",
               "\"edges\" of task scale_tests asks nothing");
}

TEST_F(TestedTest, OnlyTestsLeaveTheCasesToTheStudent) {
  expect_error("kind = \"tests\"", "kind = \"kernel\"", "has cases of its own");
  expect_error("[[task.group]]\nname = \"edges\"",
               "[[task.case]]\nname = \"one\"\ngroup = \"right\"\nparameters = { n = 1 }\n"
               "[[task.group]]\nname = \"edges\"",
               "are the student's");
  expect_error("oracle = \"scale\"\n", "", "does not say what a case may be");
}

}  // namespace
}  // namespace rooflab
