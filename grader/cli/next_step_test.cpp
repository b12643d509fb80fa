#include "grader/cli/next_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/spec/files.h"

/// What is next, and that it is looked for first where a student is at work.
namespace rooflab {
namespace {

TaskSpec task_of(const std::string& id) {
  TaskSpec task;
  task.id = id;
  task.file = id + ".cu";
  return task;
}

/// A part of tasks that none but the given ones are solved of.
PartProgress part_of(int number, const std::vector<std::string>& tasks,
                     const std::vector<std::string>& solved) {
  PartProgress progress;
  progress.part.number = number;
  progress.part.directory = "part" + std::to_string(number);
  for (const std::string& id : tasks) progress.part.tasks.push_back(task_of(id));
  progress.last.emplace();
  for (const std::string& id : solved) {
    TaskResult result;
    result.id = id;
    progress.last->tasks.push_back(result);
  }
  return progress;
}

class NextStepTest : public testing::Test {
 protected:
  std::string next(const std::optional<AtWork>& at_work = {}) const {
    const auto step = next_step(course_, folder_.path(), at_work);
    return step ? step->task : "nothing";
  }

  TemporaryFolder folder_{testing::TempDir()};
  std::vector<PartProgress> course_ = {part_of(0, {"add", "sum"}, {"add"}),
                                       part_of(1, {"naive", "scores", "online", "gemv"}, {})};
};

TEST_F(NextStepTest, NobodyAtWorkGoesByTheOrderOfTheCourse) { EXPECT_EQ(next(), "sum"); }

TEST_F(NextStepTest, ThePartThatWasGradedComesFirst) {
  EXPECT_EQ(next(AtWork{.part = 1}), "naive");
  EXPECT_EQ(next(AtWork{.part = 1, .task = "gemv"}), "naive");
}

TEST_F(NextStepTest, TheLadderOfTheTaskComesBeforeTheRestOfItsPart) {
  course_[1].part.ladders = {{"flash", "Flash", {"scores", "online"}}};
  course_[1].last->tasks.emplace_back().id = "scores";
  EXPECT_EQ(next(AtWork{.part = 1, .task = "scores"}), "online");
  EXPECT_EQ(next(AtWork{.part = 1, .task = "gemv"}), "naive");
  course_[1].last->tasks.emplace_back().id = "online";
  EXPECT_EQ(next(AtWork{.part = 1, .task = "online"}), "naive");
}

TEST_F(NextStepTest, APartThatIsDoneGoesBackToTheCourse) {
  EXPECT_EQ(next(AtWork{.part = 0, .task = "add"}), "sum");
  course_[0] = part_of(0, {"add"}, {"add"});
  EXPECT_EQ(next(AtWork{.part = 0, .task = "add"}), "naive");
}

TEST_F(NextStepTest, WhatIsOpenInEarlierPartsIsOneLine) {
  EXPECT_EQ(open_before(course_, 1), "Still open in part 0: 1 task");
  EXPECT_EQ(open_before(course_, 0), "");
  course_.push_back(part_of(2, {"stream"}, {}));
  EXPECT_EQ(open_before(course_, 2), "Still open in part 0: 1 task, in part 1: 4 tasks");
}

TEST_F(NextStepTest, AnOpenBonusQuestionIsNoOpenPlace) {
  TaskSpec answers = task_of("answers");
  answers.kind = TaskKind::answers;
  answers.file = "answers.toml";
  answers.questions = {{"ridge", QuestionKind::number, "Where?", {}, 3},
                       {"more", QuestionKind::text, "Why?", {}, 2}};
  answers.questions[1].bonus = true;
  course_ = {part_of(0, {}, {})};
  course_[0].part.tasks = {answers};
  const auto place = [&](const std::string& text) {
    write_file_atomically(folder_.path() / "part0/answers.toml", text);
    return next_step(course_, folder_.path())->place;
  };
  EXPECT_EQ(place("more = \"\"\nridge = \"\"\n"), "part0/answers.toml:2");
  EXPECT_EQ(place("more = \"\"\nridge = 12\n"), "part0/answers.toml");
}

}  // namespace
}  // namespace rooflab
