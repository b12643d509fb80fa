#include "grader/spec/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace rooflab {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

/// A part of one task, whose tables each test writes.
class GroupsTest : public testing::Test {
 protected:
  GroupsTest()
      : root_(testing::TempDir() + "/rooflab_groups_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(root_);
  }
  ~GroupsTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const auto file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  TaskSpec load(const std::string& kind, const std::string& tables) const {
    write("labs/part7-test/part.toml",
          "number = 7\ntitle = \"Test part\"\n[[task]]\nid = \"scale\"\ntitle = \"Scale\"\nkind = "
          "\"" +
              kind +
              "\"\nfile = \"scale.cu\"\nentry = \"scale\"\noracle = \"scale\"\npoints = 10\n"
              "hints = [\"one\", \"two\", \"three\"]\n" +
              tables);
    return load_part(root_ / "labs", root_ / "solutions", 7).tasks.at(0);
  }
  TaskSpec kernel(const std::string& tables) const { return load("kernel", tables); }
  TaskSpec values(const std::string& tables) const { return load("values", tables); }

  std::string error(const std::string& tables, const std::string& kind = "kernel") const {
    try {
      load(kind, tables);
    } catch (const SpecError& error) {
      return error.what();
    }
    return "no error";
  }

  static std::string group(const std::string& name, const std::string& points) {
    return "[[task.group]]\nname = \"" + name + "\"\npoints = " + points + "\n";
  }
  static std::string one_case(const std::string& name, const std::string& group,
                              const std::string& more = "") {
    std::string text = "[[task.case]]\nname = \"" + name + "\"\nparameters = { n = 4 }\n" + more;
    return group.empty() ? text : text + "group = \"" + group + "\"\n";
  }
  static std::string call(const std::string& name, const std::string& function) {
    return "[[task.case]]\nname = \"" + name + "\"\nparameters = { function = \"" + function +
           "\" }\n";
  }
  static std::string speed(const std::string& groups) {
    return "[[task.speed]]\nname = \"timed\"\nparameters = { n = 9 }\n" + groups;
  }

  std::filesystem::path root_;
};

const std::string kTwoGroups =
    "[[task.group]]\nname = \"basic\"\npoints = 6\ntitle = \"whole tiles\"\n"
    "[[task.group]]\nname = \"edges\"\npoints = 4\n";

TEST_F(GroupsTest, CasesBelongToTheGroupsThatTheyName) {
  const TaskSpec task = kernel(kTwoGroups + one_case("four", "basic") + one_case("seven", "edges") +
                               speed("groups = [\"basic\"]\n"));
  ASSERT_EQ(task.groups.size(), 2U);
  EXPECT_EQ(task.groups[0].name, "basic");
  EXPECT_EQ(task.groups[0].title, "whole tiles");
  EXPECT_EQ(task.groups[0].points, 6);
  EXPECT_EQ(task.cases[0].group, "basic");
  EXPECT_EQ(task.cases[1].group, "edges");
  EXPECT_THAT(task.speeds[0].groups, ElementsAre("basic"));
}

TEST_F(GroupsTest, ATaskWithoutGroupsHasOneOfAllCases) {
  const TaskSpec task = kernel(one_case("four", "") + one_case("seven", "") + speed(""));
  ASSERT_EQ(task.groups.size(), 1U);
  EXPECT_EQ(task.groups[0].name, "all");
  EXPECT_EQ(task.groups[0].points, 10);
  EXPECT_EQ(task.cases[1].group, "all");
  EXPECT_THAT(task.speeds[0].groups, ElementsAre("all"));
}

TEST_F(GroupsTest, ATimedCaseThatNamesNoGroupsStandsOnAll) {
  const TaskSpec task =
      kernel(kTwoGroups + one_case("four", "basic") + one_case("seven", "edges") + speed(""));
  EXPECT_THAT(task.speeds[0].groups, ElementsAre("basic", "edges"));
}

TEST_F(GroupsTest, FunctionsOfAValuesTaskAreGroupsOfEqualShares) {
  const TaskSpec task =
      values(call("a", "gemv") + call("b", "gemm") + call("c", "gemv") + call("d", "conv"));
  ASSERT_EQ(task.groups.size(), 3U);
  EXPECT_EQ(task.groups[0].name, "gemv") << "in order of first appearance";
  EXPECT_EQ(task.groups[1].name, "gemm");
  EXPECT_THAT(task.groups[2].points, DoubleEq(10.0 / 3));
  EXPECT_EQ(task.cases[2].group, "gemv");
}

TEST_F(GroupsTest, AGroupThatIsNamedLikeAFunctionHoldsItsCases) {
  const TaskSpec task =
      values(group("gemm", "7") + group("gemv", "3") + call("a", "gemv") + call("b", "gemm"));
  EXPECT_EQ(task.cases[0].group, "gemv");
  EXPECT_EQ(task.groups[0].points, 7);
}

TEST_F(GroupsTest, AValuesTaskOfOneFunctionHasASingleGroup) {
  EXPECT_EQ(values(call("a", "gemv") + call("b", "gemv")).groups.size(), 1U);
}

TEST_F(GroupsTest, AFunctionThatOnlyHiddenCasesCallIsAnError) {
  write("solutions/part7-test/hidden.toml",
        "[[case]]\ntask = \"scale\"\nname = \"secret\"\nparameters = { function = \"conv\" }\n");
  EXPECT_THAT(error(call("a", "gemv") + call("b", "gemm"), "values"),
              HasSubstr("hidden.toml:1: a case of task scale names no group"));
}

TEST_F(GroupsTest, HiddenCasesBelongToGroupsToo) {
  write(
      "solutions/part7-test/hidden.toml",
      "[[case]]\ntask = \"scale\"\nname = \"secret\"\nparameters = { n = 9 }\ngroup = \"edges\"\n");
  const TaskSpec task = kernel(kTwoGroups + one_case("four", "basic") + one_case("seven", "edges"));
  EXPECT_EQ(task.cases.at(2).group, "edges");
  EXPECT_TRUE(task.cases.at(2).hidden);
}

TEST_F(GroupsTest, QuestionsAreGroups) {
  const TaskSpec task =
      load("answers",
           "[[task.question]]\nid = \"ridge\"\nkind = \"number\"\nprompt = \"Where?\"\n"
           "points = 10\n"
           "[[task.question]]\nid = \"why\"\nkind = \"text\"\nprompt = \"Why?\"\npoints = 2\n");
  ASSERT_EQ(task.groups.size(), 1U) << "a free text is graded by hand";
  EXPECT_EQ(task.groups[0].name, "ridge");
  EXPECT_EQ(task.groups[0].points, 10);
}

TEST_F(GroupsTest, WhatDoesNotFitSaysWhatToDo) {
  const std::string cases = one_case("four", "basic") + one_case("seven", "edges");
  EXPECT_THAT(error(kTwoGroups + one_case("four", "basic") + one_case("seven", "corners")),
              HasSubstr("task scale has no group \"corners\"; name one of basic, edges, or add"));
  EXPECT_THAT(error(one_case("four", "basic")), HasSubstr("add [[task.group]] above its cases"));
  EXPECT_THAT(error(kTwoGroups + one_case("four", "")), HasSubstr("names no group"));
  EXPECT_THAT(error(group("basic", "6") + group("edges", "3") + cases),
              HasSubstr("task scale is worth 10 points, its groups 9"));
  EXPECT_THAT(error(kTwoGroups + one_case("four", "basic")),
              HasSubstr("group \"edges\" of task scale has no case that every GPU runs"));
  EXPECT_THAT(error(kTwoGroups + one_case("four", "basic") +
                    one_case("seven", "edges", "peak = \"bf16_tensor\"\n")),
              HasSubstr("has no case that every GPU runs"));
  EXPECT_THAT(error(group("basic", "6") + group("basic", "4") + cases),
              HasSubstr("two groups named \"basic\""));
  EXPECT_THAT(error(group("Basic tiles", "10") + cases), HasSubstr("is no identifier"));
  EXPECT_THAT(error(group("basic", "0") + cases), HasSubstr("group \"basic\" has 0 points"));
  EXPECT_THAT(error(kTwoGroups + cases + speed("groups = [\"corners\"]\n")),
              HasSubstr("no group \"corners\""));
}

}  // namespace
}  // namespace rooflab
