#include <fmt/format.h>

#include "grader/batch/class_fixture.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::int64_t kNoon = 1'795'176'000;  // 2026-11-20T12:00:00Z, by `date`

/// Ada, Bob and Eve, whose submissions Gradescope delivers.
class GroupsOfClassTest : public ClassFixture {
 protected:
  BatchRequest with_groups(const std::string& groups) const {
    BatchRequest request = ClassFixture::request();
    request.roster = file(
        "roster.csv", "key,name,email\nada,Ada,ada@x.org\nbob,Bob,bob@x.org\neve,Eve,eve@x.org\n");
    if (!groups.empty()) request.groups = file("groups.csv", groups);
    return request;
  }

  /// @param submitters their e-mail addresses, as YAML
  void deliver(int number, const std::string& text, const std::vector<std::string>& submitters,
               const std::string& time) {
    hand_in("submission_" + std::to_string(number), text);
    metadata_ += fmt::format("submission_{}:\n  :submitters:\n", number);
    for (const std::string& one : submitters) metadata_ += fmt::format("  - :email: {}\n", one);
    metadata_ += fmt::format("  :created_at: {} Z\n", time);
    write_file_atomically(submissions() / "submission_metadata.yml", metadata_);
  }

  /// Student and score of what counts.
  std::vector<std::string> counted() const {
    return query(
        "SELECT student, cast(score AS INTEGER) FROM submissions JOIN grades ON id = submission "
        "JOIN "
        "gradings ON name = grading WHERE counts ORDER BY 1",
        2);
  }

 private:
  std::string metadata_;
};

TEST_F(GroupsOfClassTest, MembersGetTheOneGrading) {
  deliver(1, "xxx", {"ada@x.org"}, "2026-11-20 12:00:00");
  run(with_groups("group;student\nred;ada\nred;bob@x.org\n"));
  EXPECT_EQ(executor_.graded(), 1);
  EXPECT_THAT(counted(), ElementsAre("ada|3", "bob|3"));
}

TEST_F(GroupsOfClassTest, TheNewestSubmissionOfAGroupCountsForAll) {
  deliver(1, "xxxx", {"ada@x.org"}, "2026-11-20 12:00:00");
  deliver(2, "xx", {"bob@x.org"}, "2026-11-20 13:00:00");
  run(with_groups("group,student\nred,ada\nred,bob\n"));
  EXPECT_THAT(counted(), ElementsAre("ada|2", "bob|2"));
  EXPECT_THAT(query("SELECT problem FROM submissions WHERE problem <> ''", 1), IsEmpty());
}

TEST_F(GroupsOfClassTest, TheTableIsKeptAndSoIsAReplacement) {
  deliver(1, "xxx", {"ada@x.org"}, "2026-11-20 12:00:00");
  run(with_groups("group,student\nred,ada\nred,bob\n"));
  BatchRequest again;
  again.out = out();
  run(again);
  EXPECT_THAT(counted(), ElementsAre("ada|3", "bob|3"));
  run(with_groups("group,student\nred,ada\nred,eve\n"));
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("the table of groups is replaced by")));
  EXPECT_THAT(query("SELECT DISTINCT student FROM submissions WHERE present ORDER BY 1", 1),
              ElementsAre("ada", "eve"));
}

TEST_F(GroupsOfClassTest, APlatformThatSaysOtherwiseIsADoubtAndIsFollowed) {
  deliver(1, "xxx", {"ada@x.org", "bob@x.org"}, "2026-11-20 12:00:00");
  run(with_groups("group,student\nred,ada\nred,eve\nblue,bob\n"));
  EXPECT_THAT(counted(), ElementsAre("ada|3", "bob|3"));
  EXPECT_THAT(query("SELECT DISTINCT doubts FROM submissions", 1),
              ElementsAre(HasSubstr("ada and bob handed it in together, and are not one group")));
}

TEST_F(GroupsOfClassTest, APlatformThatNamesAPartOfTheGroupContradictsNothing) {
  deliver(1, "xxx", {"ada@x.org", "bob@x.org"}, "2026-11-20 12:00:00");
  run(with_groups("group,student\nred,ada\nred,eve\nred,bob\n"));
  EXPECT_THAT(counted(), ElementsAre("ada|3", "bob|3", "eve|3"));
  EXPECT_THAT(query("SELECT DISTINCT doubts FROM submissions", 1), ElementsAre("[]"));
}

TEST_F(GroupsOfClassTest, OfTwoSubmissionsWithoutATimeOneIsChosenForAllMembers) {
  hand_in("ada", "xxx");
  hand_in("bob", "xx");
  BatchRequest request = with_groups("group,student\nred,ada\nred,bob\n");
  run(request);
  EXPECT_THAT(counted(), testing::IsEmpty());
  EXPECT_EQ(std::ranges::count_if(listener_.lines,
                                  [](const std::string& line) {
                                    return line.find("two submissions: choose") != line.npos;
                                  }),
            1)
      << "once, and not for each member";
  request.choose = {"bob"};
  run(request);
  EXPECT_THAT(counted(), ElementsAre("ada|2", "bob|2"));
}

TEST_F(GroupsOfClassTest, ATableWithoutARosterIsRefused) {
  hand_in("ada", "xxx");
  BatchRequest request = ClassFixture::request();
  request.groups = file("groups.csv", "group,student\nred,ada\n");
  EXPECT_THAT(complaint([&] { run(request); }), HasSubstr("add --roster"));
}

constexpr const char* kTwoOfEach =
    "due = 2026-12-31T12:00:00Z\n[[step]]\nafter_hours = 0\nkeeps = 0.5\n[submissions]\nmost = 2\n";

TEST_F(GroupsOfClassTest, OfMoreSubmissionsThanThePolicyTakesTheNewestOfTheFirstCounts) {
  deliver(3, "xxxx", {"ada@x.org"}, "2026-11-20 14:00:00");
  deliver(1, "x", {"ada@x.org"}, "2026-11-20 12:00:00");
  deliver(2, "xx", {"ada@x.org"}, "2026-11-20 13:00:00");
  deliver(4, "xxxxx", {"bob@x.org"}, "2026-11-20 15:00:00");
  BatchRequest request = with_groups("");
  request.policy = file("late.toml", kTwoOfEach);
  run(request);
  EXPECT_THAT(counted(), ElementsAre("ada|2", "bob|5"));
  EXPECT_THAT(
      query("SELECT notes FROM submissions WHERE id = 'submission_2'", 1),
      ElementsAre(HasSubstr("3 were handed in, and the policy takes the first 2: the newest "
                            "of these counts")));
  EXPECT_THAT(query("SELECT DISTINCT doubts FROM submissions", 1), ElementsAre("[]"));
}

TEST_F(GroupsOfClassTest, TheLimitIsOfTheGroupAsAWhole) {
  deliver(1, "x", {"ada@x.org"}, "2026-11-20 12:00:00");
  deliver(2, "xx", {"bob@x.org"}, "2026-11-20 13:00:00");
  deliver(3, "xxx", {"ada@x.org"}, "2026-11-20 14:00:00");
  BatchRequest request = with_groups("group,student\nred,ada\nred,bob\n");
  request.policy = file("late.toml", kTwoOfEach);
  run(request);
  EXPECT_THAT(counted(), ElementsAre("ada|2", "bob|2"));
}

TEST_F(GroupsOfClassTest, ALimitWithoutTimesIsADoubt) {
  for (const char* who : {"lab1-ada", "lab2-ada", "lab3-ada"}) hand_in(who, "xx");
  BatchRequest request = with_groups("");
  request.policy = file("late.toml", kTwoOfEach);
  run(request);
  EXPECT_THAT(query("SELECT doubts FROM submissions WHERE counts", 1),
              ElementsAre(HasSubstr("no time of a platform says of each when it came in")));
}

TEST_F(GroupsOfClassTest, WhatGoesBackIsKeptBySubmission) {
  hand_in("adax_71_901_a.cu", "xx");
  hand_in("Bob_32_assignsubmission_file_", "xxx");
  deliver(77, "x", {"eve@x.org"}, "2026-11-20 12:00:00");
  run(with_groups(""));
  EXPECT_THAT(query("SELECT platform, return_name FROM submissions", 2),
              UnorderedElementsAre("canvas|71_901", "moodle|32", "gradescope|77"));
  EXPECT_TRUE(std::filesystem::exists(out() / "canvas_feedback.zip"));
  EXPECT_TRUE(std::filesystem::exists(out() / "moodle_feedback.zip"));
  EXPECT_TRUE(std::filesystem::exists(out() / "gradescope_rerun.zip"));
}

TEST_F(GroupsOfClassTest, WhatAGroupSharesOnAPlatformHasNobodysOwnPage) {
  hand_in("adax_71_901_a.cu", "xx");
  hand_in("Eve_33_assignsubmission_file_", "xxx");
  BatchRequest request = with_groups("group,student\nred,ada\nred,bob\n");
  request.roster =
      file("roster.csv", "name,ID,SIS Login ID,group\nAda X,71,ada,\nBob,72,bob,\nEve,73,eve,\n");
  run(request);
  EXPECT_THAT(query("SELECT student, return_name FROM submissions ORDER BY 1", 2),
              ElementsAre("ada|", "bob|", "eve|33"));
  EXPECT_FALSE(std::filesystem::exists(out() / "canvas_feedback.zip"));
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("2 students handed in together on Canvas")));
}

TEST_F(GroupsOfClassTest, OnMoodleEachMemberWithAParticipantNumberHasAPage) {
  hand_in("Ada_31_assignsubmission_file_", "xx");
  BatchRequest request = with_groups("group,student\nred,ada\nred,bob\nred,eve\n");
  request.roster = file("roster.csv",
                        "key,name,identifier\nada,Ada,Participant 31\nbob,Bob,Participant 32\n"
                        "eve,Eve,\n");
  run(request);
  EXPECT_THAT(query("SELECT student, return_name FROM submissions ORDER BY 1", 2),
              ElementsAre("ada|31", "bob|32", "eve|"));
  EXPECT_THAT(listener_.lines, AllOf(Contains(HasSubstr("has the feedback of 2 students")),
                                     Contains(HasSubstr("1 student on Moodle without"))));
}

TEST_F(GroupsOfClassTest, APolicyThatGoesByTheCalendarIsReadTheSameLater) {
  deliver(1, "xxx", {"ada@x.org"}, "2026-11-20 12:00:00");
  BatchRequest request = with_groups("");
  request.due = {{1, Moment{kNoon, 0}}};
  request.policy = file("late.toml", "[[step]]\nafter_hours = 0\nkeeps = 0.5\n");
  run(request);
  Store store(out() / "batch.sqlite");
  EXPECT_EQ(kept_policy(store).last_due_of(1), kNoon);
}

}  // namespace
}  // namespace rooflab
