#include "grader/batch/batch.h"
#include "grader/batch/class_fixture.h"

/// What later commands find in a batch: its options, maxima, answers that wait, hidden evidence.
namespace rooflab {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(ClassFixture, OptionsThatNameColumnsAreKeptUntilTheyAreGivenAnew) {
  hand_in("ada", "xx");
  BatchRequest first = request();
  first.roster = file("roster.csv", "id,name\nada,Ada\n");
  first.assignment = "Lab";
  first.canvas_assignments = {{1, "48213"}};
  first.leaderboard = true;
  run(first);
  BatchRequest later;
  later.out = out();
  run(later);
  EXPECT_THAT(read_file(out() / "canvas.csv"), HasSubstr(",Lab part 1 (48213)\r\n"));
  EXPECT_THAT(read_file(out() / "class.html"), HasSubstr("id=\"leaderboard\""));
  EXPECT_THAT(listener_.lines, Not(Contains(HasSubstr("from now on"))));

  later.assignment = "Labs of autumn";
  later.leaderboard = false;
  run(later);
  EXPECT_THAT(read_file(out() / "canvas.csv"), HasSubstr(",Labs of autumn part 1 (48213)\r\n"));
  EXPECT_THAT(read_file(out() / "class.html"), Not(HasSubstr("id=\"leaderboard\"")));
  EXPECT_THAT(listener_.lines,
              Contains("the assignment is \"Labs of autumn\" from now on, and was \"Lab\""));
}

TEST_F(ClassFixture, AnAssignmentOfAPartThatIsNotGradedIsRefused) {
  hand_in("ada", "xx");
  BatchRequest wrong = request();
  wrong.canvas_assignments = {{7, "48213"}};
  EXPECT_THAT(complaint([&] { run(wrong); }), HasSubstr("part 7 is none that this batch grades"));
}

TEST_F(ClassFixture, WithoutANewPolicyTheKeptOneHoldsAndAnEmptyOneIsRefused) {
  write_file_atomically(submissions() / "lovelaceada_LATE_12_34_a.cu", "xxxxxxxxxx");
  BatchRequest late = request();
  late.policy = file("late.toml",
                     "due = 2026-11-21T00:00:00Z\nmarked_late_hours = 5\n[[step]]\n"
                     "after_hours = 0\nkeeps = 0.5\n");
  run(late);
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",10,10,0,0.5,"));
  run();
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",10,10,0,0.5,"));
  late.policy = file("empty.toml", "");
  EXPECT_THAT(complaint([&] { run(late); }), HasSubstr("says of nothing when it is due"));
  run();
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",10,10,0,0.5,"));
}

TEST_F(ClassFixture, TheMaximumIsThatOfTheRecordedGrading) {
  hand_in("ada", "xxxxxxxxxx");
  hand_in("bob", "xx");
  BatchRequest with_roster = request();
  with_roster.roster = file("roster.csv", "id,name\nada,Ada\nbob,Bob\n");
  run(with_roster);
  course_.parts[0].tasks[0].points = 9;  // part.toml was changed, and nothing is graded again
  course_.versions[1] = "rooflab 2";
  run();
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",graded,10,10,0,1,,0,4,,10,14,"));
  EXPECT_THAT(read_file(out() / "canvas.csv"), HasSubstr("\"    Points Possible\",,,,,14\r\n"));
  for (const char* page :
       {"class.html", "feedback/ada.html", "moodle.csv", "gradescope/ada.json"}) {
    EXPECT_THAT(read_file(out() / page),
                HasSubstr(std::string(page).ends_with(".csv") ? ",14," : "14"));
    EXPECT_THAT(read_file(out() / page), Not(HasSubstr("of 13"))) << page;
  }
  EXPECT_THAT(listener_.lines, Not(Contains(HasSubstr("graded with different points"))));

  executor_.be_out_of(9);
  BatchRequest again = request();
  again.regrade = {"bob"};
  run(again);
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",graded,10,10,0,1,,0,4,,10,14,"));
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",graded,2,9,0,1,,0,4,,2,13,"));
  EXPECT_THAT(read_file(out() / "canvas.csv"), HasSubstr("\"    Points Possible\",,,,,14\r\n"));
  const auto told = HasSubstr("1 student out of 13, 1 student out of 14; --regrade changed");
  EXPECT_THAT(listener_.lines, Contains(told));
  EXPECT_THAT(read_file(out() / "class.html"), told);
}

TEST_F(ClassFixture, FreeTextIsOutOfWhatItWasWhenItWasGraded) {
  hand_in("ada", "xx");
  hand_in("ada", "why = \"since\"\n", "answers.toml");
  run();
  course_.parts[0].tasks[1].questions[0].points = 2;
  BatchRequest with_points = request();
  with_points.manual = file("points.csv", "student,part,item,points\nada,1,why,3\n");
  run(with_points);
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",3,4,,5,14,"));
  EXPECT_THAT(listener_.lines, Not(Contains(HasSubstr("points were given by hand"))));
  with_points.manual.clear();
  with_points.regrade = {"ada"};
  run(with_points);
  EXPECT_THAT(listener_.lines,
              Contains(HasSubstr("part 1, why: 3 points were given by hand, of 2 that there are")));
}

TEST_F(ClassFixture, FreeTextThatNobodyHasGradedIsPendingEverywhere) {
  hand_in("ada", "xx");
  hand_in("ada", "why = \"since\"\n", "answers.toml");
  hand_in("bob", "xxx");
  hand_in("bob", "why = \"\"\n", "answers.toml");
  BatchRequest with_roster = request();
  with_roster.roster = file("roster.csv", "id,name\nada,Ada\nbob,Bob\n");
  EXPECT_EQ(run(with_roster).pending, 1U) << "bob wrote nothing, so there is nothing to read";
  EXPECT_THAT(read_file(out() / "canvas.csv"), HasSubstr("Ada,,ada,,,\r\nBob,,bob,,,3\r\n"));
  const std::string grades = read_file(out() / "grades.csv");
  EXPECT_THAT(grades, HasSubstr(",pending,2,10,0,1,,0,4,why,,14,"));
  EXPECT_THAT(grades, HasSubstr(",graded,3,10,0,1,,0,4,,3,14,"));
  EXPECT_THAT(read_file(out() / "moodle.csv"), HasSubstr("Ada,,,14,,,"));
  const std::string json = read_file(out() / "gradescope" / "ada.json");
  EXPECT_THAT(json, Not(HasSubstr("\n  \"score\"")));
  EXPECT_THAT(json, HasSubstr("\"pending\""));
  EXPECT_THAT(read_file(out() / "gradescope" / "bob.json"), HasSubstr("\n  \"score\": 3"));
  const std::string page = read_file(out() / "class.html");
  EXPECT_THAT(page, HasSubstr("1 answer waits for a person"));
  EXPECT_THAT(page, HasSubstr("part 1, why: the answer waits for a person"));
  EXPECT_THAT(page, Not(HasSubstr("Nothing needs to be looked at")));
  EXPECT_THAT(read_file(out() / "feedback/ada.html"), HasSubstr("the total is not final"));
  EXPECT_THAT(read_file(out() / "free_text.csv"), HasSubstr("ada,1,why,,4,,,pending,"));

  BatchRequest with_points = request();
  with_points.manual =
      file("points.csv", "\xEF\xBB\xBFStudent;Part;Item;Points\r\nada;1;why;2,5\r\n");
  EXPECT_EQ(run(with_points).pending, 0U);
  EXPECT_THAT(read_file(out() / "canvas.csv"), HasSubstr("Ada,,ada,,,4.5\r\n"));
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",graded,2,10,0,1,,2.5,4,,4.5,14,"));
  EXPECT_THAT(read_file(out() / "gradescope" / "ada.json"), HasSubstr("\n  \"score\": 4.5"));
}

TEST_F(ClassFixture, WhatAnInterruptionLeftIsNotGradedYetAndNoFault) {
  hand_in("ada", "xx");
  hand_in("bob", "xxx");
  BatchRequest with_roster = request();
  with_roster.roster = file("roster.csv", "id,name\nada,Ada\nbob,Bob\n");
  executor_.end_after(0);
  const BatchSummary summary = run(with_roster);
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(summary.ungraded, 2U);
  EXPECT_EQ(summary.faults, 0U);
  EXPECT_EQ(summary.problems, 0U);
  EXPECT_THAT(read_file(out() / "grades.csv"), HasSubstr(",not-graded-yet,,10,"));
  EXPECT_THAT(read_file(out() / "canvas.csv"), HasSubstr("Ada,,ada,,,\r\n"));
  for (const char* page : {"class.html", "feedback/ada.html", "gradescope/ada.json"}) {
    EXPECT_THAT(read_file(out() / page), HasSubstr("not graded yet")) << page;
    EXPECT_THAT(read_file(out() / page), Not(HasSubstr("failed"))) << page;
  }
}

TEST_F(ClassFixture, HiddenCasesAreKeptWholeForInstructorsAndInNothingOfAStudents) {
  hand_in("ada", "xx");
  hand_in("bob", "xxxxxxxxxx");
  run();
  const std::string secret = "expected 41.75, got 13.5 at [127, 3]";
  EXPECT_THAT(read_file(out() / "hidden_cases.csv"), HasSubstr(secret));
  EXPECT_THAT(read_file(out() / "hidden_cases.csv"), Not(HasSubstr("bob")));
  EXPECT_EQ(query("SELECT grading FROM evidence WHERE revealed LIKE '%" + secret + "%'", 1).size(),
            1U);
  EXPECT_THAT(query("SELECT grading FROM evidence WHERE evidence LIKE '%41.75%'", 1), IsEmpty());
  std::size_t searched = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out())) {
    const std::string name = entry.path().filename();
    if (!entry.is_regular_file() || name == "hidden_cases.csv" || name == "batch.sqlite") continue;
    ++searched;
    for (const char* part : {"41.75", "127", "edge of the tile"}) {
      EXPECT_THAT(read_file(entry.path()), Not(HasSubstr(part))) << entry.path();
    }
  }
  EXPECT_GE(searched, 9U);
}

TEST_F(ClassFixture, HiddenCasesThatAnotherVersionKeptDoNotStopTheOutputs) {
  hand_in("ada", "xx");
  run();
  Database(out() / "batch.sqlite").execute("UPDATE evidence SET revealed = '{}'");
  run();
  const std::string table = read_file(out() / "hidden_cases.csv");
  EXPECT_THAT(table, HasSubstr("another version of the grader"));
  EXPECT_THAT(table, Not(HasSubstr("RL0901"))) << "that is nobody's fault";
}

TEST_F(ClassFixture, APointsTableThatLostItsQuotesIsRefused) {
  hand_in("ada", "xx");
  run();
  BatchRequest with_points = request();
  with_points.manual =
      file("points.csv", "student,part,item,points,comment\nada,1,other,2,5,good\n");
  EXPECT_THAT(complaint([&] { run(with_points); }),
              HasSubstr("row 2: it has 6 fields, and the first row names 5 columns"));
  with_points.manual = file("points.csv", "student;part;item;score\nada;1;why;2\n");
  EXPECT_THAT(complaint([&] { run(with_points); }),
              HasSubstr("the first row has to name the columns student, part, item and points"));
}

}  // namespace
}  // namespace rooflab
