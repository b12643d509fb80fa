#include "grader/batch/intake/late_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "grader/batch/intake/policy_without.h"
#include "grader/spec/part.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kDue = 1'795'215'540;  // 2026-11-20T22:59:00Z, by `date`
constexpr std::int64_t kHour = 3600;

constexpr const char* kPolicy = R"(
due = 2026-11-20T23:59:00+01:00
grace_minutes = 15
marked_late_hours = 24
[[step]]
after_hours = 0
keeps = 0.9
[[step]]
after_hours = 24
keeps = 0.5
[[step]]
after_hours = 72
keeps = 0
[parts.2]
due = 2026-11-27T23:59:00+01:00
[[extension]]
student = "ada"
due = 2026-11-21T22:59:00Z
[[extension]]
student = "Ada@x.org"
part = 3
due = 2026-11-22T22:59:00Z
)";

std::string late_policy_error(const std::string& text) {
  try {
    LatePolicy::parse(text, "late.toml");
  } catch (const SpecError& error) {
    return error.what();
  }
  return "no error";
}

class LatenessTest : public ::testing::Test {
 protected:
  LatePolicy::Lateness of(std::int64_t seconds_after_due, int part = 1,
                          const std::vector<std::string>& names = {"bob"}) const {
    return policy_.lateness(names, part, kDue + seconds_after_due, false);
  }
  LatePolicy policy_ = LatePolicy::parse(kPolicy, "late.toml");
};

TEST_F(LatenessTest, BeginsAfterTheGrace) {
  for (const std::int64_t seconds :
       {std::int64_t{-1'000'000}, std::int64_t{0}, std::int64_t{900}}) {
    EXPECT_EQ(of(seconds).keeps, 1) << seconds;
    EXPECT_EQ(of(seconds).hours, 0) << seconds;
    EXPECT_EQ(of(seconds).why, "") << seconds;
  }
  EXPECT_EQ(of(901).keeps, 0.9);
}

TEST_F(LatenessTest, IsWhatTheLastStepThatFitsSays) {
  const auto late = of(3 * kHour + 720 + 900);
  EXPECT_DOUBLE_EQ(late.hours, 3.2);
  EXPECT_EQ(late.why, "3.2 hours late: 90 % of the points count");
  EXPECT_EQ(of(900 + 24 * kHour - 1).keeps, 0.9);
  EXPECT_EQ(of(900 + 24 * kHour).keeps, 0.5);
  EXPECT_EQ(of(900 + 72 * kHour).keeps, 0);
  EXPECT_EQ(of(900 + 100 * kHour).why, "100.0 hours late: no points count");
}

TEST_F(LatenessTest, KnowsPartsAndExtensions) {
  EXPECT_EQ(of(7 * 24 * kHour, 2).keeps, 1);
  EXPECT_EQ(of(7 * 24 * kHour + 901, 2).keeps, 0.9);
  EXPECT_EQ(of(24 * kHour, 1, {"ada", "ada@x.org"}).keeps, 1);
  EXPECT_EQ(of(24 * kHour + 901, 1, {"ada", "ada@x.org"}).keeps, 0.9);
  EXPECT_EQ(of(48 * kHour, 3, {"ADA", "ada@x.org"}).keeps, 1);
  EXPECT_EQ(of(48 * kHour, 3, {"ada"}).keeps, 0.9);
  EXPECT_THAT(policy_.named_students(), ElementsAre("ada", "Ada@x.org"));
}

TEST_F(LatenessTest, OfAMarkIsWhatThePolicyTakesItFor) {
  const auto marked = policy_.lateness({"bob"}, 1, {}, true);
  EXPECT_EQ(marked.keeps, 0.5);
  EXPECT_EQ(marked.why, "marked late, taken for 24 hours: 50 % of the points count");
  EXPECT_EQ(policy_.lateness({"ada"}, 1, {}, true).keeps, 1);
  EXPECT_EQ(policy_.lateness({"bob"}, 1, {}, false).keeps, 1);
  EXPECT_EQ(policy_.lateness({"bob"}, 1, kDue, true).keeps, 1);
}

TEST_F(LatenessTest, OfAbsurdTimesIsAnAnswerToo) {
  EXPECT_EQ(policy_.lateness({}, 1, std::numeric_limits<std::int64_t>::max(), false).keeps, 0);
  EXPECT_EQ(policy_.lateness({}, 1, std::numeric_limits<std::int64_t>::min(), false).keeps, 1);
  EXPECT_EQ(LatePolicy().lateness({"bob"}, 1, kDue, false).keeps, 1);
}

TEST(LatePolicy, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(late_policy_error("due = 2026-11-20T23:59:00\n"),
              AllOf(HasSubstr("late.toml:1: "), HasSubstr("names no time zone"),
                    HasSubstr("2026-11-20T23:59:00+01:00")));
  EXPECT_THAT(late_policy_error("\ndue = \"tomorrow\"\n"),
              AllOf(HasSubstr("late.toml:2: "), HasSubstr("a date, a time and a zone")));
  EXPECT_THAT(late_policy_error("due = 2026-11-20\n"), HasSubstr("a date, a time and a zone"));
  EXPECT_THAT(late_policy_error("grace = 5\n"),
              AllOf(HasSubstr("unknown key `grace`"),
                    HasSubstr("after_due, due, extension, grace_minutes, marked_late_hours, parts, "
                              "regrade_counts, slip_days, step, submissions")));
  EXPECT_THAT(late_policy_error("\ngrace_minuts = 5\n"),
              HasSubstr("late.toml:2: late policy: unknown key `grace_minuts`; did you mean "
                        "`grace_minutes`?"));
  EXPECT_THAT(late_policy_error("grace_minutes = -1\n"), HasSubstr("from 0 on"));
  EXPECT_THAT(late_policy_error("grace_minutes = nan\n"), HasSubstr("from 0 on"));
  EXPECT_THAT(late_policy_error("[[step]]\nafter_hours = 1\nkeeps = 90\n"),
              AllOf(HasSubstr("late.toml:3: "), HasSubstr("0.9 keeps 90 %")));
  EXPECT_THAT(late_policy_error("[[step]]\nafter_hours = 1\n"), HasSubstr("`keeps` is missing"));
  EXPECT_THAT(
      late_policy_error("[[step]]\nafter_hours=2\nkeeps=1\n[[step]]\nafter_hours=1\nkeeps=0\n"),
      AllOf(HasSubstr("late.toml:5: "), HasSubstr("sort the steps")));
  EXPECT_THAT(late_policy_error("[parts.two]\ndue = 2026-11-20T23:59:00Z\n"),
              HasSubstr("write [parts.2]"));
  EXPECT_THAT(late_policy_error("[parts]\n2 = 3\n"), HasSubstr("write [parts.2]"));
  EXPECT_THAT(late_policy_error("[parts.2]\nduo = 1\n"), HasSubstr("[parts.2]: `due` is missing"));
  EXPECT_THAT(late_policy_error("[[extension]]\nstudent = \"a\"\n"), HasSubstr("`due` is missing"));
  EXPECT_THAT(
      late_policy_error("[[extension]]\nstudent = \"a\"\npart = -1\ndue = 2026-11-20T23:59:00Z\n"),
      HasSubstr("there is no part -1"));
  EXPECT_THAT(late_policy_error("[[extension]]\nstudent = \"a\"\ndue = 2026-11-20T23:59:00Z\n"
                                "[[extension]]\nstudent = \"A\"\ndue = 2026-11-21T23:59:00Z\n"),
              AllOf(HasSubstr("late.toml:5: "), HasSubstr("has an extension for this already")));
  EXPECT_THAT(late_policy_error("due = \n"), HasSubstr("late.toml:1: "));
}

TEST(LatePolicy, MaySayWhichGradeCountsAfterARegrade) {
  const auto with = [](const char* line) { return line + std::string(kPolicy); };
  EXPECT_EQ(LatePolicy::parse(kPolicy, "late.toml").regrade_counts(), "");
  EXPECT_EQ(LatePolicy::parse(with("regrade_counts = \"best\""), "late.toml").regrade_counts(),
            "best");
  EXPECT_THAT(late_policy_error(with("regrade_counts = \"most\"")),
              AllOf(HasSubstr("late.toml:1"), HasSubstr("write \"latest\"")));
}

TEST(LatePolicy, Part0HasADueTimeAndExtensionsOfItsOwn) {
  const LatePolicy policy = LatePolicy::parse(std::string(kPolicy) +
                                                  "[[extension]]\nstudent = \"eve\"\npart = 0\n"
                                                  "due = 2026-12-27T23:59:00+01:00\n"
                                                  "[parts.0]\ndue = 2026-11-27T23:59:00+01:00\n",
                                              "late.toml");
  EXPECT_EQ(policy.lateness({"bob"}, 0, kDue + 7 * 24 * kHour, false).keeps, 1);
  EXPECT_EQ(policy.lateness({"bob"}, 0, kDue + 30 * 24 * kHour, false).keeps, 0);
  EXPECT_EQ(policy.lateness({"eve"}, 0, kDue + 30 * 24 * kHour, false).keeps, 1);
  EXPECT_EQ(policy.lateness({"eve"}, 1, kDue + 30 * 24 * kHour, false).keeps, 0);
}

TEST(LatePolicy, TakesTheDatesOfTheCalendarThatItDoesNotName) {
  constexpr std::int64_t kHour = 3600;
  const LatePolicy::Calendar calendar{{1, 1000 * kHour}, {2, 2000 * kHour}};
  const auto hours_late = [](const LatePolicy& policy, int part) {
    return policy.lateness({"ada"}, part, 3000 * kHour, false).hours;
  };
  const LatePolicy by_calendar = LatePolicy::parse(
      "[[step]]\nafter_hours = 0\nkeeps = 0.5\n[parts.2]\ndue = 1970-01-02T00:00:00Z\n",
      "late.toml", calendar);
  EXPECT_EQ(hours_late(by_calendar, 1), 2000);
  EXPECT_EQ(hours_late(by_calendar, 2), 2976) << "the policy's own date";
  EXPECT_EQ(by_calendar.lateness({"ada"}, 1, 3000 * kHour, false).keeps, 0.5);
  const LatePolicy own_date =
      LatePolicy::parse("due = 1970-01-02T00:00:00Z\n[[step]]\nafter_hours = 0\nkeeps = 0.5\n",
                        "late.toml", calendar);
  EXPECT_EQ(hours_late(own_date, 1), 2976) << "the policy's date for every part";
}

TEST(LatePolicy, ACalendarAloneTellsWhoIsLateAndTakesNothing) {
  const LatePolicy policy(LatePolicy::Calendar{{1, 7200}});
  const auto late = policy.lateness({"ada"}, 1, 3 * 7200, false);
  EXPECT_EQ(late.keeps, 1);
  EXPECT_EQ(late.why, "4.0 hours late: all points count");
  EXPECT_EQ(policy.lateness({"ada"}, 2, 3 * 7200, false).why, "");
}

TEST(LatePolicy, OneThatCostsNothingHasToSaySo) {
  for (const char* empty : {"", "\n# nothing yet\n", "grace_minutes = 5\n"}) {
    EXPECT_THAT(late_policy_error(empty), HasSubstr("says of nothing when it is due")) << empty;
  }
  EXPECT_THAT(late_policy_error("due = 2026-11-20T23:59:00Z\n"),
              AllOf(HasSubstr("what being late costs"), HasSubstr("keeps = 1")));
  EXPECT_EQ(late_policy_error("due = 2026-11-20T23:59:00Z\n[[step]]\nafter_hours = 0\nkeeps = 1\n"),
            "no error");
  EXPECT_EQ(late_policy_error("marked_late_hours = 24\n[[step]]\nafter_hours = 0\nkeeps = 0.5\n"),
            "no error");
}

class SlipDaysTest : public ::testing::Test {
 protected:
  static LatePolicy policy_with(const std::string& slip_days) {
    return LatePolicy::parse(kPolicy + slip_days, "late.toml");
  }
  LatePolicy::Lateness of(std::int64_t hours, int left) const {
    return policy_.lateness({"bob"}, 1, kDue + 900 + hours * kHour + 720, false, left);
  }
  LatePolicy policy_ = policy_with("[slip_days]\neach = 4\nper_part = 2\n");
};

TEST_F(SlipDaysTest, AsFewAreSpentAsSaveTheMostPoints) {
  EXPECT_EQ(of(3, 4).why, "3.2 hours late, 1 slip day spent, 3 left: all points count");
  EXPECT_EQ(of(30, 4).why, "30.2 hours late, 2 slip days spent, 2 left: all points count");
  EXPECT_EQ(of(30, 1).why, "30.2 hours late, 1 slip day spent, 0 left: 90 % of the points count");
  EXPECT_EQ(of(60, 4).why, "60.2 hours late, 2 slip days spent, 2 left: 90 % of the points count");
  EXPECT_EQ(of(110, 4).slip_days, 2) << "from nothing to a half";
  EXPECT_EQ(of(130, 4).slip_days, 0) << "nothing is saved";
  EXPECT_EQ(of(30, 0).why, "30.2 hours late: 50 % of the points count");
  EXPECT_EQ(of(-1, 4).slip_days, 0);
}

TEST_F(SlipDaysTest, GoToThePartsAsTheyAreDue) {
  EXPECT_THAT(policy_.in_order_of_due({2, 1, 3}), ElementsAre(1, 3, 2));
}

TEST_F(SlipDaysTest, ThoseSpentBeforeAreGone) {
  const LatePolicy policy = policy_with(
      "[slip_days]\neach = 4\n[[slip_days.spent]]\nstudent = \"Ada@x.org\"\ndays = 3\n");
  EXPECT_EQ(policy.slip_days().left({"ada", "ada@x.org"}), 1);
  EXPECT_EQ(policy.slip_days().left({"bob"}), 4);
  EXPECT_EQ(policy.slip_days().per_part(), 4);
  EXPECT_THAT(policy.named_students(), ::testing::Contains("Ada@x.org"));
  EXPECT_EQ(LatePolicy().slip_days().left({"bob"}), 0);
}

TEST_F(SlipDaysTest, MistakesAreNamedWithTheirPlace) {
  const auto error = [](const std::string& text) { return late_policy_error(kPolicy + text); };
  EXPECT_THAT(error("[slip_days]\n"), HasSubstr("each"));
  EXPECT_THAT(error("[slip_days]\neach = 0\n"),
              AllOf(HasSubstr("late.toml:"), HasSubstr("`each` is 0"),
                    HasSubstr("write a whole number of days from 1 to 366")));
  EXPECT_THAT(error("[slip_days]\neach = 4\nper_part = -1\n"), HasSubstr("`per_part` is -1"));
  EXPECT_THAT(error("[slip_days]\neach = 4\nmost = 1\n"), HasSubstr("most"));
  const std::string spent = "[[slip_days.spent]]\nstudent = \"ada\"\ndays = ";
  EXPECT_THAT(error("[slip_days]\neach = 4\n" + spent + "5\n"),
              HasSubstr("\"ada\" has spent 5 days of 4"));
  EXPECT_THAT(error("[slip_days]\neach = 4\n" + spent + "1\n" + spent + "1\n"),
              HasSubstr("\"ada\" has spent days already"));
}

TEST(SubmissionLimit, IsReadFromThePolicy) {
  const std::string policy = kPolicy;
  EXPECT_EQ(LatePolicy().most_submissions(), std::nullopt);
  EXPECT_EQ(LatePolicy::parse(policy, "late.toml").most_submissions(), std::nullopt);
  EXPECT_EQ(LatePolicy::parse(policy + "[submissions]\nmost = 3\n", "late.toml").most_submissions(),
            3U);
  for (const char* most : {"0", "-1", "10001"}) {
    EXPECT_THAT(late_policy_error(policy + "[submissions]\nmost = " + most + "\n"),
                AllOf(HasSubstr("late.toml:24: "), HasSubstr("a whole number from 1 to 10000")));
  }
  EXPECT_THAT(late_policy_error(policy + "[submissions]\nmost = 2.5\n"), HasSubstr("an integer"));
  EXPECT_THAT(late_policy_error(policy + "[submissions]\n"), HasSubstr("`most` is missing"));
}

TEST(TestsAfterTheDeadline, AreReadFromThePolicy) {
  const LatePolicy policy =
      LatePolicy::parse(std::string(kPolicy) +
                            "[[after_due]]\npart = 1\ntask = \"gemm\"\n[[after_due]]\npart = 2\n"
                            "task = \"gemv\"\ngroups = [\"edges\"]\n",
                        "late.toml");
  ASSERT_EQ(policy.held_tests().size(), 2U);
  EXPECT_EQ(policy.held_tests()[0].task, "gemm");
  EXPECT_THAT(policy.held_tests()[0].groups, ::testing::IsEmpty());
  EXPECT_EQ(policy.held_tests()[1].part, 2);
  EXPECT_THAT(policy.held_tests()[1].groups, ElementsAre("edges"));
  EXPECT_EQ(policy.held_tests()[1].place, "late.toml:26");
}

TEST(TestsAfterTheDeadline, WaitForTheLastExtension) {
  const LatePolicy policy = LatePolicy::parse(kPolicy, "late.toml");
  EXPECT_EQ(policy.last_due_of(1), kDue + 24 * kHour) << "ada's for every part";
  EXPECT_EQ(policy.last_due_of(2), kDue + 7 * 24 * kHour);
  EXPECT_EQ(policy.last_due_of(3), kDue + 48 * kHour) << "that for the part alone";
  EXPECT_EQ(LatePolicy().last_due_of(1), std::nullopt);
}

TEST(TestsAfterTheDeadline, MistakesAreNamedWithTheirPlace) {
  const auto error = [](const std::string& text) {
    return late_policy_error(std::string(kPolicy) + "[[after_due]]\n" + text);
  };
  EXPECT_THAT(error("part = 1\n"), HasSubstr("`task` is missing"));
  EXPECT_THAT(error("task = \"gemm\"\n"), HasSubstr("`part` is missing"));
  EXPECT_THAT(error("part = -1\ntask = \"gemm\"\n"),
              HasSubstr("late.toml:24: there is no part -1"));
  EXPECT_THAT(error("part = 1\ntask = \"gemm\"\ngroups = []\n"), HasSubstr("`groups` is empty"));
  EXPECT_THAT(error("part = 1\ntask = \"gemm\"\ngroup = [\"a\"]\n"),
              HasSubstr("unknown key `group`; did you mean `groups`? known keys are"));
  EXPECT_THAT(
      late_policy_error("marked_late_hours = 5\n[[step]]\nafter_hours = 0\nkeeps = 1\n"
                        "[[after_due]]\npart = 1\ntask = \"gemm\"\n"),
      AllOf(HasSubstr("late.toml:5: nothing says when part 1 is due"), HasSubstr("[parts.1]")));
}

TEST(PolicyWithout, HasNothingOfTheStudentAndTheSameRules) {
  const std::string text = std::string("# ada is ill\n") + kPolicy +
                           "[slip_days]\neach = 4\n[[slip_days.spent]]\nstudent = \"ADA\"\n"
                           "days = 1\n[[slip_days.spent]]\nstudent = \"bob\"\ndays = 2\n";
  const std::string rest = policy_without(text, {"ada", "ada@x.org", ""});
  EXPECT_EQ(rest.find("ada"), std::string::npos) << rest;
  EXPECT_EQ(rest.find("Ada"), std::string::npos) << rest;
  const LatePolicy policy = LatePolicy::parse(rest, "late.toml");
  EXPECT_THAT(policy.named_students(), ElementsAre("bob"));
  EXPECT_EQ(policy.lateness({"bob"}, 1, kDue + 901, false).keeps, 0.9);
}

}  // namespace
}  // namespace rooflab
