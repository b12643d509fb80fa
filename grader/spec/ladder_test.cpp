#include "grader/spec/ladder.h"

#include <gtest/gtest.h>

#include "grader/spec/result.h"

namespace rooflab {
namespace {

const Ladder kLadder{
    .id = "attention", .title = "Attention in steps", .steps = {"scores", "softmax", "attention"}};

TaskResult task(const std::string& id, Verdict verdict) {
  TaskResult result;
  result.id = id;
  result.verdict = verdict;
  return result;
}

TEST(LadderTest, SaysHowManyStepsAreDoneAndWhichIsNext) {
  const std::vector<TaskResult> tasks{
      task("scores", Verdict::pass), task("softmax", Verdict::wrong_answer),
      task("attention", Verdict::not_implemented), task("other", Verdict::pass)};
  const LadderState state = state_of(kLadder, tasks);
  EXPECT_EQ(state.graded, 3U);
  EXPECT_EQ(state.done, 1U);
  EXPECT_EQ(state.next, "softmax");
  EXPECT_EQ(ladder_words(kLadder, tasks), "Attention in steps: 1 of 3 steps done, next softmax");
}

TEST(LadderTest, AStepMayBeDoneBeforeTheOneBelowIt) {
  EXPECT_EQ(ladder_words(kLadder, {task("scores", Verdict::race), task("softmax", Verdict::pass),
                                   task("attention", Verdict::pass)}),
            "Attention in steps: 2 of 3 steps done, next scores");
}

TEST(LadderTest, NothingIsNextWhereAllStepsAreDone) {
  EXPECT_EQ(ladder_words(kLadder, {task("scores", Verdict::pass), task("softmax", Verdict::pass),
                                   task("attention", Verdict::pass)}),
            "Attention in steps: 3 of 3 steps done");
}

TEST(LadderTest, OfFewerTasksItSaysWhichStepsTheyAre) {
  EXPECT_EQ(ladder_words(kLadder, {task("softmax", Verdict::pass)}),
            "Attention in steps: softmax is step 2 of 3");
  EXPECT_EQ(ladder_words(kLadder, {task("other", Verdict::pass)}), "");
}

}  // namespace
}  // namespace rooflab
