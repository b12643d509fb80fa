#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/pipeline/grade_fixture.h"
#include "grader/report/logged_runs.h"
#include "grader/spec/groups.h"
#include "grader/spec/work_log.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A part with a timed kernel and a work log of it.
class GradeWorkLogTest : public GradeTest {
 protected:
  GradeWorkLogTest() {
    TaskSpec log;
    log.id = "worklog";
    log.kind = TaskKind::worklog;
    log.file = "worklog.toml";
    log.points = 2;
    log.hand_points = 6;
    complete_groups(log);
    part_.tasks.push_back(log);
  }

  static LoggedRun run_of(int version, double time_us, double conflicts) {
    return {.version = version,
            .task = "scale",
            .device = "sim:round",
            .timed = "1000",
            .time_us = time_us,
            .efficiency = 0.5,
            .limiter = "shared memory",
            .measures = {{"bank conflicts", conflicts}},
            .counters = {{"smsp__inst_executed.sum", 4096}},
            .files = {{"scale.cu", "// version\n"}}};
  }

  static std::string entry(int version, const std::string& counter = "bank conflicts") {
    const std::string n = std::to_string(version);
    return "hypothesis_" + n + " = \"faster\"\ncounter_" + n + " = \"" + counter + "\"\nresult_" +
           n + " = \"it is\"\n";
  }

  /// Four versions of which the third changes no conflicts.
  void hand_in_four() {
    runs_of({run_of(1, 4004, 60), run_of(2, 3003, 30), run_of(3, 2502, 30), run_of(4, 2002, 0)});
    text_of_log(entry(1) + entry(2) + entry(3) + entry(4));
  }
  void runs_of(const std::vector<LoggedRun>& runs) {
    write(std::string("submission/part7-test/") + kLoggedRunsFile, logged_runs_text(runs));
  }
  void text_of_log(const std::string& text) { write("submission/part7-test/worklog.toml", text); }

  TaskResult grade_log() { return grade_with(solve).tasks.at(1); }
};

TEST_F(GradeWorkLogTest, FourCompleteVersionsHaveAllPointsForTheirForm) {
  hand_in_four();
  const TaskResult task = grade_log();
  EXPECT_EQ(task.verdict, Verdict::pass) << task.diagnostics.at(0).message;
  EXPECT_EQ(task.score, 2);
  EXPECT_EQ(task.max_score, 2) << "points by hand are no part of it";
  EXPECT_EQ(task.summary, "scale in 4 versions: 4.00 ms -> 2.00 ms, 2.0x faster");
  ASSERT_TRUE(task.work_log.has_value());
  const auto& versions = task.work_log->versions;
  ASSERT_THAT(versions, SizeIs(4));
  EXPECT_FALSE(versions[0].is_compared) << "nothing is before it";
  EXPECT_EQ(versions[0].counter_now, "60 %");
  EXPECT_TRUE(versions[1].is_compared && versions[1].has_moved);
  EXPECT_EQ(versions[1].counter_before, "60 %");
  EXPECT_EQ(versions[1].counter_now, "30 %");
  EXPECT_TRUE(versions[2].is_compared && !versions[2].has_moved);
}

TEST_F(GradeWorkLogTest, AnEmptyLogIsNotImplemented) {
  text_of_log("# nothing yet\nhypothesis_1 = \"\"\n");
  const TaskResult task = grade_log();
  EXPECT_EQ(task.verdict, Verdict::not_implemented);
  EXPECT_EQ(task.score, 0);
  ASSERT_THAT(task.diagnostics, SizeIs(1));
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0601"));
  EXPECT_THAT(task.diagnostics[0].commands.at(0).second,
              HasSubstr("grader --part 7 --task scale --log"));
}

TEST_F(GradeWorkLogTest, AllThatIsMissingIsNamedAtOnce) {
  runs_of({run_of(1, 4004, 60), run_of(2, 3003, 30), run_of(3, 2502, 30), run_of(5, 2002, 0)});
  text_of_log(entry(1) + "hypothesis_2 = \"faster\"\n" + entry(3, "bank conflict") + entry(4));
  const TaskResult task = grade_log();
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 1) << "four runs were kept";
  ASSERT_THAT(task.diagnostics, SizeIs(1));
  const Diagnostic& story = task.diagnostics[0];
  EXPECT_EQ(story.message, "the work log has 1 complete version of the 4 asked for");
  EXPECT_THAT(story.evidence,
              ElementsAre("version 2: no counter_2, no result_2",
                          AllOf(HasSubstr("version 3: there is no counter \"bank conflict\""),
                                HasSubstr("did you mean bank conflicts?")),
                          "version 4: no logged run",
                          "version 5: no hypothesis_5, no counter_5, no result_5"));
  EXPECT_THAT(story.notes, Contains(HasSubstr("DRAM bytes")));
}

TEST_F(GradeWorkLogTest, ALogThatIsNotFinishedIsNoWrongOne) {
  runs_of({run_of(1, 4004, 60), run_of(2, 3003, 30)});
  text_of_log(entry(1) + entry(2));
  const TaskResult task = grade_log();
  EXPECT_EQ(task.verdict, Verdict::not_implemented);
  EXPECT_EQ(task.score, 0);
  ASSERT_THAT(task.diagnostics, SizeIs(1));
  EXPECT_EQ(task.diagnostics[0].message, "the work log has 2 complete versions of the 4 asked for");
}

TEST_F(GradeWorkLogTest, ALineThatCannotBeReadIsNamedAndCostsNothingByItself) {
  hand_in_four();
  text_of_log(entry(1) + "faster\n" + entry(2) + entry(3) + entry(4));
  const TaskResult task = grade_log();
  EXPECT_EQ(task.score, 2);
  ASSERT_THAT(task.diagnostics, SizeIs(1));
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0613"));
  EXPECT_EQ(task.diagnostics[0].line, 4U);
}

TEST_F(GradeWorkLogTest, RunsOfAnotherKernelOrOfNoneDoNotCount) {
  std::vector<LoggedRun> runs = {run_of(1, 4004, 60), run_of(2, 3003, 30), run_of(3, 2502, 30),
                                 run_of(4, 2002, 0)};
  runs[2].task = "answers";
  runs[3].task = "worklog";
  runs_of(runs);
  text_of_log(entry(1) + entry(2) + entry(3) + entry(4));
  EXPECT_EQ(grade_log().score, 0);
}

TEST_F(GradeWorkLogTest, ARealGpuCountsNothingSoThatAnyCounterWillDo) {
  std::vector<LoggedRun> runs;
  for (int version = 1; version <= 4; ++version) {
    runs.push_back(run_of(version, 1000, 0));
    runs.back().counters.clear();
    runs.back().measures.clear();
  }
  runs_of(runs);
  text_of_log(entry(1, "l2 misses") + entry(2, "l2 misses") + entry(3) + entry(4));
  EXPECT_EQ(grade_log().score, 2);
}

TEST_F(GradeWorkLogTest, AClassSeesFiguresOfItsOwnGrading) {
  hand_in_four();
  request_.versions_graded_again = 3;
  const TaskResult task = grade_log();
  EXPECT_EQ(task.score, 2) << "a difference costs nothing by itself";
  const auto& versions = task.work_log->versions;
  EXPECT_FALSE(versions[0].is_graded_again);
  EXPECT_EQ(versions[0].time_us, 4004);
  for (const int late : {1, 2, 3}) {
    EXPECT_TRUE(versions[late].is_graded_again) << late;
    EXPECT_EQ(versions[late].time_us, 2002) << "what the device takes for the kept file";
  }
  EXPECT_EQ(versions[1].differs, "the log says 3.00 ms");
  EXPECT_EQ(versions[3].differs, "");
  EXPECT_THAT(task.for_people, ElementsAre("version 2 of the work log: the log says 3.00 ms",
                                           "version 3 of the work log: the log says 2.50 ms"));
}

TEST_F(GradeWorkLogTest, ATimeOnAnotherGpuIsNoContradiction) {
  hand_in_four();
  std::vector<LoggedRun> runs = {run_of(1, 4004, 60)};
  runs[0].device = "sim:t4";
  runs_of(runs);
  request_.versions_graded_again = 1;
  EXPECT_EQ(grade_log().work_log->versions[0].differs, "logged on sim:t4, where it took 4.00 ms");
}

TEST_F(GradeWorkLogTest, AVersionThatIsWrongOrNotThereSaysSo) {
  hand_in_four();
  std::vector<LoggedRun> runs = {run_of(1, 4004, 60), run_of(2, 3003, 30)};
  runs[0].files[0].name = "other.cu";
  runs_of(runs);
  request_.versions_graded_again = 4;
  const TaskResult task = grade_with([](const RunRequest& request) {
                            RunOutcome outcome = solve(request);
                            outcome.outputs[1] = untouched(*request.problem)[1];
                            return outcome;
                          }).tasks.at(1);
  const auto& versions = task.work_log->versions;
  EXPECT_THAT(versions[0].differs, HasSubstr("were not kept whole"));
  EXPECT_THAT(versions[1].differs, HasSubstr("graded again it has no time: "));
  EXPECT_FALSE(versions[1].is_graded_again);
}

TEST_F(GradeWorkLogTest, GradingAgainRunsFewCasesOfEachVersion) {
  hand_in_four();
  grade_log();
  const int plain = runs_;
  request_.versions_graded_again = 4;
  grade_log();
  EXPECT_EQ(runs_, plain + 4 * 3) << "a case of the only group, its repeats, and the timed one";
}

}  // namespace
}  // namespace rooflab
