#include "grader/spec/result.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rooflab {
namespace {

TaskResult task_with(bool bonus, double score, double max_score) {
  TaskResult task;
  task.bonus = bonus;
  task.score = score;
  task.max_score = max_score;
  return task;
}

TEST(GradeResultTest, KeepsBonusApartFromTheScore) {
  GradeResult result;
  result.tasks = {task_with(false, 7.5, 10), task_with(false, 20, 20), task_with(true, 4, 5)};
  EXPECT_EQ(result.score(), 27.5);
  EXPECT_EQ(result.max_score(), 30);
  EXPECT_EQ(result.bonus(), 4);
}

TEST(VerdictTest, OfAWholeIsThatOfItsWorstPart) {
  EXPECT_TRUE(is_worse(Verdict::wrong_answer, Verdict::pass));
  EXPECT_TRUE(is_worse(Verdict::wrong_answer, Verdict::not_implemented));
  EXPECT_TRUE(is_worse(Verdict::race, Verdict::wrong_answer)) << "it makes wrong answers";
  EXPECT_TRUE(is_worse(Verdict::suspect, Verdict::pass));
  EXPECT_TRUE(is_worse(Verdict::grader_fault, Verdict::rejected));
  EXPECT_FALSE(is_worse(Verdict::race, Verdict::race));
}

TEST(VerdictTest, EachHasASpellingOfItsOwn) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Verdict::grader_fault); ++i) {
    names.insert(name_of(static_cast<Verdict>(i)));
  }
  EXPECT_EQ(names, (std::set<std::string>{"pass", "wrong-answer", "compile-error", "runtime-error",
                                          "race", "time-limit", "memory-limit", "output-limit",
                                          "disk-limit", "not-implemented", "rejected", "suspect",
                                          "not-applicable", "grader-fault"}));
}

}  // namespace
}  // namespace rooflab
