#include "grader/batch/compare_classes.h"

#include "grader/batch/class_fixture.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CompareClassesTest : public ClassFixture {
 protected:
  /// Grades the class into a folder, and compares it with the one before.
  ClassComparison compare_after(const std::function<void()>& change,
                                const std::function<void(BatchRequest&)>& ask = {}) {
    run(request());
    change();
    BatchRequest second = request();
    second.out = folder_.path() / "second";
    if (ask) ask(second);
    run(second);
    Batch before(again(out()));
    Batch now(again(second.out));
    return compare_classes(graded(before), graded(now));
  }
  static BatchRequest again(const std::filesystem::path& folder) {
    BatchRequest request;
    request.out = folder;
    request.resume = true;
    return request;
  }
  GradedClass graded(Batch& batch) {
    return graded_class(batch.store(), course_, batch.settings().policy);
  }
};

TEST_F(CompareClassesTest, NothingDiffersBetweenTwoGradingsOfTheSame) {
  hand_in("ada", "xx");
  hand_in("bob", "xxx");
  const ClassComparison same = compare_after([] {});
  EXPECT_THAT(same.changed, IsEmpty());
  EXPECT_EQ(same.same, 2U);
  EXPECT_EQ(compared_words(same, 10), "0 grades differ, 2 are the same\n");
}

TEST_F(CompareClassesTest, OtherFilesAreTheReasonWhereTheyWereHandedIn) {
  hand_in("ada", "xx");
  hand_in("bob", "xxx");
  const ClassComparison comparison = compare_after([&] { hand_in("ada", "xxxxx"); });
  ASSERT_EQ(comparison.changed.size(), 1U);
  const ChangedGrade& ada = comparison.changed[0];
  EXPECT_EQ(ada.student.key, "ada");
  EXPECT_EQ(ada.before, 2);
  EXPECT_EQ(ada.now, 5);
  EXPECT_THAT(ada.reasons, testing::Contains("other files were handed in"));
  ASSERT_EQ(ada.tasks.size(), 1U);
  EXPECT_THAT(ada.tasks[0].before, HasSubstr("2/10"));
  EXPECT_THAT(ada.tasks[0].now, HasSubstr("5/10"));
  EXPECT_THAT(compared_words(comparison, 10),
              AllOf(HasSubstr("ada, part 1: 2 -> 5: other files were handed in"),
                    HasSubstr("1 grade differs, 1 is the same")));
  EXPECT_THAT(compared_csv(comparison),
              AllOf(HasSubstr("ada,"), HasSubstr(",1,2,5,3,"), Not(HasSubstr("bob"))));
}

TEST_F(CompareClassesTest, OnlyWhatChangedIsNamedWhereBothBatchesDrawFromSeedsOfTheirOwn) {
  hand_in("ada", "xx");
  hand_in("bob", "xxx");
  hand_in("cem", "xxxx");
  const ClassComparison comparison = compare_after(
      [&] {
        hand_in("ada", "xxxxx");
        executor_.report("xxx", "RL0305");  // of bob, cem and, by now, ada
        executor_.give("xxxx", 1);
      },
      [](BatchRequest& second) { second.seed = 8; });
  ASSERT_EQ(comparison.changed.size(), 2U);
  EXPECT_THAT(comparison.changed[0].reasons, ElementsAre("other files were handed in"));
  EXPECT_EQ(comparison.changed[1].student.key, "cem");
  EXPECT_THAT(comparison.changed[1].reasons,
              ElementsAre("the inputs were drawn from another seed"));
  EXPECT_THAT(
      compared_words(comparison, 10),
      AllOf(Not(HasSubstr("bob")), HasSubstr("1 is the same, 1 of them with other diagnoses")));
  EXPECT_THAT(compared_csv(comparison),
              HasSubstr("bob,bob,1,3,3,0,\"the points are the same, and diagnoses are others\""));
}

TEST_F(CompareClassesTest, AnotherVersionOfTheCourseIsTheReasonWhereItGivesOtherPoints) {
  hand_in("ada", "xx");
  const ClassComparison comparison = compare_after([&] {
    course_.versions[1] = "rooflab 2";
    executor_.be_out_of(1);
  });
  ASSERT_EQ(comparison.changed.size(), 1U);
  EXPECT_THAT(comparison.changed[0].reasons,
              testing::Contains("grader or course are others: rooflab 1 before, rooflab 2 now"));
}

TEST_F(CompareClassesTest, WhoIsInOneClassAloneIsNamed) {
  hand_in("ada", "xx");
  const ClassComparison comparison = compare_after([&] {
    std::filesystem::remove_all(submissions() / "ada");
    hand_in("eve", "xxx");
  });
  ASSERT_EQ(comparison.changed.size(), 2U);
  EXPECT_THAT(compared_words(comparison, 1),
              AllOf(HasSubstr("eve, part 1: none -> 3: the earlier batch does not have it"),
                    HasSubstr("and 1 more")));
  EXPECT_THAT(comparison.changed[1].reasons, ElementsAre("this batch has it no longer"));
}

TEST_F(CompareClassesTest, LatenessIsAReason) {
  hand_in_on_21_november();
  const ClassComparison comparison = compare_after(
      [] {},
      [&](BatchRequest& second) {
        second.policy = file("late.toml", "due = 2026-11-21T00:00:00Z\n[[step]]\nkeeps = 0.5\n");
      });
  ASSERT_EQ(comparison.changed.size(), 1U);
  EXPECT_THAT(comparison.changed[0].reasons,
              testing::Contains("lateness keeps 0.5 of the points, and kept 1"));
}

TEST_F(CompareClassesTest, TheTableHasNoFormulas) {
  ClassComparison comparison;
  comparison.changed.push_back({.student = {.key = "=cmd()", .name = "@x\n\"y\""},
                                .part = 1,
                                .before = 1,
                                .now = {},
                                .reasons = {"-1 is no reason"},
                                .tasks = {}});
  EXPECT_THAT(compared_csv(comparison),
              AllOf(HasSubstr("'=cmd()"), HasSubstr("'-"), Not(HasSubstr(",=cmd"))));
}

}  // namespace
}  // namespace rooflab
