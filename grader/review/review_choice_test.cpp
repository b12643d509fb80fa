#include "grader/review/review_fixture.h"

/// Two submissions of one student, of which somebody has to choose one.
namespace rooflab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ReviewChoiceTest : public ReviewFixture {
 protected:
  ReviewChoiceTest() {
    hand_in("lab1-ada", "first xxx\n");
    hand_in("lab2-ada", "second xxxxx\n");
    BatchRequest with_roster = request();
    with_roster.roster = file("roster.csv", "login,name\nada,Ada\nbob,Bob\n");
    run(with_roster);
    ada_ = make("Ann");
    bob_ = make("Bob");
  }

  static ReviewResponse choose(ReviewApp& app, const std::string& submission,
                               const std::string& version) {
    return post(app, "choice",
                with(of(team(app)), {{"submission", submission}, {"version", version}}));
  }
  std::string canvas() {
    post(*ada_, "outputs", {});
    return read_file(out() / "canvas.csv");
  }
};

TEST_F(ReviewChoiceTest, BothAreShownWithWhatTheyComeTo) {
  EXPECT_THAT(get(*ada_, "").body, HasSubstr("two submissions: choose (1)"));
  const std::string page = submission(*ada_);
  EXPECT_THAT(page, AllOf(HasSubstr("<h2>Two submissions: choose</h2>"),
                          HasSubstr("3 of 10 points"), HasSubstr("5 of 10 points"),
                          HasSubstr("first xxx"), Not(HasSubstr("second xxxxx"))));
  const std::string other =
      get(*ada_, "submission", with(of(team(*ada_)), {{"candidate", "lab2-ada"}})).body;
  EXPECT_THAT(other, AllOf(HasSubstr("second xxxxx"), Not(HasSubstr("first xxx"))));
  EXPECT_THAT(canvas(), HasSubstr("Ada,,,ada,,\r\n"));
}

TEST_F(ReviewChoiceTest, TheChosenOneCountsAtOnceAndMayBeReplaced) {
  const auto kept = choose(*ada_, "lab2-ada", "0");
  EXPECT_THAT(kept.location, HasSubstr("#choice"));
  EXPECT_THAT(canvas(), HasSubstr("Ada,,,ada,,5\r\n"));
  EXPECT_THAT(submission(*bob_), AllOf(HasSubstr("Ann chose on"), HasSubstr("second xxxxx"),
                                       HasSubstr("<b>counts</b>")));
  EXPECT_THAT(get(*bob_, "history").body,
              AllOf(HasSubstr("<b>Ann</b> submission chosen"), HasSubstr("no choice"),
                    HasSubstr("lab2-ada"), Not(HasSubstr("part -1"))));
  EXPECT_THAT(choose(*bob_, "lab1-ada", "1").location, HasSubstr("#choice"));
  EXPECT_THAT(canvas(), HasSubstr("Ada,,,ada,,3\r\n"));
}

TEST_F(ReviewChoiceTest, OfTwoWhoChooseAtOnceTheSecondIsShownWhatTheFirstChose) {
  choose(*ada_, "lab2-ada", "0");
  const auto refused = choose(*bob_, "lab1-ada", "0");
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("Ann has chosen meanwhile: lab2-ada"));
  EXPECT_THAT(canvas(), HasSubstr("Ada,,,ada,,5\r\n"));
}

TEST_F(ReviewChoiceTest, NothingElseCanBeChosen) {
  for (const char* submission : {"", "bob", "../lab1-ada", "lab1-ada~2"}) {
    EXPECT_EQ(choose(*ada_, submission, "0").status, 400) << submission;
  }
  EXPECT_EQ(choose(*ada_, "lab1-ada", "one").status, 400);
  EXPECT_EQ(query("SELECT count(*) FROM submission_choices", 1).at(0), "0");
}

}  // namespace
}  // namespace rooflab
