#include "grader/batch/outputs/sample_class_testing.h"
#include "grader/batch/regrade_requests.h"
#include "grader/review/review_fixture.h"

/// Regrade requests in the review: written down, looked at, decided, graded again.
namespace rooflab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ReviewRequestsTest : public ReviewFixture {
 protected:
  ReviewRequestsTest() {
    hand_in("ann", "xxx");
    hand_in("ben", "xxxxxxxxxx");
    grade();
  }

  ReviewResponse ask(const std::string& why, const std::string& task = "count") {
    return post(*ada_, "request", with(of(team(*ada_)), {{"task", task}, {"text", why}}));
  }
  /// Decides about the first request as the page that an assistant looked at has it.
  static ReviewResponse decide(ReviewApp& app, const std::string& page, const ReviewFields& more) {
    return post(
        app, "request",
        with(with(of(team(app)), {{"request", "1"}, {"version", field(page, "version")}}), more));
  }
  ReviewResponse decide(const ReviewFields& more) { return decide(*ada_, submission(*ada_), more); }
  std::string output(const std::string& name) {
    EXPECT_EQ(post(*ada_, "outputs", {}).status, 200);
    return read_file(out() / name);
  }
};

TEST_F(ReviewRequestsTest, ARequestStandsBesideTheGradeWithScoresEvidenceAndHiddenCases) {
  EXPECT_THAT(get(*ada_, "requests").body, HasSubstr("There are none"));
  EXPECT_EQ(ask("my count is right").status, 200);
  const std::string page = submission(*bob_);
  EXPECT_THAT(page, AllOf(HasSubstr("my count is right"), HasSubstr("asked by Ada"),
                          HasSubstr("3 points when it was asked, 3 now"),
                          HasSubstr("#evidence-count\">evidence and hidden cases of count"),
                          HasSubstr("<details id=\"evidence-count\""),
                          HasSubstr("expected 41.75, got 13.5 at [127, 3]")));
  EXPECT_THAT(get(*bob_, "", {{"state", "requested"}}).body,
              AllOf(HasSubstr(">ann</a>"), Not(HasSubstr(">ben</a>"))));
  EXPECT_THAT(get(*bob_, "requests").body, AllOf(HasSubstr(">ann</a>"), HasSubstr("<b>open</b>"),
                                                 HasSubstr("my count is right")));
}

TEST_F(ReviewRequestsTest, AGrantedRequestIsGradedAgainAndAnsweredInTheFeedback) {
  ask("my count is right");
  EXPECT_THAT(
      decide({{"decision", "granted"}, {"reason", "a hidden case was wrong"}, {"regrade", "1"}})
          .location,
      HasSubstr("#r1"));
  EXPECT_THAT(submission(*bob_), AllOf(HasSubstr("granted by Ada"),
                                       HasSubstr("The next grader batch grades it again")));
  executor_.give("xxx", 8);
  run();
  EXPECT_THAT(submission(*bob_),
              AllOf(HasSubstr("It was graded again"),
                    HasSubstr("3 points when it was asked, 8 now"), HasSubstr("regraded, was 3")));
  EXPECT_THAT(output("feedback/ann.html"),
              AllOf(HasSubstr("count: <b>granted</b>"), HasSubstr("a hidden case was wrong")));
  EXPECT_THAT(output("regrade_requests.csv"), HasSubstr("a hidden case was wrong,Ada,"));
  EXPECT_THAT(get(*ada_, "history").body, HasSubstr("granted, to be graded again: a hidden case"));
}

TEST_F(ReviewRequestsTest, ADecisionNeedsAReasonAndMakesSense) {
  ask("look");
  EXPECT_EQ(decide({{"decision", "declined"}}).status, 400);
  EXPECT_EQ(decide({{"decision", "perhaps"}, {"reason", "x"}}).status, 400);
  const auto both = decide({{"decision", "declined"}, {"reason", "no race"}, {"regrade", "1"}});
  EXPECT_EQ(both.status, 400);
  EXPECT_THAT(both.body, AllOf(HasSubstr("is not graded again"), HasSubstr("\nno race</textarea>"),
                               HasSubstr("name=\"regrade\" value=\"1\" checked")));
  EXPECT_THAT(submission(*ada_), Not(HasSubstr("declined by")));
}

TEST_F(ReviewRequestsTest, OfTwoAssistantsAtOnceTheSecondIsShownWhatTheFirstDecided) {
  ask("look");
  const std::string seen = submission(*bob_);
  EXPECT_EQ(decide({{"decision", "granted"}, {"reason", "a hidden case was wrong"}}).status, 200);
  const auto late = decide(*bob_, seen, {{"decision", "declined"}, {"reason", "it races"}});
  EXPECT_EQ(late.status, 409);
  EXPECT_THAT(late.body,
              AllOf(HasSubstr("Ada has decided meanwhile: granted: a hidden case was wrong"),
                    HasSubstr("\nit races</textarea>")));
  EXPECT_EQ(decide(*bob_, late.body, {{"decision", "declined"}, {"reason", "it races"}}).status,
            200);
  EXPECT_THAT(submission(*ada_), HasSubstr("declined by Bob"));
}

TEST_F(ReviewRequestsTest, WhatCannotBeARequestIsRefusedWithWhatWasTyped) {
  EXPECT_EQ(ask(" \n ").status, 400);
  EXPECT_THAT(ask("look", "cuont").body,
              AllOf(HasSubstr("has no task cuont"), HasSubstr("\nlook</")));
  EXPECT_EQ(ask(std::string(kLongestRequest + 1, 'W')).status, 400);
  EXPECT_EQ(ask("look").status, 200);
  EXPECT_THAT(ask("look").body, HasSubstr("the same was asked before"));
  EXPECT_EQ(
      post(*ada_, "request",
           with(of(team(*ada_)),
                {{"request", "99"}, {"version", "1"}, {"decision", "granted"}, {"reason", "x"}}))
          .status,
      409);
}

TEST_F(ReviewRequestsTest, ATextThatAttacksStaysText) {
  for (const std::string& text : hostile_texts()) ask("x" + text);
  const std::string page = submission(*ada_);
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, Not(HasSubstr("<form action=\"https")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  const std::string feedback = output("feedback/ann.html");
  EXPECT_THAT(feedback, Not(HasSubstr("<script>")));
  EXPECT_THAT(feedback, Not(HasSubstr("\x1b")));
  EXPECT_THAT(feedback, HasSubstr("Regrade requests"));
}

}  // namespace
}  // namespace rooflab
