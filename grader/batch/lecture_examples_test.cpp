#include "grader/batch/lecture_examples.h"

#include "grader/batch/class_fixture.h"
#include "grader/report/evidence.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// A class in which the code that was handed in is told a code at its second line.
class LectureExamplesTest : public ClassFixture {
 protected:
  void hand_in_mistake(const std::string& who) {
    hand_in(who, "float shared_by_all;\nshared_by_all = of_" + who + ";  // " + who + "\n");
  }

  /// What the counting executor told nobody.
  std::vector<LectureExample> examples() {
    run();
    Store store(out() / "batch.sqlite");
    TaskAnalysis task{.id = "count"};
    task.codes = {{.code = "RL0401"}};
    for (const SubmissionRow& row : store.submissions()) {
      const auto grade = store.grade(row.id, 1);
      task.codes[0].sightings.push_back({.submission = task.submissions++,
                                         .grading = grade->grading.name,
                                         .file = "part1-test/a.cu",
                                         .line = 2});
    }
    PartAnalysis part{.number = 1};
    part.tasks = {task};
    return lecture_examples(store, course_.parts[0], part, {});
  }
};

TEST_F(LectureExamplesTest, ShowUpToThreeWithoutNames) {
  for (const char* who : {"ada", "bob", "cem", "dan"}) hand_in_mistake(who);
  hand_in("eve", "float shared_by_all;\nshared_by_all += 1;\n");
  const std::vector<LectureExample> found = examples();
  // What four wrote by other names is one example.
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found, Each(Field(&LectureExample::submissions, 5U)));
  const std::string page = examples_page("Part 1", found, {{"RL0401", "a value is wrong"}});
  EXPECT_THAT(page, AllOf(HasSubstr("count, RL0401: a value is wrong"),
                          HasSubstr("<b>&gt; shared_by_all = name1;</b>"),
                          HasSubstr("5 of 5 submissions have it"),
                          HasSubstr("How the code was made anonymous")));
  for (const char* who : {"ada", "bob", "cem", "dan", "eve"}) {
    EXPECT_THAT(page, Not(HasSubstr(who))) << who;
  }
}

TEST_F(LectureExamplesTest, NoneIsOfAMistakeThatFewHave) {
  hand_in_mistake("ada");
  hand_in_mistake("bob");
  EXPECT_THAT(examples(), IsEmpty());
}

TEST_F(LectureExamplesTest, TheirOrderFollowsFromWhatTheyShow) {
  for (const char* who : {"ada", "bob", "cem"}) {
    hand_in(who, std::string("float x;\nx = ") + std::to_string(who[0] - 'a') + ";\n");
  }
  const std::vector<LectureExample> found = examples();
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_LT(found[0].id, found[1].id);
  EXPECT_LT(found[1].id, found[2].id);
}

}  // namespace
}  // namespace rooflab
