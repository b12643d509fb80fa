#include "grader/report/contrast_testing.h"
#include "grader/review/review_fixture.h"
#include "grader/review/review_style.h"

/// What a class understood, as assistants see it and export examples of it.
namespace rooflab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Of which nobody has all points: the executor tells no code, so that there are no examples.
class AnalysisReviewTest : public ReviewFixture {
 protected:
  AnalysisReviewTest() {
    for (const char* who : {"ann", "ben", "cem"}) hand_in(who, "xxx\n");
  }
};

TEST_F(AnalysisReviewTest, ShowsTasksAndLeadsToSubmissions) {
  grade();
  const ReviewResponse page = get(*ada_, "analysis");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body,
              AllOf(HasSubstr("3 submissions are graded"), HasSubstr("0 of 3"), HasSubstr("count"),
                    HasSubstr("aria-current=\"page\">Part 1, Test</a>"),
                    HasSubstr("There are none: no mistake")));
  EXPECT_EQ(get(*ada_, "analysis", {{"part", "7"}}).status, 404);
  EXPECT_THAT(get(*ada_, "").body, HasSubstr("href=\"analysis\">Understanding</a>"));
}

TEST_F(AnalysisReviewTest, ReadsTheEvidenceOnceUntilAnotherGradingCounts) {
  grade();
  const std::string page = get(*ada_, "analysis").body;
  Database(out() / "batch.sqlite").execute("UPDATE evidence SET evidence = '{'");
  EXPECT_EQ(get(*ada_, "analysis").body, page) << "nothing is read again";
  hand_in("dan", "xxx x\n");
  EXPECT_THAT(complaint([&] { run(); }), HasSubstr("cannot be used"));
  EXPECT_THAT(get(*ada_, "analysis").body, HasSubstr("1 submission is graded"))
      << "what cannot be read any more is missing in a new one";
}

TEST_F(AnalysisReviewTest, WritesNoPageOfNoExamples) {
  grade();
  for (const ReviewFields& form :
       {ReviewFields{{"part", "1"}}, ReviewFields{{"part", "1"}, {"example", "../../x"}}}) {
    const ReviewResponse page = post(*ada_, "examples", form);
    EXPECT_EQ(page.status, 400);
    EXPECT_THAT(page.body, HasSubstr("choose an example first"));
  }
  EXPECT_FALSE(std::filesystem::exists(out() / "examples-part1.html"));
}

TEST_F(AnalysisReviewTest, WritesTheChosenExamplesAsAPageWithoutNames) {
  executor_.tell("RL0401", "part1-test/a.cu", 1);
  for (const char* who : {"dan", "eve", "fay"}) hand_in(who, std::string("by_") + who + " = 1;\n");
  grade();
  const std::string page = get(*ada_, "analysis", {{"part", "1"}}).body;
  const std::string mark = "name=\"example\" value=\"";
  ASSERT_THAT(page, AllOf(HasSubstr(mark), HasSubstr("data-key=\"1\""), HasSubstr("name1 = 1;")));
  const std::string id = page.substr(page.find(mark) + mark.size(), 20);
  const ReviewResponse kept = post(*ada_, "examples", {{"part", "1"}, {"example", id}});
  EXPECT_EQ(kept.status, 200);
  EXPECT_THAT(kept.body, HasSubstr("1 example is written to "));
  const std::string exported = read_file(out() / "examples-part1.html");
  EXPECT_THAT(exported, AllOf(HasSubstr("Content-Security-Policy"), HasSubstr("count, RL0401")));
  for (const char* who : {"ann", "dan", "eve", "fay"}) {
    EXPECT_THAT(exported, Not(HasSubstr(std::string("by_") + who)));
  }
}

TEST(ReviewStyleTest, EveryTextHasEnoughContrastInLightAndInDark) {
  EXPECT_THAT(contrast_faults(review_style()), IsEmpty());
}

}  // namespace
}  // namespace rooflab
