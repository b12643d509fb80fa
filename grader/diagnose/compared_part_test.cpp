// Stories of outputs of which only some elements were compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/diagnose/diagnose.h"

namespace rooflab {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// An output of 1000 rows and 1000 columns, compared at three elements.
class ComparedPartTest : public testing::Test {
 protected:
  ComparedPartTest() {
    context_.task = "copy";
    context_.file = "copy.cu";
    check_.tensor = "out";
    check_.shape = {1000, 1000};
    check_.index = {17, 2003, 999'999};
    check_.expected = check_.got = {1, 2, 3};
    check_.tolerance = {0, 0, 0};
    check_.wrong = check_.unwritten = {false, false, false};
  }

  void spoil(std::size_t i, double got) {
    check_.got[i] = got;
    check_.wrong[i] = true;
    ++check_.wrong_count;
  }

  DiagnoseContext context_;
  TensorCheck check_;
};

TEST_F(ComparedPartTest, AWrongElementIsNamedByItsPlaceInTheWholeOutput) {
  spoil(1, 5);
  const Diagnostic story = explain_mismatch(check_, {}, context_);
  EXPECT_EQ(story.code, Code("RL0401"));
  EXPECT_THAT(story.message, HasSubstr("1 of 3 elements"));
  EXPECT_THAT(story.evidence.at(1), HasSubstr("first out[2][3]"));
  EXPECT_THAT(story.pattern, IsEmpty()) << "three elements make no map";
}

TEST_F(ComparedPartTest, WhereNoneOfThemWasWrittenNoPatternIsLookedFor) {
  check_.shape = {1'000'000};
  spoil(0, 2);
  spoil(2, 4);
  check_.unwritten = check_.wrong;
  check_.unwritten_count = 2;
  EXPECT_EQ(explain_mismatch(check_, {}, context_).code, Code("RL0403"));
}

TEST_F(ComparedPartTest, AMistakeIsRecognisedByTheSameElements) {
  spoil(0, 2);
  spoil(1, 3);
  spoil(2, 4);
  KnownMistake mistake{
      "RL0440", "off by one", "subtract", {{"out", {2, 3, 4}, {0, 0, 0}, check_.index}}};
  EXPECT_EQ(explain_mismatch(check_, {mistake}, context_).code, Code("RL0440"));
  mistake.outputs[0].index = {18, 2003, 999'999};
  EXPECT_EQ(explain_mismatch(check_, {mistake}, context_).code, Code("RL0401"));
}

TEST_F(ComparedPartTest, WhatWasNeverWrittenIsCountedInTheWholeOutput) {
  check_.searched = 1'000'000;
  check_.unwritten_count = 64;
  check_.first_unwritten = 999'936;
  const Diagnostic story = explain_mismatch(check_, {}, context_);
  EXPECT_EQ(story.code, Code("RL0403"));
  EXPECT_EQ(story.message, "64 of 1000000 elements of out were never written");
  EXPECT_THAT(story.evidence.at(0), HasSubstr("out[999][936]"));
  context_.hidden = true;
  const Diagnostic hidden = explain_mismatch(check_, {}, context_);
  EXPECT_EQ(hidden.message, "some elements of out were never written");
  EXPECT_THAT(hidden.evidence, IsEmpty());
}

}  // namespace
}  // namespace rooflab
