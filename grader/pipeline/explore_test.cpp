#include "grader/pipeline/explore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "grader/pipeline/grade_fixture.h"

namespace rooflab {
namespace {

using simgpu::replay::Wanted;
using ::testing::Contains;

class Explored : public GradeTest {
 protected:
  /// What a device was asked to record, and for how many elements.
  struct Asked {
    Wanted wanted;
    std::int64_t elements = 0;
    std::uint64_t element = 0;
  };

  Explored() {
    explore_ = [this](Exploration shown) { shown_ = std::move(shown); };
  }

  /// Grades; each run answers what it is asked to record.
  GradeResult grade_and_explore(const FakeDevice::Behaviour& behave) {
    return grade_with([&](const RunRequest& request) {
      RunOutcome outcome = behave(request);
      if (request.recording) {
        const std::scoped_lock lock(mutex_);
        asked_.push_back({request.recording->wanted, request.problem->tensors[1].shape[0],
                          request.recording->element.value_or(ElementPlace{}).element});
        answer(request.recording->wanted, outcome.recorded);
      }
      return outcome;
    });
  }

  static void answer(const Wanted& wanted, simgpu::replay::Recorded& recorded) {
    if (wanted.kind == Wanted::Kind::last_store) {
      recorded.next = wanted;
      recorded.next->kind = Wanted::Kind::store;
      return;
    }
    recorded.recording.emplace().kernel = "scale";
    recorded.recording->blocks = {{}};
    recorded.recording->warps = {{}};
    recorded.recording->steps = {{}};
  }

  static RunOutcome wrong(const RunRequest& request) {
    RunOutcome outcome = solve(request);
    std::vector<float> y = floats_of(outcome.outputs[1]);
    y[2] += 1;
    outcome.outputs[1] = bytes_of(y);
    return outcome;
  }

  Exploration shown_;
  std::mutex mutex_;
  std::vector<Asked> asked_;
};

TEST_F(Explored, TheSmallestFailingPublicCaseIsShown) {
  grade_and_explore(wrong);
  EXPECT_EQ(shown_.task, "scale");
  EXPECT_TRUE(shown_.page.starts_with("<!doctype html>"));
  EXPECT_NE(shown_.page.find("scale, case 1: four"), std::string::npos);
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_EQ(asked_[0].wanted.kind, Wanted::Kind::last_store);
  EXPECT_EQ(asked_[0].element, 2U);
  EXPECT_EQ(asked_[1].wanted.kind, Wanted::Kind::store);
}

/// Wrong from n = 10 on.
RunOutcome wrong_from_ten(const RunRequest& request, const FakeDevice::Behaviour& wrong) {
  return request.problem->tensors[1].shape[0] < 10 ? solve(request) : wrong(request);
}

TEST_F(Explored, TheSmallestProblemThatFailsLikeTheCaseIsShown) {
  part_.tasks[0].cases = {make_case("four", 4, false), make_case("forty", 40, false)};
  const GradeResult result =
      grade_and_explore([](const RunRequest& request) { return wrong_from_ten(request, wrong); });
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_EQ(asked_[0].elements, 12) << "10 is no multiple of 4, as all cases are";
  EXPECT_EQ(asked_[1].elements, 12);
  EXPECT_NE(shown_.page.find("scale, case 2: forty"), std::string::npos);
  EXPECT_NE(shown_.page.find("a smaller problem that fails like the case: n = 12."),
            std::string::npos);
  ASSERT_FALSE(result.tasks[0].diagnostics.empty());
  EXPECT_THAT(result.tasks[0].diagnostics[0].notes,
              Contains("the smallest problem that shows it has n = 12"));
}

TEST_F(Explored, AProblemThatFailsInAnotherWayIsNotTakenForTheCase) {
  part_.tasks[0].cases = {make_case("four", 4, false), make_case("forty", 40, false)};
  grade_and_explore([](const RunRequest& request) {
    if (request.problem->tensors[1].shape[0] == 40) return wrong(request);
    return wrong_from_ten(request, [](const RunRequest& smaller) {
      RunOutcome outcome = solve(smaller);
      outcome.activity.findings = {finding("RL0201")};
      return outcome;
    });
  });
  ASSERT_FALSE(asked_.empty());
  EXPECT_EQ(asked_[0].elements, 40);
  EXPECT_NE(shown_.page.find("The case has n = 40."), std::string::npos);
}

TEST_F(Explored, HiddenCasesAreNot) {
  const auto only_hidden = [](const RunRequest& request) {
    return request.problem->tensors[1].shape[0] == 9 ? wrong(request) : solve(request);
  };
  grade_and_explore(only_hidden);
  EXPECT_TRUE(shown_.page.empty());
  EXPECT_FALSE(shown_.why_not.empty());
  EXPECT_TRUE(asked_.empty());
}

TEST_F(Explored, ACaseThatFailsByAFindingIsRecordedForThatFinding) {
  grade_and_explore([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.activity.findings = {finding("RL0302")};
    outcome.activity.findings[0].where.file = "scale.cu";
    outcome.activity.findings[0].where.line = 12;
    return outcome;
  });
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].wanted.kind, Wanted::Kind::finding);
  EXPECT_EQ(asked_[0].wanted.where.line, 12U);
  EXPECT_EQ(asked_[0].elements, 4);
  EXPECT_NE(shown_.page.find("RL0302"), std::string::npos);
}

TEST_F(Explored, WhatPassesHasNoPage) {
  grade_and_explore(solve);
  EXPECT_TRUE(shown_.page.empty());
  EXPECT_TRUE(asked_.empty());
}

TEST_F(Explored, NothingIsRunAgainUnlessItIsAskedFor) {
  explore_ = {};
  grade_and_explore(wrong);
  const int runs = runs_;
  EXPECT_TRUE(asked_.empty());
  explore_ = [](const Exploration&) {};
  grade_and_explore(wrong);
  EXPECT_GT(runs_, runs);
}

TEST_F(Explored, WhatRanIntoALimitIsNot) {
  grade_and_explore([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    outcome.end = RunOutcome::End::time_limit;
    return outcome;
  });
  EXPECT_TRUE(shown_.page.empty());
}

}  // namespace
}  // namespace rooflab
