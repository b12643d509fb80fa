#include "grader/batch/batch.h"

#include "grader/batch/class_fixture.h"

namespace rooflab {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ClassFixture, EverySubmissionIsGraded) {
  hand_in("ada", "xxxxx xxxxx");
  hand_in("bob", "xx");
  const BatchSummary summary = run();
  EXPECT_EQ(summary.submitted, 2U);
  EXPECT_EQ(summary.faults, 0U);
  EXPECT_THAT(grades(), ElementsAre("ada|10", "bob|2"));
  EXPECT_THAT(listener_.lines,
              Contains(HasSubstr("bob: part 1: 2 of 10 points: count wrong-answer")));
  EXPECT_FALSE(std::filesystem::exists(out() / "work"));
}

TEST_F(ClassFixture, EqualSubmissionsAreGradedOnceAndDifferentOnesNeverShare) {
  hand_in("ada", "xx");
  hand_in("bob", "xx");
  hand_in("eve", "xx ");
  run();
  EXPECT_EQ(executor_.graded(), 2);
  EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|2", "eve|2"));
  EXPECT_EQ(query("SELECT DISTINCT grading FROM grades", 1).size(), 2U);
}

TEST_F(ClassFixture, RunAgainNothingIsGradedAgain) {
  hand_in("ada", "xx");
  run();
  BatchRequest again;
  again.out = out();
  EXPECT_FALSE(run(again).stopped);
  EXPECT_EQ(executor_.graded(), 1);
}

TEST_F(ClassFixture, GoesOnWhereItWasInterrupted) {
  for (const char* who : {"ada", "bob", "eve", "dan"}) hand_in(who, std::string("x") + who);
  executor_.end_after(2);
  EXPECT_TRUE(run().stopped);
  EXPECT_EQ(query("SELECT name FROM gradings WHERE state = 'pending'", 1).size(), 2U);
  executor_.end_after(-1);
  EXPECT_FALSE(run().stopped);
  EXPECT_EQ(executor_.graded(), 4);
  EXPECT_THAT(grades(), ElementsAre("ada|1", "bob|1", "dan|1", "eve|1"));
}

TEST_F(ClassFixture, AResultThatWasThereBeforeTheInterruptionIsUsed) {
  hand_in("ada", "xxx");
  executor_.end_after(0);
  run();
  const std::string name = query("SELECT name FROM gradings", 1).at(0);
  GradeResult result;
  result.tasks.resize(1);
  result.tasks[0].score = 9;
  write_result(out() / "work" / name, result, "a100");
  class Importing : public Executor {
    void run(const std::vector<Job>& jobs, const std::function<void(const JobEnd&)>& ended,
             const std::function<bool()>& /*idle*/) override {
      for (const Job& job : jobs) ended({.name = job.name, .done = has_result(job), .why = {}});
    }
  } importing;
  Batch(request()).run(
      course_,
      {.unpacker = {}, .gpu_specs = std::filesystem::path(ROOFLAB_SOURCE_DIR) / "specs/gpus"},
      importing, listener_);
  EXPECT_THAT(grades(), ElementsAre("ada|9"));
}

TEST_F(ClassFixture, AWorkerThatDiesIsTriedAgain) {
  hand_in("ada", "xx");
  executor_.die_of("xx", 2);
  EXPECT_EQ(run().faults, 0U);
  EXPECT_THAT(grades(), ElementsAre("ada|2"));
}

TEST_F(ClassFixture, WhatTheGraderFailsAtIsNeverAZeroAndCanBeMended) {
  hand_in("ada", "xx");
  hand_in("bob", "xxx");
  executor_.die_of("xx", 3);
  executor_.fault_at("xxx", 3);
  EXPECT_EQ(run().faults, 2U);
  EXPECT_THAT(
      query("SELECT state, score IS NULL OR name IN (SELECT grading FROM evidence) FROM gradings",
            2),
      ElementsAre("fault|1", "fault|1"));
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("ended by SIGKILL")));
  const std::string table = read_file(out() / "grades.csv");
  EXPECT_THAT(table, HasSubstr("fault"));

  run();
  EXPECT_THAT(query("SELECT state FROM gradings", 1), ElementsAre("fault", "fault"));
  BatchRequest again = request();
  again.regrade = {"failed"};
  EXPECT_EQ(run(again).faults, 0U);
  EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|3"));
}

TEST_F(ClassFixture, AGradeGivenAgainStandsBesideTheOldOne) {
  hand_in("ada", "xx");
  hand_in("bob", "xx");
  run();
  BatchRequest again = request();
  again.regrade = {"ada"};
  run(again);
  EXPECT_EQ(executor_.graded(), 2);
  EXPECT_THAT(query("SELECT submission, revision FROM grades ORDER BY 1, 2", 2),
              ElementsAre("ada|1", "ada|2", "bob|1"));
}

TEST_F(ClassFixture, RegradingSomebodyWhoIsNotThereIsRefused) {
  hand_in("ada", "xx");
  run();
  BatchRequest again = request();
  again.regrade = {"adda"};
  EXPECT_THAT(complaint([&] { run(again); }), HasSubstr("--regrade adda: no submission"));
  EXPECT_THAT(grades(), ElementsAre("ada|2"));
}

TEST_F(ClassFixture, AChangedSubmissionKeepsItsGradeUntilItIsAskedFor) {
  hand_in("ada", "xx");
  run();
  hand_in("ada", "xxx");
  EXPECT_EQ(run().outdated, 1U);
  EXPECT_THAT(grades(), ElementsAre("ada|2"));
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("--regrade changed")));
  BatchRequest again = request();
  again.regrade = {"changed"};
  EXPECT_EQ(run(again).outdated, 0U);
  EXPECT_THAT(grades(), ElementsAre("ada|3"));
}

TEST_F(ClassFixture, AChangedPartMakesEveryGradeOutdated) {
  hand_in("ada", "xx");
  run();
  course_.versions[1] = "rooflab 2";
  EXPECT_EQ(run().outdated, 1U);
  BatchRequest again = request();
  again.regrade = {"changed"};
  run(again);
  EXPECT_THAT(
      query("SELECT versions FROM grades JOIN gradings ON name = grading ORDER BY revision", 1),
      ElementsAre("rooflab 1", "rooflab 2"));
}

TEST_F(ClassFixture, ASubmissionThatChangedBeforeItWasGradedIsGradedAsItIsNow) {
  hand_in("ada", "xx");
  executor_.end_after(0);
  run();
  hand_in("ada", "xxxx");
  executor_.end_after(-1);
  run();
  EXPECT_EQ(executor_.graded(), 1);
  EXPECT_THAT(grades(), ElementsAre("ada|4"));
}

TEST_F(ClassFixture, TheRosterTellsWhoIsMissingAndWhoIsUnknown) {
  hand_in("ada", "xx");
  hand_in("mallory", "xxx");
  BatchRequest with_roster = request();
  with_roster.roster = file("roster.csv", "id,name,login\n1,Ada,ada\n2,Bob,bob\n");
  const BatchSummary summary = run(with_roster);
  EXPECT_EQ(summary.students, 2U);
  EXPECT_EQ(summary.submitted, 1U);
  EXPECT_EQ(summary.strangers, 1U);
  EXPECT_EQ(summary.problems, 1U);
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("mallory: nobody on the roster fits")));
  EXPECT_THAT(grades(), ElementsAre("1|2", "unknown mallory|3"));
}

TEST_F(ClassFixture, ASubmissionThatClaimsToBeAnothersTakesNobodysPlace) {
  hand_in("ada", "xx");
  hand_in("zoe", "xxxxx");
  file("submissions/zoe/student.toml", "id = \"ada\"");
  BatchRequest with_roster = request();
  with_roster.roster = file("roster.csv", "id,name\nada,Ada\n");
  EXPECT_EQ(run(with_roster).problems, 1U);
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("ada: zoe says, in a file of its own")));
  EXPECT_THAT(grades(), ElementsAre("ada|2"));
}

TEST_F(ClassFixture, ABadRosterIsRefusedBeforeAnythingIsWritten) {
  hand_in("ada", "xx");
  BatchRequest bad = request();
  bad.roster = file("roster.csv", "colour,shape\nred,round\n");
  EXPECT_NE(complaint([&] { run(bad); }), "");
  EXPECT_THAT(query("SELECT name FROM settings", 1), IsEmpty());
}

TEST_F(ClassFixture, PointsGivenByHandSurviveEveryRegrade) {
  hand_in("ada", "xx");
  hand_in("ada", "why = \"since \\\"=1+1\\\"\"\n", "answers.toml");
  run();
  EXPECT_THAT(read_file(out() / "free_text.csv"), HasSubstr("ada,1,why,,4"));
  BatchRequest with_points = request();
  with_points.manual = file("points.csv", "student,part,item,points,by\nada,1,why,3,ta\n");
  run(with_points);
  BatchRequest again = request();
  again.regrade = {"ada"};
  run(again);
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",,5,14,5,0,"))
      << "nothing pending, total 5 of 14, 5 before, no change: points by hand are in both";
  EXPECT_THAT(query("SELECT student, cast(points AS INTEGER) FROM manual_points", 2),
              ElementsAre("ada|3"));
  EXPECT_THAT(read_file(out() / "free_text.csv"), HasSubstr("ada,1,why,3,4"));
}

TEST_F(ClassFixture, PeopleReadTextsWhateverTheirQuotesAndTheFileAsItWasHandedIn) {
  const std::string raw = "why = \"\"\"it's \"hot\"\n59 % of it\n";
  hand_in("ada", raw, "answers.toml");
  run();
  EXPECT_THAT(read_file(out() / "free_text.csv"), HasSubstr("it's \"\"hot\"\"\n59 % of it"));
  EXPECT_EQ(read_file(out() / "answers/ada-part1-answers.toml"), raw);
}

// What is longer, spreadsheets cut without a word, and Python's reader refuses.
TEST_F(ClassFixture, AnAnswerIsNoLongerInTheTableThanACellMayBe) {
  hand_in("ada", "why = \"" + std::string(100'000, 'w') + "\"\n", "answers.toml");
  hand_in("bob", "why = \"" + std::string(10'000, 'w') + "\"\n", "answers.toml");
  run();
  const std::string table = read_file(out() / "free_text.csv");
  EXPECT_THAT(table, HasSubstr(std::string(10'000, 'w') + "\r\n"));
  EXPECT_THAT(table, HasSubstr("(cut here: see the file in answers/)"));
  EXPECT_LT(table.size(), 30'000U);
  EXPECT_THAT(read_file(out() / "answers" / "ada-part1-answers.toml"),
              HasSubstr(std::string(100'000, 'w')));
}

TEST_F(ClassFixture, ABlankAnswerDoesNotWaitForALineThatBelongsElsewhere) {
  hand_in("ada", "oops\nwhy = \"\"\n", "answers.toml");
  hand_in("bob", "why = \nbecause of it\n", "answers.toml");
  run();
  const std::string table = read_file(out() / "free_text.csv");
  EXPECT_THAT(table, HasSubstr("ada,1,why,,4,,,nothing written,"));
  EXPECT_THAT(table, HasSubstr("bob,1,why,,4,,,pending,"));
}

TEST_F(ClassFixture, TextsAreThoseThatTheWorkerReadAndWaitWhereItDidNot) {
  hand_in("ada", "why = \"since\"\n", "answers.toml");
  run();
  // As a grader of before kept it.
  Database(out() / "batch.sqlite").execute("UPDATE hand_questions SET answer = NULL");
  run();
  EXPECT_THAT(read_file(out() / "free_text.csv"),
              AllOf(HasSubstr("ada,1,why,,4,,,pending,"), HasSubstr("see the file in answers/")));
}

TEST_F(ClassFixture, OneWrongRowOfPointsKeepsAllOfThemOut) {
  hand_in("ada", "xx");
  run();
  for (const char* row : {"bob,1,why,3", "ada,7,why,3", "ada,1,,3", "ada,1,why,many", "ada,1,why,5",
                          "ada,1,why,nan", "ada,1,why,-1"}) {
    BatchRequest with_points = request();
    with_points.manual =
        file("points.csv", std::string("student,part,item,points\nada,1,other,1\n") + row + "\n");
    EXPECT_THAT(complaint([&] { run(with_points); }), HasSubstr("points.csv, row 3")) << row;
    EXPECT_THAT(query("SELECT item FROM manual_points", 1), IsEmpty()) << row;
  }
}

TEST_F(ClassFixture, TwoBatchesDoNotShareAFolder) {
  hand_in("ada", "xx");
  const Batch first(request());
  EXPECT_THAT(complaint([&] { Batch second(request()); }), HasSubstr("another batch is at work"));
}

TEST_F(ClassFixture, AFolderThatCannotBeWrittenToIsRefused) {
  BatchRequest bad = request();
  bad.out = file("taken", "") / "out";
  EXPECT_THAT(complaint([&] { Batch batch(bad); }), HasSubstr("name a folder with --out"));
}

TEST_F(ClassFixture, AnotherDeviceOrSeedIsRefused) {
  hand_in("ada", "xx");
  run();
  BatchRequest other = request();
  other.device = "sim:t4";
  EXPECT_THAT(complaint([&] { run(other); }), HasSubstr("is graded on sim:a100"));
  other = request();
  other.seed = 8;
  EXPECT_THAT(complaint([&] { run(other); }), HasSubstr("has the seed 7"));
}

TEST_F(ClassFixture, ResumingWhatNeverBeganIsRefused) {
  BatchRequest bad = request();
  bad.resume = true;
  EXPECT_THAT(complaint([&] { run(bad); }), HasSubstr("leave out --resume"));
}

TEST_F(ClassFixture, WhatAKilledBatchWasWritingIsRemoved) {
  hand_in("ada", "xx");
  run();
  const std::vector<std::string> left = {"class.html.unfinished-a1B2c3",
                                         "feedback/ada.html.unfinished-a1B2c3"};
  const std::vector<std::string> others = {"notes.unfinished-by-me", "class.html.bak"};
  for (const auto& name : left) write_file_atomically(out() / name, "half");
  for (const auto& name : others) write_file_atomically(out() / name, "mine");
  run();
  for (const auto& name : left) EXPECT_FALSE(std::filesystem::exists(out() / name)) << name;
  for (const auto& name : others) EXPECT_TRUE(std::filesystem::exists(out() / name)) << name;
}

TEST_F(ClassFixture, StudentsWhoHandedInTogetherAreGradedTogether) {
  write_file_atomically(submissions() / "submission_1" / "part1-test" / "a.cu", "xxx");
  write_file_atomically(submissions() / "submission_metadata.yml",
                        "submission_1:\n  :submitters:\n  - :name: Ada\n    :sid: '1'\n"
                        "  - :name: Bob\n    :sid: '2'\n  - :name: Eve\n    :sid: '9'\n"
                        "  :created_at: 2026-11-21 12:00:00.000000000 Z\n");
  BatchRequest with_roster = request();
  with_roster.roster = file("roster.csv", "id,name\n1,Ada\n2,Bob\n");
  EXPECT_EQ(run(with_roster).problems, 1U) << "Eve is not on the roster";
  EXPECT_EQ(executor_.graded(), 1);
  EXPECT_THAT(grades(), ElementsAre("1|3", "2|3", "unknown submission_1~3|3"));
}

TEST_F(ClassFixture, AFileOfAGroupInCanvasIsEachOfItsMembers) {
  write_file_atomically(submissions() / "group3_LATE_77_9001_a.cu", "xxx");
  write_file_atomically(submissions() / "group4_78_9002_a.cu", "xx");
  BatchRequest with_roster = request();
  with_roster.roster = file("roster.csv", "id,name,group\n1,Ada,Group 3\n2,Bob,Group 3\n3,Eve,\n");
  EXPECT_EQ(run(with_roster).problems, 1U) << "nobody is in group 4";
  EXPECT_EQ(executor_.graded(), 2);
  EXPECT_THAT(grades(), ElementsAre("1|3", "2|3", "unknown group4_78|2"));
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("have a column `group` in the roster")));
}

TEST_F(ClassFixture, AnExtensionForNobodyInTheClassIsTold) {
  hand_in("ada", "xx");
  BatchRequest late = request();
  late.policy = file("late.toml",
                     "due = 2026-11-21T00:00:00Z\n[[extension]]\nstudent = \"adda\"\n"
                     "due = 2026-12-21T00:00:00Z\n[[step]]\nkeeps = 0.5\n");
  run(late);
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("extension for adda")));
}

TEST_F(ClassFixture, LatenessTakesItsPartOfThePoints) {
  hand_in_on_21_november();
  BatchRequest late = request();
  late.policy =
      file("late.toml", "due = 2026-11-21T00:00:00Z\n[[step]]\nafter_hours = 0\nkeeps = 0.5\n");
  run(late);
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",graded,10,10,0,0.5,"));
}

TEST_F(ClassFixture, SlipDaysGiveThePointsBackAndAreKeptForTheNextBatch) {
  hand_in_on_21_november();
  const std::string due = "due = 2026-11-21T00:00:00Z\n[[step]]\nafter_hours = 0\nkeeps = 0.5\n";
  BatchRequest late = request();
  late.policy = file("late.toml", due + "[slip_days]\neach = 2\n");
  run(late);
  EXPECT_THAT(read_file(out() / "grades.csv"),
              AllOf(HasSubstr(",graded,10,10,0,1,"), HasSubstr("1 slip day spent, 1 left")));
  const std::string spent = read_file(out() / "slip_days.toml");
  EXPECT_THAT(spent, AllOf(HasSubstr("[[slip_days.spent]]"), HasSubstr("days = 1")));
  // What was written is what the next policy reads, here with nothing left.
  late.policy = file("next.toml", due + "[slip_days]\neach = 1\n" + spent);
  run(late);
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",graded,10,10,0,0.5,"));
}

TEST_F(ClassFixture, SlipDaysSpentByNobodyInTheClassAreTold) {
  hand_in("ada", "xx");
  BatchRequest late = request();
  late.policy = file("late.toml",
                     "due = 2026-11-21T00:00:00Z\n[[step]]\nkeeps = 0.5\n[slip_days]\neach = 2\n"
                     "[[slip_days.spent]]\nstudent = \"adda\"\ndays = 1\n");
  run(late);
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("adda")));
}

TEST_F(ClassFixture, TheCalendarSaysWhenAPartIsDueAndIsKept) {
  hand_in_on_21_november();
  BatchRequest late = request();
  late.policy = file("late.toml", "[[step]]\nafter_hours = 0\nkeeps = 0.5\n");
  late.due[1] = moment_of("2026-11-21T00:00:00Z", "test");
  run(late);
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",graded,10,10,0,0.5,"));
  BatchRequest again;
  again.out = out();
  run(again);
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",graded,10,10,0,0.5,"))
      << "a course without a calendar changes nothing";
  BatchRequest extended;
  extended.out = out();
  extended.due[1] = moment_of("2026-11-22T00:00:00Z", "test");
  run(extended);
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",graded,10,10,0,1,"));
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("the due date of part 1 is \"2026-11-22T00")));
}

}  // namespace
}  // namespace rooflab
