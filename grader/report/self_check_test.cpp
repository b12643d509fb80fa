#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "grader/report/html.h"
#include "grader/report/json.h"
#include "grader/report/terminal.h"
#include "grader/report/testing/drawn.h"
#include "grader/report/text.h"

/// What a student sees of a run of their own: what the kit cannot grade, a single case, prints.
namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A kit's grade: a task with hidden cases elsewhere, and answers that nobody has judged yet.
GradeResult kit_result() {
  GradeResult result;
  result.part = 1;
  result.title = "Fundamental metrics";
  TaskResult gemv;
  gemv.id = "gemv";
  gemv.score = 90;
  gemv.max_score = 93;
  gemv.hidden_cases = 12;
  TaskResult answers;
  answers.id = "answers";
  answers.max_score = 11;
  answers.graded_later = 11;
  answers.summary = "11 of 11 questions are answered";
  result.tasks = {gemv, answers};
  return result;
}

std::string shown(const GradeResult& result, const TerminalStyle& style = {}) {
  std::ostringstream out;
  print_report(out, result, style);
  return out.str();
}

TEST(KitReport, SaysWhatIsGradedLaterAndHowManyCasesAreHidden) {
  const std::string text = shown(kit_result());
  EXPECT_THAT(text, HasSubstr("Part 1: 90 of 104"));
  EXPECT_THAT(text, HasSubstr("\n  90 of 93 points checked here; 11 points are graded after you "
                              "hand in\n  public cases only: the grading of the class has 12 "
                              "hidden cases as well (gemv 12)\n"));
  EXPECT_THAT(text, HasSubstr("  answers  answered          ?/11   11 of 11 questions"));
  EXPECT_THAT(text, Not(HasSubstr("answers  pass")));
  const auto json = nlohmann::json::parse(to_json(kit_result()));
  EXPECT_EQ(json["max_score"], 104);
  EXPECT_EQ(json["graded_later"], 11);
  EXPECT_EQ(json["hidden_cases"], 12);
  EXPECT_EQ(json["tasks"][0]["hidden_cases"], 12);
}

TEST(KitReport, SaysNothingOfThatWhereAllIsGraded) {
  GradeResult result = kit_result();
  for (TaskResult& task : result.tasks) task.hidden_cases = 0;
  result.tasks[1].graded_later = 0;
  EXPECT_THAT(total_notes(result), IsEmpty());
  result.tasks.erase(result.tasks.begin());
  result.tasks[0].graded_later = 11;
  EXPECT_THAT(total_notes(result), ElementsAre("11 points are graded after you hand in"));
}

TEST(LadderReport, SaysHowFarOneIsInEveryForm) {
  GradeResult result = kit_result();
  result.tasks.resize(2);
  result.tasks[0].id = "scores";
  result.tasks[0].verdict = Verdict::pass;
  result.tasks[1].id = "attention";
  result.tasks[1].verdict = Verdict::race;
  result.ladders = {
      {.id = "attention", .title = "Attention in steps", .steps = {"scores", "attention"}}};
  EXPECT_THAT(shown(result, {}),
              HasSubstr("Attention in steps: 1 of 2 steps done, next attention"));
  const auto json = nlohmann::json::parse(to_json(result)).at("ladders").at(0);
  EXPECT_EQ(json["done"], 1);
  EXPECT_EQ(json["graded"], 2);
  EXPECT_EQ(json["next"], "attention");
  const std::string page = to_html(result, small_gpu());
  EXPECT_THAT(page, HasSubstr("1 of 2 steps done"));
  EXPECT_THAT(page, HasSubstr("step 2 of 2"));
}

TEST(SingleCase, SaysHowItWentInPlaceOfATotal) {
  GradeResult result = kit_result();
  result.tasks.resize(1);
  result.tasks[0].score = result.tasks[0].max_score = 0;
  const std::string text = shown(result, {.single_case = 2});
  EXPECT_THAT(text, HasSubstr("gemv: case 2 passes; a single case earns no points"));
  EXPECT_THAT(text, Not(HasSubstr("0 of 0")));
  EXPECT_THAT(text, Not(HasSubstr("0/0")));
  EXPECT_THAT(text, Not(HasSubstr("hidden")));
}

TEST(Printed, LastLinesAreShownEscapedAndOnlyWhereAskedFor) {
  GradeResult result = kit_result();
  for (int line = 1; line <= 50; ++line) {
    result.tasks[0].printed += "line " + std::to_string(line) + "\n";
  }
  result.tasks[0].printed += "\x1b[31mred\r\n" + std::string(100000, 'x') + "\n\n";
  EXPECT_THAT(shown(result), Not(HasSubstr("line 50")));
  const std::string text = shown(result, {.printed = true});
  EXPECT_THAT(text, HasSubstr("printed by gemv, the last 20 of 52 lines"));
  EXPECT_THAT(text, HasSubstr("| line 50\n"));
  EXPECT_THAT(text, HasSubstr("| line 33\n"));
  EXPECT_THAT(text, Not(HasSubstr("| line 32\n")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_LT(text.size(), 3000U);
}

}  // namespace
}  // namespace rooflab
