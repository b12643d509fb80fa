#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "grader/report/terminal.h"
#include "grader/report/text.h"

// What a report says at its end of the points that are not there.
namespace rooflab {
namespace {

using testing::HasSubstr;
using testing::Not;

TaskResult task_of(const std::string& id, double score, double max_score, Verdict verdict) {
  TaskResult task;
  task.id = id;
  task.score = score;
  task.max_score = max_score;
  task.verdict = verdict;
  task.groups = {{"all", "", verdict, score, max_score}};
  return task;
}

/// 6 of its 15 points are lost with the edges, 3.4 of its 10 by its time.
TaskResult slow_and_wrong_at_edges() {
  TaskResult task = task_of("gemm", 15.6, 25, Verdict::wrong_answer);
  task.groups = {{"basic", "", Verdict::pass, 9, 9}, {"edges", "", Verdict::wrong_answer, 0, 6}};
  Timing timing;
  timing.name = "1024^3";
  timing.points = 6.6;
  timing.max_points = 10;
  task.timings = {timing};
  return task;
}

GradeResult result_of(std::vector<TaskResult> tasks) {
  GradeResult result;
  result.part = 1;
  result.tasks = std::move(tasks);
  return result;
}

std::string summary_of(const GradeResult& result, const TerminalStyle& style = {}) {
  std::ostringstream out;
  print_summary(out, result, style);
  return out.str();
}

TEST(MissingPoints, OfATaskItsOwnPointsAndThoseOfThePartBehindThem) {
  const GradeResult result = result_of({task_of("gemm", 8, 10, Verdict::wrong_answer)});
  const std::string text =
      summary_of(result, {.single_task = true, .part_so_far = "Part 1 so far: 59 of 100"});
  EXPECT_THAT(text, HasSubstr("\ngemm: 8 of 10 · "));
  EXPECT_THAT(text, HasSubstr("\n  Part 1 so far: 59 of 100\n"));
  EXPECT_THAT(text, Not(HasSubstr("Part 1: ")));
}

TEST(MissingPoints, AnUnfinishedWorkLogIsIncompleteAndTellsWhatItLacks) {
  TaskResult log = task_of("worklog", 0, 6, Verdict::not_implemented);
  log.work_log.emplace();
  log.diagnostics.emplace_back().message =
      "the work log has 2 complete versions of the 4 asked for";
  std::ostringstream out;
  print_report(out, result_of({log}), {});
  EXPECT_THAT(out.str(), HasSubstr(": the work log has 2 complete versions"));
  EXPECT_THAT(out.str(), HasSubstr("  worklog  incomplete "));
  EXPECT_EQ(missing_words(result_of({log})), "6 points are missing: worklog 6 (incomplete)");
}

TEST(Hints, OfATaskWithFunctionsAreCountedForEach) {
  TaskResult task = task_of("gemm", 8, 10, Verdict::wrong_answer);
  task.hints = {.shown = 2, .of = 3};
  EXPECT_EQ(format_hints(task), "2 of 3 hints used");
  task.cases = {{.name = "a small one", .group = "gemm_cost"}};
  task.hints = {
      .shown = 1, .of = 3, .points = 1, .groups = {{"gemm_cost", 2, 3}, {"gemv_cost", 0, 3}}};
  EXPECT_EQ(format_hints(task),
            "3 hints used, of 3 for the task and for each function, which cost 1 point");
}

TEST(MissingPoints, AreNamedByTaskGroupAndTimedCase) {
  TaskResult broken = task_of("gemv", 0, 8, Verdict::compile_error);
  TaskResult open = task_of("counters", 0, 20, Verdict::not_implemented);
  TaskResult whole = task_of("benchmark", 10, 10, Verdict::pass);
  EXPECT_EQ(missing_words(result_of({slow_and_wrong_at_edges(), broken, open, whole})),
            "37.4 points are missing: gemm 9.4 (6 for edges, 3.4 for the time of 1024^3) · gemv 8 "
            "(it does not compile) "
            "· 20 in a task that is still a TODO");
  EXPECT_EQ(missing_words(result_of({open, whole})), "") << "the table says so";
  TaskResult more = task_of("gemv", 0, 8, Verdict::not_implemented);
  EXPECT_THAT(missing_words(result_of({slow_and_wrong_at_edges(), open, more})),
              testing::EndsWith("· 28 in 2 tasks that are still a TODO"));
}

TEST(MissingPoints, ASpeedThatWasNotReachedIsOneOfThem) {
  TaskResult task = slow_and_wrong_at_edges();
  task.timings.clear();
  task.score = 9;
  EXPECT_EQ(missing_words(result_of({task})),
            "16 points are missing: gemm 16 (6 for edges, 10 for the time)");
}

TEST(MissingPoints, LaunchesBytesAndHintsAreCountedWithTheirCase) {
  TaskResult task = task_of("fused", 6, 10, Verdict::pass);
  Timing timing;
  timing.name = "2^20";
  timing.max_points = timing.points = 4;
  timing.launches.max_points = 2;
  timing.dram_bytes.max_points = 1;
  task.timings = {timing};
  task.groups = {{"all", "", Verdict::pass, 3, 3}};
  task.hints.points = 1;
  EXPECT_EQ(missing_words(result_of({task})),
            "4 points are missing: fused 4 (3 for the time of 2^20, 1 for hints)");
}

TEST(MissingPoints, NothingIsSaidWhereNothingIsMissing) {
  EXPECT_EQ(missing_words(result_of({task_of("gemm", 9.96, 10, Verdict::pass)})), "");
  TaskResult later = task_of("answers", 0, 10, Verdict::pass);
  later.graded_later = 10;
  EXPECT_EQ(missing_words(result_of({later})), "") << "it is graded after the hand-in";
}

TEST(MissingPoints, OfBonusTasksAreNamedWhereNoOtherWasGraded) {
  TaskResult bonus = task_of("gemm_wmma", 4, 10, Verdict::pass);
  bonus.bonus = true;
  const TaskResult core = task_of("gemm", 25, 25, Verdict::pass);
  EXPECT_EQ(missing_words(result_of({core, bonus})), "");
  EXPECT_EQ(missing_words(result_of({bonus})), "6 points are missing: gemm_wmma 6");
}

TEST(MissingPoints, TheTotalTellsBonusPointsApart) {
  TaskResult bonus = task_of("gemm_wmma", 4, 10, Verdict::pass);
  bonus.bonus = true;
  const TaskResult core = task_of("gemm", 20, 25, Verdict::pass);
  EXPECT_THAT(summary_of(result_of({core, bonus})),
              HasSubstr("\nPart 1: 20 of 25 and 4 of 10 bonus* · "));
  EXPECT_THAT(summary_of(result_of({core})), HasSubstr("\nPart 1: 20 of 25 · "));
  EXPECT_THAT(summary_of(result_of({bonus})), HasSubstr("\nPart 1: 4 of 10 bonus* · "))
      << "and not 0 of 0";
}

TEST(MissingPoints, StandBelowTheTotalButNotOfASingleCase) {
  const GradeResult result = result_of({slow_and_wrong_at_edges()});
  EXPECT_THAT(summary_of(result), HasSubstr("\n  9.4 points are missing: gemm 9.4 (6 for edges, "
                                            "3.4 for the time of 1024^3)\n"));
  EXPECT_THAT(summary_of(result, {.single_case = 2}), Not(HasSubstr("missing")));
}

TEST(CasesThatPass, AreCountedForATaskThatFails) {
  TaskResult task = slow_and_wrong_at_edges();
  for (int i = 0; i < 17; ++i) task.cases.push_back({"c" + std::to_string(i), Verdict::pass});
  task.cases.push_back({"odd", Verdict::wrong_answer});
  EXPECT_EQ(format_cases(task), "17 of 18 cases pass");
  EXPECT_THAT(summary_of(result_of({task})), HasSubstr("17 of 18 cases pass · edges 0/6"));
  task.cases.back().verdict = Verdict::pass;
  EXPECT_EQ(format_cases(task), "");
  task.cases = {{"ridge", Verdict::pass, false, "ridge"},
                {"bound", Verdict::wrong_answer, false, "bound"}};
  EXPECT_EQ(format_cases(task), "1 of 2 answers are right");
  task.cases = {{"one", Verdict::race}};
  EXPECT_EQ(format_cases(task), "") << "of a single case the verdict says it";
}

TEST(SomeTasks, HaveLinesWhileTheTotalIsOfAll) {
  const GradeResult result = result_of(
      {task_of("gemm", 25, 25, Verdict::pass), task_of("gemv", 3, 8, Verdict::wrong_answer)});
  const std::string text = summary_of(result, {.lines_of = {"gemv"}});
  EXPECT_THAT(text, Not(HasSubstr("  gemm  ")));
  EXPECT_THAT(text, HasSubstr("  gemv  "));
  EXPECT_THAT(text, HasSubstr("Part 1: 28 of 33"));
}

}  // namespace
}  // namespace rooflab
