#include "grader/report/tests_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/report/evidence.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TestsTable two_cases() {
  return {
      .groups = {{"right", "", "..", ""}, {"edges", "odd lengths", "x.", "Which length is odd?"}},
      .cases = {{"one", "n = 1", {"..", "x."}, 1}, {"whole", "n = 64", {"..", ".."}, 0}},
      .hidden = 3,
      .hidden_caught = 1};
}

TEST(TestsTableTest, SaysWhatEachCaseRefusesAndWhatAllDoTogether) {
  EXPECT_THAT(tests_table_lines(two_cases(), 100),
              ElementsAre("case                right  edges  hidden",
                          "one                 ..     x.     1 of 3",
                          "whole               ..     ..     0 of 3",
                          "all cases together  ..     x.     1 of 3",
                          "x: refused, .: passes; the implementations stand in the same order",
                          "edges: Which length is odd?"));
}

TEST(TestsTableTest, ACopyWithoutHiddenOnesSaysNothingOfThem) {
  TestsTable table = two_cases();
  table.hidden = 0;
  EXPECT_EQ(tests_table_lines(table, 100).front(), "case                right  edges");
}

TEST(TestsTableTest, NamesOfAStudentStayText) {
  TestsTable table = two_cases();
  table.cases[0].name = "<script>alert(1)</script>\n\x1b[31m" + std::string(1000, 'x');
  EXPECT_THAT(tests_table_html(table), Not(HasSubstr("<script>")));
  const std::string line = tests_table_lines(table, 100).at(1);
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  EXPECT_LT(line.size(), 100U);
}

TEST(TestsTableTest, IsKeptAsEvidence) {
  GradeResult result;
  result.tasks.resize(1);
  result.tasks[0].tests = two_cases();
  const GradeResult read = from_evidence(to_evidence(result));
  ASSERT_TRUE(read.tasks.at(0).tests);
  EXPECT_EQ(tests_table_html(*read.tasks[0].tests), tests_table_html(two_cases()));
}

}  // namespace
}  // namespace rooflab
