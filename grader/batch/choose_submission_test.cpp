#include "grader/batch/choose_submission.h"

#include "grader/batch/class_fixture.h"
#include "grader/batch/store/choice_store.h"

/// Several submissions of a student among which no time decides.
namespace rooflab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ChooseSubmissionTest : public ClassFixture {
 protected:
  ChooseSubmissionTest() {
    hand_in("lab1-ada", "xxx");
    hand_in("lab2-ada", "xxxxx");
    hand_in("bob", "xx");
  }

  BatchRequest with_roster(const std::vector<std::string>& choose = {}) {
    BatchRequest with = request();
    with.roster = file("roster.csv", "login,name\nada,Ada\nbob,Bob\n");
    with.choose = choose;
    with.by = "Cem";
    return with;
  }
  /// Student and score of what counts.
  std::vector<std::string> counted() const {
    return query(
        "SELECT student, cast(score AS INTEGER) FROM submissions JOIN grades ON id = submission "
        "JOIN gradings ON name = grading WHERE counts ORDER BY 1",
        2);
  }
  std::string output(const std::string& name) const { return read_file(out() / name); }
};

TEST_F(ChooseSubmissionTest, NeitherCountsBeforeSomebodyHasChosen) {
  const BatchSummary summary = run(with_roster());
  EXPECT_EQ(summary.problems, 1U);
  EXPECT_THAT(counted(), ElementsAre("bob|2"));
  EXPECT_THAT(grades(), ElementsAre("ada|3", "ada|5", "bob|2")) << "both are graded";
  EXPECT_THAT(output("canvas.csv"),
              AllOf(HasSubstr("Ada,,,ada,,\r\n"), HasSubstr("Bob,,,bob,,2\r\n")))
      << "an empty field leaves alone what the gradebook holds";
  EXPECT_THAT(output("grades.csv"), HasSubstr(",two-submissions,"));
  EXPECT_THAT(output("class.html"), HasSubstr("two submissions: choose"));
  const std::string feedback = output("feedback/ada.html");
  EXPECT_THAT(feedback, AllOf(HasSubstr("your instructor chooses"), Not(HasSubstr("--choose"))));
}

TEST_F(ChooseSubmissionTest, TheMessageStandsOnceInWhatTheBatchSays) {
  run(with_roster());
  const auto says = [](const std::string& line) {
    return line.find("choose in grader review, or with grader batch --choose NAME") != line.npos;
  };
  EXPECT_EQ(std::ranges::count_if(listener_.lines, says), 1);
}

TEST_F(ChooseSubmissionTest, TheChosenOneCountsFromThenOnAndTheHistorySaysWhoChose) {
  run(with_roster({"lab1-ada"}));
  EXPECT_THAT(counted(), ElementsAre("ada|3", "bob|2"));
  EXPECT_THAT(listener_.lines, Contains("lab1-ada counts for ada, as Cem says"));
  EXPECT_THAT(query("SELECT done_by, what, students, before, after FROM review_log", 5),
              ElementsAre("Cem|submission chosen|[\"ada\"]|no choice|lab1-ada"));
  run(with_roster());
  EXPECT_THAT(counted(), ElementsAre("ada|3", "bob|2")) << "it stays chosen";
  run(with_roster({"lab1-ada"}));
  EXPECT_EQ(query("SELECT count(*) FROM review_log", 1).at(0), "1") << "the same is no news";
  run(with_roster({"lab2-ada"}));
  EXPECT_THAT(counted(), ElementsAre("ada|5", "bob|2"));
  EXPECT_THAT(query("SELECT before, after FROM review_log ORDER BY entry DESC", 2),
              Contains("lab1-ada|lab2-ada"));
}

TEST_F(ChooseSubmissionTest, OneThatCameInSinceTheChoiceAsksForAnother) {
  run(with_roster({"lab1-ada"}));
  hand_in("lab3-ada", "x");
  run(with_roster());
  EXPECT_THAT(counted(), ElementsAre("bob|2"));
  std::filesystem::remove_all(submissions() / "lab3-ada");
  run(with_roster());
  EXPECT_THAT(counted(), ElementsAre("ada|3", "bob|2"));
}

TEST_F(ChooseSubmissionTest, EqualSubmissionsNeedNoChoice) {
  hand_in("lab2-ada", "xxx");
  run(with_roster());
  EXPECT_THAT(counted(), ElementsAre("ada|3", "bob|2"));
}

TEST_F(ChooseSubmissionTest, RefusesWhatIsNoneOfThem) {
  EXPECT_THAT(complaint([&] { run(with_roster({"bob"})); }),
              AllOf(HasSubstr("--choose bob"), HasSubstr("which are lab1-ada, lab2-ada")));
  hand_in("lab2-ada", "xxx");
  EXPECT_THAT(complaint([&] { run(with_roster({"lab1-ada"})); }), HasSubstr("leave it out"));
}

TEST_F(ChooseSubmissionTest, OfTwoWhoChooseAtOnceTheSecondIsToldOfTheFirst) {
  run(with_roster());
  Store store(out() / "batch.sqlite");
  ChoiceStore choices(store);
  choices.choose({{"ada", "lab1-ada"}}, 0, {.by = "Cem", .at = 1});
  EXPECT_THAT(complaint([&] {
                choices.choose({{"ada", "lab2-ada"}}, 0, {.by = "Dee", .at = 2});
              }),
              HasSubstr("Cem has chosen meanwhile: lab1-ada"));
  choices.choose({{"ada", "lab2-ada"}}, 1, {.by = "Dee", .at = 3});
  EXPECT_EQ(choices.all().at("ada").submission, "lab2-ada");
  EXPECT_NE(complaint([&] { choices.choose({{"bob", "bob"}}, 0, {.by = "Dee", .at = 4}); }), "");
}

}  // namespace
}  // namespace rooflab
