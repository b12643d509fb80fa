#include "grader/batch/outputs/class_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/code_titles.h"
#include "grader/batch/outputs/sample_class_testing.h"

namespace rooflab {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Quartiles, LieBetweenNeighbours) {
  const Quartiles at = quartiles_of({7, 1, 3, 5});  // numpy.percentile says the same
  EXPECT_DOUBLE_EQ(at.least, 1);
  EXPECT_DOUBLE_EQ(at.lower, 2.5);
  EXPECT_DOUBLE_EQ(at.median, 4);
  EXPECT_DOUBLE_EQ(at.upper, 5.5);
  EXPECT_DOUBLE_EQ(at.most, 7);
  EXPECT_DOUBLE_EQ(at.mean, 4);
  EXPECT_DOUBLE_EQ(quartiles_of({2}).upper, 2);
  EXPECT_DOUBLE_EQ(quartiles_of({}).median, 0);
}

/// Students of one part of 10 points.
ClassResults class_with(const std::vector<double>& scores) {
  ClassResults results;
  results.parts = {{1, "Part", 10, 0}};
  for (const double score : scores) {
    StudentOutcome student;
    student.student.key = "s" + std::to_string(results.students.size());
    student.student.on_roster = true;
    student.submission = "a.zip";
    PartOutcome outcome;
    outcome.part = 1;
    outcome.state = PartState::graded;
    outcome.score = score;
    student.parts = {outcome};
    results.students.push_back(student);
  }
  return results;
}

TEST(PartStatistics, APointOnTheBorderBelongsToTheUpperTenthAndFullMarksToTheLast) {
  const ClassResults results = class_with({0, 0.99, 1, 3, 9.99, 10, 10.5, 7});
  const PartStatistics statistics = statistics_of(results, results.parts[0]);
  EXPECT_THAT(statistics.tenths, ElementsAre(2, 1, 0, 1, 0, 0, 0, 1, 0, 2));
  EXPECT_EQ(statistics.above, 1U);
  EXPECT_EQ(statistics.totals.size(), 8U);
}

TEST(PartStatistics, LeaveOutWhatWasNotGraded) {
  ClassResults results = class_with({5, 5, 5, 5});
  results.students[1].parts[0].state = PartState::fault;
  results.students[2].parts[0].state = PartState::not_submitted;
  results.students[3].parts[0].state = PartState::unreadable;
  const PartStatistics statistics = statistics_of(results, results.parts[0]);
  EXPECT_THAT(statistics.totals, ElementsAre(5));
  EXPECT_EQ(statistics.states.at(PartState::fault), 1U);
}

TEST(PartStatistics, KnowWhoPassesATaskAndHowFast) {
  ClassResults results = class_with({5, 5, 5});
  const double efficiencies[] = {0.25, 0.75, 0.5};
  for (std::size_t i = 0; i < 3; ++i) {
    TaskLine task;
    task.id = "gemm";
    task.max_score = 10;
    task.score = static_cast<double>(i);
    task.verdict = i == 2 ? Verdict::suspect : Verdict::pass;
    task.time_us = 10;
    task.efficiency = efficiencies[i];
    if (i == 2) task.codes = {"RL0431"};
    if (i > 0) task.lost_groups = {"edges"};
    if (i > 1) task.lost_groups = {"basic", "edges"};
    results.students[i].parts[0].tasks = {task};
  }
  const PartStatistics statistics = statistics_of(results, results.parts[0]);
  ASSERT_EQ(statistics.tasks.size(), 1U);
  const TaskStatistics& task = statistics.tasks[0];
  EXPECT_EQ(task.graded, 3U);
  EXPECT_EQ(task.passed, 2U);
  EXPECT_DOUBLE_EQ(task.mean_score, 1);
  EXPECT_THAT(task.efficiencies, ElementsAre(0.25, 0.75));
  EXPECT_EQ(task.best, "s1");
  EXPECT_EQ(task.commonest_code, "RL0431");
  EXPECT_EQ(task.hardest_group, "edges");
  EXPECT_EQ(task.hardest_count, 2U);
  EXPECT_EQ(count_timed_tasks(results), 1U);
  EXPECT_DOUBLE_EQ(standing_of(results.students[1], 2).efficiency, 0.375);
  EXPECT_DOUBLE_EQ(standing_of(results.students[2], 2).efficiency, 0);
}

TEST(CountClass, TellsTheMissingFromTheStrangers) {
  ClassResults results = class_with({5, 5, 5, 5});
  results.students[1].submission.clear();
  results.students[2].student.on_roster = false;
  results.students[3].parts[0].lateness = "1.0 hours late";
  results.students[3].parts[0].state = PartState::fault;
  const ClassCounts counts = count_class(results);
  EXPECT_EQ(counts.students, 3U);
  EXPECT_EQ(counts.submitted, 2U);
  EXPECT_EQ(counts.missing, 1U);
  EXPECT_EQ(counts.strangers, 1U);
  EXPECT_EQ(counts.late, 1U);
  EXPECT_EQ(counts.faults, 1U);
}

TEST(PartStatistics, LeaveOutWhoIsNotOnTheRosterAndSayHowMany) {
  ClassResults results = class_with({4, 6, 10});
  results.students[2].student.on_roster = false;
  results.students[2].parts[0].pending = {{"why", 4}};
  const PartStatistics statistics = statistics_of(results, results.parts[0]);
  EXPECT_EQ(statistics.totals.size(), 2U);
  EXPECT_EQ(statistics.strangers, 1U);
  EXPECT_EQ(statistics.pending, 0U);
  EXPECT_EQ(count_class(results).pending, 0U);
  EXPECT_EQ(count_class(results).pending_of_strangers, 1U);
  EXPECT_EQ(waiting_words(3, 1), "3 answers wait for a person, and 1 of nobody on the roster");
}

TEST(CountClass, TakesEverybodyForTheClassWithoutARoster) {
  ClassResults results = class_with({5, 5});
  for (StudentOutcome& student : results.students) student.student.on_roster = false;
  EXPECT_EQ(count_class(results).students, 2U);
  EXPECT_EQ(count_class(results).strangers, 0U);
}

TEST(ClassWords, PointsHaveTwoDecimalsAtMost) {
  EXPECT_EQ(gradebook_points(17.25), "17.25");
  EXPECT_EQ(gradebook_points(17.3), "17.3");
  EXPECT_EQ(gradebook_points(20), "20");
  EXPECT_EQ(gradebook_points(0), "0");
  EXPECT_EQ(gradebook_points(-0.001), "0");
  EXPECT_EQ(gradebook_points(100), "100");
}

TEST(ClassWords, LatenessDoesNotTouchPointsByHand) {
  PartOutcome outcome;
  outcome.score = 10;
  outcome.bonus = 2;
  outcome.keeps = 0.5;
  outcome.manual = 3;
  EXPECT_DOUBLE_EQ(outcome.total(), 9);
}

TEST(ClassWords, AStudentWithoutANameHasTheKey) {
  Student student;
  student.key = "ada";
  student.name = " \n";
  EXPECT_EQ(display_name(student), "ada");
  student.name = "Ada\nL";
  EXPECT_EQ(display_name(student), "Ada L");
}

TEST(CodeTitles, AreTheFirstLinesOfTheirPages) {
  const auto titles = read_code_titles(ROOFLAB_SOURCE_DIR "/handouts/errors");
  EXPECT_EQ(titles.at("RL0301"),
            "shared memory is overwritten while another thread still needs it");
  EXPECT_GT(titles.size(), 50U);
  EXPECT_THAT(read_code_titles("/nowhere"), IsEmpty());
}

}  // namespace
}  // namespace rooflab
