#include "grader/batch/store/store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/batch/store/schema.h"
#include "grader/report/evidence.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class StoreTest : public testing::Test {
 protected:
  StoreTest() : folder_(std::filesystem::temp_directory_path()), store_(file()), database_(file()) {
    store_.put_student({.key = "ada", .name = "Ada Lovelace", .on_roster = true}, 0);
    store_.put_student({.key = "bob", .name = "Bob"}, 1);
    store_.put_submission({.id = "s1", .student = "ada", .called = "ada.zip"});
    store_.put_submission({.id = "s2", .student = "bob", .called = "bob.zip"});
  }

  std::filesystem::path file() const { return folder_.path() / "batch.sqlite"; }

  static GradingSubject subject(const std::string& source = "f00d") {
    return {.part = 1, .source = source, .device = "sim:a100", .seed = 7, .versions = "1"};
  }

  static GradedResult graded(double score) {
    GradedResult one;
    TaskResult task;
    task.id = "gemv";
    task.score = score;
    task.max_score = 10;
    one.result.tasks = {task};
    one.evidence = "evidence of " + std::to_string(score);
    return one;
  }

  TemporaryFolder folder_;
  Store store_;
  Database database_;  ///< the same, for what no function of the store tells
};

TEST_F(StoreTest, EqualSourcesShareOneGrading) {
  EXPECT_TRUE(store_.assign_grading("s1", subject(), false));
  EXPECT_TRUE(store_.assign_grading("s2", subject(), false));
  EXPECT_FALSE(store_.assign_grading("s2", subject(), false));
  ASSERT_EQ(store_.pending().size(), 1U);
  store_.put_result(store_.pending()[0].name, graded(4), 100);
  EXPECT_TRUE(store_.pending().empty());
  EXPECT_EQ(store_.grade("s1", 1)->grading.name, store_.grade("s2", 1)->grading.name);
  EXPECT_EQ(store_.grade("s1", 1)->grading.state, GradingState::graded);
}

TEST_F(StoreTest, AnyDifferenceInWhatDecidesTheOutcomeMakesAnotherGrading) {
  GradingSubject other = subject();
  std::vector<GradingSubject> subjects = {subject(), subject("beef")};
  other.device = "sim:t4";
  subjects.push_back(other);
  other = subject();
  other.seed = 8;
  subjects.push_back(other);
  other = subject();
  other.versions = "2";
  subjects.push_back(other);
  other = subject();
  other.part = 2;
  subjects.push_back(other);
  for (const GradingSubject& one : subjects) {
    EXPECT_TRUE(store_.assign_grading("s1", one, false));
  }
  Statement count(database_, "SELECT count(DISTINCT grading_key) FROM gradings");
  count.step();
  EXPECT_EQ(count.integer(), static_cast<std::int64_t>(subjects.size()));
}

TEST_F(StoreTest, WhoseNumbersWereAskedAndWhatWasAnsweredIsKept) {
  GradingSubject of_ada = subject(), of_bob = subject();
  of_ada.students = {"ada", "ada, the \"first\""};
  of_bob.students = {"bob"};
  store_.assign_grading("s1", of_ada, false);
  store_.assign_grading("s2", of_bob, false);
  EXPECT_EQ(store_.pending().size(), 2U) << "equal files of two students";
  const std::string name = store_.grade("s1", 1)->grading.name;
  EXPECT_EQ(store_.grading(name)->subject, of_ada);
  GradedResult result = graded(4);
  result.numbers = {{"ridge", 1.0 / 3}, {"time", -2}};
  store_.put_result(name, result, 100);
  EXPECT_EQ(store_.numbers(name), result.numbers);
  database_.execute("UPDATE gradings SET numbers = '{\"ridge\":' WHERE name = '" + name + "'");
  EXPECT_TRUE(store_.numbers(name).empty());
  EXPECT_TRUE(store_.numbers("nobody's").empty());
}

TEST_F(StoreTest, AGradingThatNoGradeWaitsForAnyMoreIsNotPending) {
  store_.assign_grading("s1", subject(), false);
  store_.assign_grading("s1", subject("beef"), false);
  ASSERT_EQ(store_.pending().size(), 1U);
  EXPECT_EQ(store_.pending()[0].subject.source, "beef");
}

TEST_F(StoreTest, AGradingAgainLeavesTheOldOneAndThoseWhoShareItAlone) {
  store_.assign_grading("s1", subject(), false);
  store_.assign_grading("s2", subject(), false);
  const std::string first = store_.pending().at(0).name;
  store_.put_result(first, graded(4), 100);

  EXPECT_TRUE(store_.assign_grading("s1", subject(), true));
  EXPECT_FALSE(store_.assign_grading("s1", subject(), true)) << "it is pending already";
  store_.put_result(store_.pending().at(0).name, graded(6), 200);

  const auto now = store_.grade("s1", 1);
  ASSERT_EQ(now->earlier.size(), 1U);
  EXPECT_EQ(now->earlier[0].name, first);
  EXPECT_EQ(store_.points_of(now->grading.name)->score, 6);
  EXPECT_EQ(store_.points_of(first)->score, 4);
  EXPECT_EQ(store_.last_graded_at(), 200);
  EXPECT_EQ(store_.grade("s2", 1)->grading.name, first);
  EXPECT_EQ(store_.evidence(first), "evidence of 4.000000");
}

TEST_F(StoreTest, AFaultHasNoScoreAndKeepsItsReason) {
  store_.assign_grading("s1", subject(), false);
  const std::string name = store_.pending().at(0).name;
  store_.put_fault(name, "the worker was ended by SIGKILL", nullptr, 100);
  EXPECT_EQ(store_.grading(name)->state, GradingState::fault);
  EXPECT_EQ(store_.grading(name)->why, "the worker was ended by SIGKILL");
  EXPECT_EQ(store_.evidence(name), "");
}

TEST_F(StoreTest, SourcesAreKeptByteForByte) {
  const SourceFiles files = {{"part1-metrics/a.cu", std::string("a\0\xFF", 3)},
                             {"part1-metrics/empty.cu", ""}};
  store_.put_source("f00d", files);
  store_.put_source("f00d", files);
  EXPECT_EQ(store_.source("f00d"), files);
  EXPECT_TRUE(store_.source("beef").empty());
}

TEST_F(StoreTest, PointsGivenByHandKeepTheirHistory) {
  ManualRow row{
      .student = "ada", .part = 1, .item = "why", .points = 2, .max_points = 3, .by = "ta"};
  EXPECT_FALSE(store_.put_manual(row, 100).has_value());
  EXPECT_FALSE(store_.put_manual(row, 101).has_value()) << "nothing new";
  row.points = 3;
  EXPECT_EQ(store_.put_manual(row, 102), 2);
  ASSERT_EQ(store_.manual_points().size(), 1U);
  EXPECT_EQ(store_.manual_points()[0].points, 3);
  Statement count(database_, "SELECT count(*) FROM manual_points");
  count.step();
  EXPECT_EQ(count.integer(), 2) << "the first one is still there";
}

TEST_F(StoreTest, WhatTheRosterSaysIsNotReplacedByASubmission) {
  store_.put_student({.key = "ada", .name = "Mallory"}, 9);
  store_.put_student({.key = "bob", .name = "Robert"}, 1);
  ASSERT_EQ(store_.students().size(), 2U);
  EXPECT_EQ(store_.students()[0].name, "Ada Lovelace");
  EXPECT_EQ(store_.students()[1].name, "Robert");
}

TEST_F(StoreTest, SubmissionsThatAreGoneFromTheFolderAreNotListed) {
  store_.forget_presence();
  store_.put_submission(
      {.id = "s1", .student = "ada", .called = "ada.zip", .notes = {"a", "\"b\""}});
  ASSERT_EQ(store_.submissions().size(), 1U);
  EXPECT_THAT(store_.submissions()[0].notes, ElementsAre("a", "\"b\""));
  EXPECT_FALSE(store_.submissions()[0].received.has_value());
}

TEST_F(StoreTest, ATransactionThatIsNotCommittedLeavesNothing) {
  {
    const Transaction transaction = store_.begin();
    store_.set("device", "sim:a100");
  }
  EXPECT_FALSE(store_.setting("device").has_value());
}

TEST_F(StoreTest, IsOpenedAgainWithAllItHad) {
  store_.set("device", "sim:a100");
  Store again(file());
  EXPECT_EQ(again.setting("device"), "sim:a100");
  EXPECT_EQ(again.students().size(), 2U);
}

TEST_F(StoreTest, WhatAGradingLeftToAPersonAndHidesFromStudentsIsKeptWithIt) {
  store_.assign_grading("s1", subject(), false);
  const std::string name = store_.pending()[0].name;
  EXPECT_FALSE(store_.hand_questions(name).has_value()) << "it is not graded yet";
  GradedResult result = graded(4);
  result.revealed = "the whole story";
  result.questions = {{.item = "why", .max_points = 4}, {.item = "how", .max_points = 1.5}};
  store_.put_result(name, result, 100);
  ASSERT_EQ(store_.hand_questions(name)->size(), 2U);
  EXPECT_EQ(store_.hand_questions(name)->at(1).item, "how");
  EXPECT_EQ(store_.hand_questions(name)->at(1).max_points, 1.5);
  EXPECT_EQ(store_.revealed(name), "the whole story");
  EXPECT_EQ(store_.revealed("another"), "");
}

TEST(StoreFile, OfTheFirstSchemaIsBroughtUpToDateAndKnowsNothingOfTheNewColumns) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const auto file = folder.path() / "batch.sqlite";
  {
    Database old(file);
    migrate_to(old, 1);
    old.execute(
        "INSERT INTO gradings VALUES ('g', 'k', 1, 1, 's', 'sim:a100', 7, '1', 'graded', '', 4, "
        "10, "
        "0, 'evidence', 1, 1, 100)");
    old.execute(
        "INSERT INTO gradings VALUES ('h', 'l', 1, 1, 's', 'sim:a100', -1, '1', 'pending', '', "
        "NULL, NULL, NULL, NULL, NULL, NULL, NULL)");
  }
  Store store(file);
  EXPECT_EQ(store.grading("g").value().subject.seed, Seed(7));
  EXPECT_EQ(store.grading("h").value().subject.seed, Seed(~std::uint64_t{0}));
  EXPECT_EQ(store.evidence("g"), "evidence");
  EXPECT_FALSE(store.hand_questions("g").has_value());
  EXPECT_EQ(store.revealed("g"), "");
  EXPECT_TRUE(store.grading("g")->subject.students.empty());
  EXPECT_TRUE(store.numbers("g").empty());
}

/// A result of two tasks: one that passes and was timed, and one that lost a group.
GradeResult two_tasks() {
  TaskResult gemv;
  gemv.id = "gemv";
  gemv.title = "GEMV";
  gemv.score = gemv.max_score = 10;
  gemv.timings.resize(2);
  gemv.timings[0].time_us = 0.1 + 0.2;
  gemv.timings[0].efficiency = 1.0 / 3;
  TaskResult gemm;
  gemm.id = "gemm";
  gemm.bonus = true;
  gemm.verdict = Verdict::race;
  gemm.score = 1.0 / 7;
  gemm.max_score = 4;
  gemm.groups = {{.name = "edges", .title = {}, .score = 0, .max_score = 2},
                 {.name = "masks", .title = {}, .score = 1, .max_score = 1},
                 {.name = "rows", .title = {}, .score = 0, .max_score = 1}};
  gemm.diagnostics.resize(2);
  gemm.diagnostics[0].code = "RL0301";
  gemm.diagnostics[1].code = "RL0401";
  GradeResult result;
  result.tasks = {gemv, gemm};
  return result;
}

std::vector<std::string> task_results(const std::filesystem::path& file) {
  Database database(file);
  Statement row(database,
                "SELECT grading, position, task, title, bonus, verdict, codes, lost_groups, score, "
                "max_score, time_us, efficiency FROM task_results ORDER BY grading, position");
  std::vector<std::string> rows;
  while (row.step()) {
    std::string text;
    for (int i = 0; i < 8; ++i) text += row.text() + "|";
    for (int i = 0; i < 4; ++i) text += fmt::format("{}|", row.optional_real().value_or(-1));
    rows.push_back(text);
  }
  return rows;
}

/// What a grader left that kept tasks beside the evidence.
void make_schema_5(const std::filesystem::path& file, const std::string& evidence) {
  Database old(file);
  migrate_to(old, 5);
  Statement insert(old,
                   "INSERT INTO gradings (name, grading_key, run, part, source, device, versions, "
                   "state, why, score, max_score, bonus, evidence, graded_at, seed) VALUES (?, ?, "
                   "1, 1, 's', 'sim:a100', '1', 'graded', '', 9.25, 10, 0.5, ?, 100, '7')");
  insert.bind("good").bind("k").bind(evidence).run();
  insert.bind("torn").bind("l").bind(evidence.substr(0, evidence.size() / 2)).run();
  insert.bind("none").bind("m").bind_null().run();
  old.execute(
      "INSERT INTO task_results VALUES "
      "('good', 0, 'gemv', 'GEMV', 0, 'pass', 10, 10, '', 0.1 + 0.2, 1.0 / 3, 0, 0, 0, 'fp32', ''),"
      "('good', 1, 'gemm', '', 1, 'race', 1.0 / 7, 4, 'RL0301 RL0401', NULL, 0, 0, 0, 0, '', "
      "'edges rows')");
}

TEST(StoreFile, ThatKeptTasksBesideTheEvidenceGivesThemFromTheEvidenceNow) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const auto file = folder.path() / "batch.sqlite";
  const std::string evidence = to_evidence(two_tasks());
  make_schema_5(file, evidence);
  const auto before = task_results(file);
  ASSERT_EQ(before.size(), 2U);
  Store store(file);
  EXPECT_EQ(task_results(file), before);
  EXPECT_EQ(store.evidence("good"), evidence);
  for (const char* grading : {"good", "torn", "none"}) {
    EXPECT_EQ(store.points_of(grading)->score, 9.25) << grading;
    EXPECT_EQ(store.points_of(grading)->bonus, 0.5) << grading;
    EXPECT_EQ(store.points_of(grading)->max_score, 10) << grading;
  }
}

TEST(StoreFile, ThatHasTheEvidenceWithItsGradingsKeepsAllOfIt) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const auto file = folder.path() / "batch.sqlite";
  const std::string evidence = to_evidence(two_tasks());
  std::vector<std::string> before;
  {
    Database old(file);
    migrate_to(old, 8);
    Statement insert(old,
                     "INSERT INTO gradings (name, grading_key, run, part, source, device, seed, "
                     "versions, state, why, score, max_score, bonus, evidence, revealed) VALUES "
                     "(?, ?, 1, 1, 's', 'sim:a100', '7', '1', ?, '', ?, 10, 0, ?, ?)");
    insert.bind("whole").bind("k").bind("graded").bind(9.25).bind(evidence).bind("hidden").run();
    insert.bind("torn").bind("l").bind("graded").bind(3.0).bind("{").bind_null().run();
    insert.bind("none").bind("m").bind("pending").bind_null().bind_null().bind_null().run();
    before = task_results(file);
  }
  ASSERT_EQ(before.size(), 2U);
  Store store(file);
  EXPECT_EQ(task_results(file), before);
  EXPECT_EQ(store.evidence("whole"), evidence);
  EXPECT_EQ(store.revealed("whole"), "hidden");
  EXPECT_EQ(store.evidence("torn"), "{");
  EXPECT_EQ(store.revealed("torn"), "");
  EXPECT_EQ(store.evidence("none"), "");
  EXPECT_EQ(store.points_of("whole")->score, 9.25);
  EXPECT_EQ(store.grading("whole")->checkout, "");
  EXPECT_EQ(store.grading("none")->state, GradingState::pending);
  store.put_result("none", {.result = two_tasks(), .evidence = evidence}, 100);
  EXPECT_EQ(store.evidence("none"), evidence);
}

TEST_F(StoreTest, KeepsTheCheckoutThatGradedAndReplacesEvidenceThatWasThere) {
  store_.assign_grading("s1", subject(), false);
  const std::string name = store_.pending().at(0).name;
  GradedResult first = graded(4);
  first.result.checkout = "3f2a, changed";
  store_.put_fault(name, "it failed", &first, 100);
  EXPECT_EQ(store_.evidence(name), first.evidence);
  store_.put_fault(name, "it failed", nullptr, 100);
  EXPECT_EQ(store_.evidence(name), "");
  store_.put_result(name, first, 200);
  EXPECT_EQ(store_.evidence(name), first.evidence);
  EXPECT_EQ(store_.grading(name)->checkout, "3f2a, changed");
}

TEST_F(StoreTest, OfANewerGraderIsRefused) {
  database_.execute("PRAGMA user_version = 999");
  try {
    const Store again(file());
    FAIL();
  } catch (const DatabaseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("schema 999"));
  }
}

TEST(StoreFile, ThatIsNoDatabaseIsRefusedAndLeftAsItWas) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const auto file = folder.path() / "batch.sqlite";
  const std::string text(4096, 'x');
  write_file_atomically(file, text);
  EXPECT_THROW(Store{file}, DatabaseError);
  EXPECT_EQ(read_file(file), text);
}

}  // namespace
}  // namespace rooflab
