#include "grader/pipeline/reveal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/pipeline/grade_fixture.h"
#include "grader/report/evidence.h"
#include "grader/report/json.h"

namespace rooflab {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Right but in the hidden case, of nine elements, where the last one is 1234.5.
RunOutcome wrong_when_hidden(const RunRequest& request) {
  RunOutcome outcome = solve(request);
  if (request.problem->tensors[0].elements() != 9) return outcome;
  std::vector<float> y = floats_of(outcome.outputs[1]);
  y[8] = 1234.5;
  outcome.outputs[1] = bytes_of(y);
  outcome.printed = "nine";
  return outcome;
}

class RevealTest : public GradeTest {
 protected:
  GradeResult grade_revealing(const FakeDevice::Behaviour& behave) {
    FakeDevice device(behave);
    build_.library = library_;
    for (TaskSpec& task : part_.tasks) complete_groups(task);
    return grade(
        part_, request_,
        {.device = device,
         .build = [this](const TaskSpec&, const std::vector<SourceFile>&) { return build_; },
         .oracle = [this](const std::string&) { return oracle_(); },
         .progress = [](const std::string&) {},
         .reveal = [this](RevealedCase one) { revealed_.push_back(std::move(one)); }});
  }

  std::vector<RevealedCase> revealed_;
};

TEST_F(RevealTest, AHiddenCaseThatFailsIsToldWhole) {
  grade_revealing(wrong_when_hidden);
  ASSERT_EQ(revealed_.size(), 1U);
  const RevealedCase& one = revealed_[0];
  EXPECT_EQ(one.task, "scale");
  EXPECT_EQ(one.name, "secret");
  EXPECT_EQ(one.parameters, "n = 9");
  EXPECT_EQ(one.verdict, Verdict::wrong_answer);
  EXPECT_EQ(one.printed, "nine");
  ASSERT_THAT(one.diagnostics, Not(IsEmpty()));
  EXPECT_THAT(one.diagnostics[0].evidence, Contains(HasSubstr("1234.5")));
  EXPECT_THAT(one.diagnostics[0].commands, IsEmpty());
}

TEST_F(RevealTest, AHiddenCaseThatFailsInTheOppositeOrderIsToldWithWhatWentWrongThere) {
  grade_revealing([](const RunRequest& request) {
    RunOutcome outcome = request.backwards ? wrong_when_hidden(request) : solve(request);
    for (simgpu::KernelRecord& kernel : outcome.activity.kernels) kernel.sees_order = true;
    return outcome;
  });
  ASSERT_EQ(revealed_.size(), 1U);
  EXPECT_EQ(revealed_[0].verdict, Verdict::race);
  EXPECT_EQ(revealed_[0].printed, "nine");
  ASSERT_THAT(revealed_[0].diagnostics, Not(IsEmpty()));
  EXPECT_THAT(revealed_[0].diagnostics[0].evidence, Contains(HasSubstr("1234.5")));
}

TEST_F(RevealTest, TheResultHoldsNothingOfIt) {
  const GradeResult result = grade_revealing(wrong_when_hidden);
  for (const std::string& text : {to_evidence(result), to_json(result)}) {
    EXPECT_THAT(text, HasSubstr("secret"));
    for (const char* hidden : {"1234.5", "n = 9", "nine"})
      EXPECT_THAT(text, Not(HasSubstr(hidden)));
  }
}

TEST_F(RevealTest, WhatPassesAndWhatIsPublicIsNotRevealed) {
  grade_revealing(solve);
  EXPECT_THAT(revealed_, IsEmpty());
  part_.tasks[0].cases[2].hidden = false;
  grade_revealing(wrong_when_hidden);
  EXPECT_THAT(revealed_, IsEmpty());
}

TEST_F(RevealTest, IsTheSameAfterItWasWrittenDown) {
  grade_revealing(wrong_when_hidden);
  const auto read = revealed_from(to_text(revealed_));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].parameters, "n = 9");
  EXPECT_EQ(read[0].diagnostics[0].evidence, revealed_[0].diagnostics[0].evidence);
  EXPECT_THAT(revealed_from(""), IsEmpty());
  EXPECT_THROW(revealed_from("nonsense"), EvidenceError);
}

}  // namespace
}  // namespace rooflab
