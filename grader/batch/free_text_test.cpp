#include "grader/batch/free_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using testing::HasSubstr;

TEST(RubricPage, SaysWhatEachFreeTextEarnsPointsFor) {
  TaskSpec task;
  task.id = "answers";
  task.kind = TaskKind::answers;
  task.questions = {{"why", QuestionKind::text, "Why is it slow?", {}, 2},
                    {"ridge", QuestionKind::number, "Where?", {}, 1}};
  Course course;
  EXPECT_EQ(rubric_page(course), "");
  course.parts.push_back(
      {.number = 3, .title = "A part", .directory = "part3", .root = {}, .tasks = {task}});
  EXPECT_EQ(rubric_page(course), "") << "nobody has said";
  course.keys[3]["why"].rubric = {{0.5, "names a limit"}, {1.5, "proves it"}};
  const std::string page = rubric_page(course);
  EXPECT_THAT(page, HasSubstr("## Part 3, why (2 points)\n\nWhy is it slow?\n\n"));
  EXPECT_THAT(page, HasSubstr("- 0.5: names a limit\n- 1.5: proves it\n"));
}

}  // namespace
}  // namespace rooflab
