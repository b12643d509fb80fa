#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "grader/pipeline/grade_fixture.h"

// What a grade tells while it goes on: files that do not compile, each task as soon as it is
// graded, and the first failing case of one that still runs.
namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ListenerTest : public GradeTest {
 protected:
  ListenerTest() {
    for (const char* id : {"second", "third"}) {
      part_.tasks.push_back(part_.tasks[0]);
      part_.tasks.back().id = id;
    }
    for (TaskSpec& task : part_.tasks) {
      task.speeds.clear();
      complete_groups(task);
    }
    build_.library = library_;
  }

  /// Grades, and gives what was told in the order in which it was.
  std::vector<std::string> told_with(const FakeDevice::Behaviour& behave) {
    std::vector<std::string> told;
    FakeDevice device([&](const RunRequest& request) {
      if (told.empty() || told.back() != "runs") told.emplace_back("runs");
      return behave(request);
    });
    const GradeTools tools{
        .device = device,
        .build =
            [this](const TaskSpec& task, const std::vector<SourceFile>&) {
              BuildOutcome outcome = build_;
              if (task.id == broken_) outcome.end = BuildOutcome::End::failed;
              return outcome;
            },
        .oracle = [this](const std::string&) { return oracle_(); },
        .progress = [](const std::string&) {},
        .graded =
            [&](const TaskResult& task) { told.push_back(task.id + " " + name_of(task.verdict)); },
        .failing =
            [&](const TaskSpec& task, const Diagnostic& story) {
              told.push_back(task.id + " fails: " + story.message);
            }};
    grade(part_, request_, tools);
    return told;
  }

  std::string broken_;  ///< the task whose file does not compile
};

TEST_F(ListenerTest, EachTaskIsToldAsSoonAsItIsGraded) {
  part_.tasks.resize(2);
  EXPECT_THAT(told_with(solve), ElementsAre("runs", "scale pass", "runs", "second pass"));
}

TEST_F(ListenerTest, AFileThatDoesNotCompileIsToldBeforeAnythingRuns) {
  broken_ = "third";
  EXPECT_THAT(told_with(solve),
              ElementsAre("third compile-error", "runs", "scale pass", "runs", "second pass"));
}

TEST_F(ListenerTest, TheFirstFailingCaseIsToldWhileTheOthersStillRun) {
  part_.tasks.resize(1);
  const auto wrong_from_seven = [](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.problem->tensors[0].elements() >= 7) outcome.outputs[1][3] ^= std::byte{1};
    return outcome;
  };
  EXPECT_THAT(told_with(wrong_from_seven),
              ElementsAre("runs", HasSubstr("scale fails: "), "runs", "scale wrong-answer"));
}

TEST_F(ListenerTest, OfAHiddenCaseThatFailsNothingIsToldBeforeItsTaskIs) {
  part_.tasks.resize(1);
  const auto wrong_in_secret = [](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.problem->tensors[0].elements() == 9) outcome.outputs[1][3] ^= std::byte{1};
    return outcome;
  };
  EXPECT_THAT(told_with(wrong_in_secret), ElementsAre("runs", "scale wrong-answer"));
}

TEST_F(ListenerTest, TasksThatRunSideBySideAreToldInTheOrderOfThePart) {
  request_.jobs = 3;
  std::vector<std::string> told;
  FakeDevice device(solve);
  const GradeTools tools{
      .device = device,
      .build = [this](const TaskSpec&, const std::vector<SourceFile>&) { return build_; },
      .oracle = [this](const std::string&) { return oracle_(); },
      .progress = [](const std::string&) {},
      .graded = [&](const TaskResult& task) { told.push_back(task.id); }};
  grade(part_, request_, tools);
  EXPECT_THAT(told, ElementsAre("scale", "second", "third"));
}

}  // namespace
}  // namespace rooflab
