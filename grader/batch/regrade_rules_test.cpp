#include <algorithm>

#include "grader/batch/class_fixture.h"

/// `grader batch --regrade RULE`, and which grade counts then.
namespace rooflab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RegradeTest : public ClassFixture {
 protected:
  RegradeTest() {
    hand_in("ada", "xxxxxxxxxx");  // 10 of 10
    hand_in("bob", "xx");
    hand_in("eve", "xxx");
    run();
  }

  /// How many gradings a batch with this rule makes.
  int regrade(const std::vector<std::string>& rules) {
    const int before = executor_.graded();
    BatchRequest again = request();
    again.regrade = rules;
    listener_.lines.clear();
    run(again);
    return executor_.graded() - before;
  }
  /// Who has a second grade.
  std::vector<std::string> regraded() const {
    return query(
        "SELECT student FROM submissions JOIN grades ON id = submission WHERE revision = 2 ORDER "
        "BY student",
        1);
  }
  std::string refusal(const std::string& rule) {
    return complaint([&] { regrade({rule}); });
  }
};

TEST_F(RegradeTest, ThoseWhoLostPointsInATask) {
  EXPECT_EQ(regrade({"lost=count"}), 2);
  EXPECT_THAT(regraded(), ElementsAre("bob", "eve"));
}

TEST_F(RegradeTest, ThoseWhoseTaskWasGraded) {
  EXPECT_EQ(regrade({"task=count"}), 3);
  EXPECT_EQ(regrade({"task=answers"}), 0) << "nobody's evidence has it";
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("--regrade task=answers matches no grade")));
}

TEST_F(RegradeTest, ThoseWithACode) {
  executor_.report("xxx", "RL0305");
  hand_in("fay", "xxxx");
  hand_in("gil", "axxx");  // has "xxx" in it as well
  run();
  regrade({"code=RL0305"});
  EXPECT_THAT(regraded(), ElementsAre("fay", "gil"));
}

TEST_F(RegradeTest, ConditionsWithCommasAreForThoseThatAllFit) {
  EXPECT_EQ(regrade({"lost=count,student=bob"}), 1);
  EXPECT_THAT(regraded(), ElementsAre("bob"));
  EXPECT_EQ(regrade({"student=eve,lost=count"}), 1);
  EXPECT_EQ(regrade({"lost=count,part=1,student=ada"}), 0) << "ada lost nothing";
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("matches no grade of the class")));
}

TEST_F(RegradeTest, SeveralRulesAreForThoseThatAnyFits) {
  EXPECT_EQ(regrade({"ada", "lost=count"}), 3);
}

TEST_F(RegradeTest, ThoseThatAnotherVersionGraded) {
  course_.versions[1] = "rooflab 1 (grader 1, part 2, hidden 3), CUDA 13.0";
  EXPECT_EQ(regrade({"version=hidden"}), 3) << "an older grader says nothing of its version";
  course_.versions[1] = "rooflab 1 (grader 1, part 2, hidden 4), CUDA 13.0";
  EXPECT_EQ(regrade({"version=part"}), 0);
  EXPECT_THAT(listener_.lines, AllOf(Contains(HasSubstr("--regrade version=part matches no grade")),
                                     Contains(HasSubstr("bob, part 1: changed since"))));
  EXPECT_EQ(regrade({"version=hidden,student=bob"}), 1);
  EXPECT_EQ(regrade({"version=hidden"}), 2) << "bob has the present version";
}

TEST_F(RegradeTest, ARuleThatMatchesNobodySaysSo) {
  EXPECT_EQ(regrade({"failed"}), 0);
  EXPECT_THAT(listener_.lines,
              Contains("--regrade failed matches no grade of the class; nothing is "
                       "graded again for it"));
}

TEST_F(RegradeTest, ATypoIsToldWithWhatThereIs) {
  EXPECT_THAT(refusal("lost=cuont"), AllOf(HasSubstr("no task cuont; did you mean count?"),
                                           HasSubstr("there are count, answers")));
  EXPECT_THAT(refusal("part=7"), HasSubstr("there is no part 7; there are 1"));
  EXPECT_THAT(refusal("code=RL9"), HasSubstr("there is no such code"));
  EXPECT_THAT(refusal("version=hiden"), HasSubstr("there are grader, part, hidden"));
  EXPECT_THAT(refusal("los=count"), AllOf(HasSubstr("no submission of the class is by that name"),
                                          HasSubstr("lost=TASK")));
  EXPECT_THAT(refusal("lost=count,bbo"), HasSubstr("no submission of the class is by that name"));
  EXPECT_THAT(refusal(""), HasSubstr("write a student"));
  EXPECT_THAT(regraded(), IsEmpty());
}

TEST_F(RegradeTest, AStudentWhoIsCalledLikeARuleIsNamedByStudent) {
  hand_in("lost=count", "x");
  run();
  regrade({"lost=count"});
  EXPECT_THAT(regraded(), ElementsAre("bob", "eve", "lost=count")) << "they lost points as well";
  EXPECT_EQ(regrade({"student=lost=count"}), 1);
}

TEST_F(RegradeTest, ANameMayHaveCommas) {
  hand_in("Lovelace, Ada", "x");
  run();
  EXPECT_EQ(regrade({"Lovelace, Ada"}), 1);
}

TEST_F(RegradeTest, EvidenceThatCannotBeReadIsToldAndStopsNobodyElse) {
  Database(out() / "batch.sqlite")
      .execute(
          "UPDATE evidence SET evidence = '{' WHERE grading IN (SELECT name FROM gradings "
          "WHERE score = 2)");
  // The outputs say it of the grading that stays.
  EXPECT_THAT(refusal("lost=count"), HasSubstr("this is no evidence of a grade"));
  EXPECT_THAT(regraded(), ElementsAre("eve"));
  EXPECT_THAT(listener_.lines,
              Contains(HasSubstr("bob, part 1: no rule of --regrade about tasks")));
}

/// Points of bob in grades.csv, with what it says of the regrade.
class CountedTest : public RegradeTest {
 protected:
  /// Bob, who has 2 points, gets so many by a regrade.
  void regrade_to(int points, const BatchRequest& asked) {
    executor_.give("xx", points);
    BatchRequest again = asked;
    again.regrade = {"bob"};
    run(again);
  }
  BatchRequest with_best() const {
    BatchRequest best = request();
    best.regrade_counts = "best";
    return best;
  }
  std::string output(const std::string& name) const { return read_file(out() / name); }
};

TEST_F(CountedTest, TheLatestGradeCountsUnlessSomebodyChoosesOtherwise) {
  regrade_to(1, request());
  EXPECT_THAT(output("grades.csv"), HasSubstr(",\"regraded, was 2\","));
  EXPECT_THAT(output("feedback/bob.html"), HasSubstr("in all 1 of 14; regraded, was 2."));
}

TEST_F(CountedTest, TheBestOfBothCountsWhereThatIsChosenAndStaysChosen) {
  regrade_to(1, with_best());
  const std::string words = "in all 2 of 14; regraded to 1, but the earlier grade counts";
  EXPECT_THAT(output("feedback/bob.html"), HasSubstr(words));
  EXPECT_THAT(output("moodle.csv"), Not(HasSubstr("regraded"))) << "bob is on no roster";
  run();
  EXPECT_THAT(output("feedback/bob.html"), HasSubstr(words)) << "a later command leaves it out";
  BatchRequest latest = request();
  latest.regrade_counts = "latest";
  listener_.lines.clear();
  run(latest);
  EXPECT_THAT(output("feedback/bob.html"), HasSubstr("in all 1 of 14; regraded, was 2"));
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("after a regrade is \"latest\" from now on")));
}

TEST_F(CountedTest, TheBetterRegradeCountsWithBestToo) {
  regrade_to(5, with_best());
  EXPECT_THAT(output("feedback/bob.html"), HasSubstr("in all 5 of 14; regraded, was 2"));
  regrade_to(4, with_best());
  EXPECT_THAT(output("feedback/bob.html"), HasSubstr("in all 5 of 14; regraded to 4"));
}

TEST_F(CountedTest, ThePolicyMayChooseAndACommandOverridesIt) {
  BatchRequest by_policy = request();
  by_policy.policy = file("policy.toml",
                          "due = 2036-11-20T23:59:00Z\nregrade_counts = \"best\"\n[[step]]\n"
                          "after_hours = 0\nkeeps = 1\n");
  regrade_to(1, by_policy);
  EXPECT_THAT(output("feedback/bob.html"), HasSubstr("in all 2 of 14; regraded to 1"));
  BatchRequest latest = request();
  latest.regrade_counts = "latest";
  run(latest);
  EXPECT_THAT(output("feedback/bob.html"), HasSubstr("in all 1 of 14; regraded, was 2"));
}

TEST_F(CountedTest, WhatWasHandedInAgainIsNoRegrade) {
  hand_in("bob", "x");
  BatchRequest again = with_best();
  again.regrade = {"changed"};
  run(again);
  EXPECT_THAT(output("feedback/bob.html"), HasSubstr("in all 1 of 14; regraded, was 2"))
      << "the best of other files does not count";
}

TEST_F(CountedTest, ARegradeThatTheGraderFailedAtHasNoScore) {
  executor_.fault_at("xx", 3);
  BatchRequest again = with_best();
  again.regrade = {"bob"};
  EXPECT_EQ(run(again).faults, 1U);
  EXPECT_THAT(output("grades.csv"), HasSubstr("bob,bob,,bob,,,no,1,Test,fault,,10,"));
}

}  // namespace
}  // namespace rooflab
