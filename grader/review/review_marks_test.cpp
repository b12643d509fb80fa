#include "grader/review/review_fixture.h"

/// What a submission's page marks for staff: tests that are held back, points of before a regrade,
/// points beyond what there is.
namespace rooflab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ReviewMarksTest : public ReviewFixture {
 protected:
  ReviewMarksTest() { hand_in("ann", "xxx\n"); }

  ReviewResponse give(const std::string& points, const ReviewFields& more = {},
                      const std::string& item = "count") {
    const std::string page = submission(*ada_);
    const std::size_t form = page.find("name=\"item\" value=\"" + item + "\"");
    const ReviewFields fields = {
        {"item", item},
        {"revisions", field(page.substr(0, page.find("<label", form)), "revisions")},
        {"points", points},
        {"reason", "well done"}};
    return post(*ada_, "points", with(with(of(team(*ada_)), fields), more));
  }
  void regrade() {
    BatchRequest again = request();
    again.regrade = {"ann"};
    run(again);
  }
};

TEST_F(ReviewMarksTest, WhatStudentsDoNotSeeBeforeTheDeadlineIsMarked) {
  executor_.tell("RL0401", "a.cu", 1);
  grade();
  EXPECT_THAT(submission(*ada_), Not(HasSubstr("held back")));
  BatchRequest with_policy = request();
  with_policy.policy = file("late.toml",
                            "due = 2026-11-20T12:00:00Z\n[[step]]\nafter_hours = 0\nkeeps = 1\n"
                            "[[after_due]]\npart = 1\ntask = \"count\"\n");
  run(with_policy);
  EXPECT_THAT(submission(*ada_),
              AllOf(HasSubstr("3 of 10</span> <b class=\"hidden\">held back</b>"),
                    HasSubstr("before 2026-11-20 12:00 UTC: neither it nor its points"),
                    HasSubstr("RL0401</b> <b class=\"hidden\">held back</b>")))
      << "beside the line, too";
  EXPECT_THAT(get(*ada_, "").body, HasSubstr("Students do not see these before 2026-11-20"));
}

TEST_F(ReviewMarksTest, PointsOfBeforeARegradeAreMarkedUntilSomebodyKeepsThemAgain) {
  grade();
  give("+2");
  EXPECT_THAT(submission(*ada_), Not(HasSubstr("before this regrade")));
  regrade();
  const std::string line = "part 1, count: +2 by Ada, given before this regrade: check";
  EXPECT_THAT(submission(*ada_), AllOf(HasSubstr("given before this regrade: check</b>"),
                                       HasSubstr(line), HasSubstr("points to check")));
  EXPECT_THAT(get(*ada_, "", {{"state", "to-check"}}).body, HasSubstr("1 submission<"));
  EXPECT_THAT(listener_.lines, testing::Contains("ann: " + line));
  EXPECT_THAT(read_file(out() / "class.html"), HasSubstr(line));
  EXPECT_THAT(read_file(out() / "feedback" / "ann.html"), Not(HasSubstr("before this regrade")));
  give("+2");
  EXPECT_THAT(submission(*ada_), Not(HasSubstr("before this regrade")));
}

TEST_F(ReviewMarksTest, PointsBeyondTheMaximumAreAskedAboutOnce) {
  grade();
  const ReviewResponse asked = give("+100");
  EXPECT_EQ(asked.status, 400);
  EXPECT_THAT(asked.body,
              AllOf(HasSubstr("+100 points beside 3 of 10 make 103, more than there are; "
                              "write at most +7"),
                    HasSubstr("name=\"beyond\""), HasSubstr("\nwell done</textarea>")));
  EXPECT_EQ(query("SELECT count(*) FROM manual_points", 1).at(0), "0");
  EXPECT_THAT(give("+100", {{"beyond", "1"}}).location, HasSubstr("submission?"));
  EXPECT_EQ(query("SELECT points FROM manual_points", 1).at(0), "100.0");
}

TEST_F(ReviewMarksTest, PointsUpToTheMaximumAndDownToNoneNeedNoQuestion) {
  grade();
  EXPECT_THAT(give("+7").location, HasSubstr("submission?"));
  EXPECT_THAT(give("-3").location, HasSubstr("submission?"));
  EXPECT_EQ(give("+7.5").status, 400);
  EXPECT_EQ(give("-3.5").status, 400);
  EXPECT_EQ(give("+15", {}, "overall").status, 400);
  EXPECT_THAT(give("+14", {}, "overall").location, HasSubstr("submission?"));
}

}  // namespace
}  // namespace rooflab
