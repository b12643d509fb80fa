#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/diagnose/diagnose_testing.h"

/// How runs and compilers end, and what is said of results.
namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(DiagnoseTest, ACompileErrorStandsAtTheLineOfTheFirstError) {
  const auto line_of = [&](const std::string& messages) {
    return explain_compile_error(messages, context_).line;
  };
  EXPECT_EQ(line_of("part1/gemm_tiled.cu(2): warning: unused\n"
                    "part1/gemm_tiled.cu(14): error: identifier \"x\" is undefined\n"
                    "part1/gemm_tiled.cu(20): error: expected a \";\"\n"),
            14U);
  EXPECT_EQ(line_of("part1/gemm_tiled.cu:3:10: fatal error: x.h: No such file or directory\n"), 3U);
  EXPECT_EQ(line_of("other.h(7): error: expected a \";\"\n"), 0U);
  EXPECT_EQ(line_of("the compiler was stopped: it used too much memory\n"), 0U);
  EXPECT_EQ(line_of("gemm_tiled.cu error: "), 0U);
}

TEST_F(DiagnoseTest, ACompileErrorInAHeaderOfTheStudentsStandsThere) {
  context_.sources["common.cuh"] = "#pragma once\nint twice(int x) { return 2 * x }\n";
  const Diagnostic story =
      explain_compile_error("part1/common.cuh(2): error: expected a \";\"\n", context_);
  EXPECT_EQ(story.file, "common.cuh");
  EXPECT_EQ(story.line, 2U);
  const Diagnostic elsewhere = explain_compile_error("other.h(7): error: no\n", context_);
  EXPECT_EQ(elsewhere.file, "gemm_tiled.cu") << "what is not theirs, they cannot mend";
}

TEST_F(DiagnoseTest, ACompileErrorIsHeadedByTheFirstMessage) {
  EXPECT_EQ(explain_compile_error("part1/gemm_tiled.cu(2): warning: unused\n"
                                  "part1/gemm_tiled.cu(14): error: identifier \"x\" is undefined\n"
                                  "part1/gemm_tiled.cu(20): error: expected a \";\"\n",
                                  context_)
                .message,
            "identifier \"x\" is undefined");
  EXPECT_EQ(explain_compile_error("Killed\n", context_).message, "gemm_tiled.cu does not compile");
}

TEST_F(DiagnoseTest, TooMuchSharedMemoryIsToldInDecimalsWithWhatMakesItLess) {
  const std::string refused =
      "ptxas error   : Entry function '_Z3bigPf' uses too much shared data (0xd200 bytes, 0xc000 "
      "max)\n";
  const Diagnostic story = explain_compile_error(refused, context_);
  EXPECT_EQ(story.message, "a kernel declares 53760 bytes of shared memory, of at most 49152");
  EXPECT_THAT(story.help, AllOf(HasSubstr("make the tiles smaller"), HasSubstr("Part 5, Step 6")));
  EXPECT_THAT(
      explain_compile_error("x.cu(2): error: uses too much shared data (0xd2\n", context_).help,
      HasSubstr("start with the first message"));
}

TEST_F(DiagnoseTest, ACompilerThatWasEndedHeadsItsStory) {
  const auto message_of = [&](const std::string& said) {
    return explain_compile_error(said, context_).message;
  };
  const std::string stopped = "the compiler was stopped after 120 s\n";
  EXPECT_EQ(message_of(stopped), "the compiler was stopped after 120 s");
  EXPECT_EQ(message_of("x.cu(2): warning: unused\n" + stopped),
            "the compiler was stopped after 120 s");
  EXPECT_EQ(message_of("x.cu(2): error: no\n" + stopped), "no") << "its own words come first";
  EXPECT_EQ(message_of("warning: " + stopped), "gemm_tiled.cu does not compile");
  EXPECT_EQ(message_of(stopped + "note\n"), "gemm_tiled.cu does not compile");
}

/// What a function threw, as the guest reports it.
RunOutcome thrown(const std::string& text, Thrown at = {}) {
  RunOutcome outcome;
  outcome.end = RunOutcome::End::exception;
  outcome.detail = text;
  outcome.thrown = std::move(at);
  return outcome;
}

TEST_F(DiagnoseTest, AFailedCudaCallIsToldWithItsPlaceAndItsError) {
  const Diagnostic story =
      explain_end(thrown("cudaMalloc(&p, n) failed with cudaErrorMemoryAllocation (out of memory)",
                         {"part1/gemm_tiled.cu", 2,
                          "the size of this allocation, and memory that was never freed"}),
                  context_);
  EXPECT_EQ(story.code, Code("RL0604"));
  EXPECT_EQ(story.message,
            "cudaMalloc(&p, n) failed with cudaErrorMemoryAllocation (out of memory)");
  EXPECT_EQ(story.line, 2U);
  ASSERT_EQ(story.labels.size(), 1U);
  EXPECT_EQ(story.labels[0].excerpt, "    Bs[ty][tx] = B[row * N + col];");
  EXPECT_EQ(story.help, "look at the size of this allocation, and memory that was never freed.");
}

TEST_F(DiagnoseTest, AnExceptionWithoutAPlaceIsToldAsItIs) {
  const Diagnostic story = explain_end(thrown("vector::_M_range_check: 4 >= 4"), context_);
  EXPECT_EQ(story.message, "the function threw: vector::_M_range_check: 4 >= 4");
  EXPECT_EQ(story.line, 0U);
  EXPECT_THAT(story.labels, IsEmpty());
}

TEST_F(DiagnoseTest, WhatAHiddenCaseThrewOrPrintedIsNotTold) {
  context_.hidden = true;
  context_.case_number = 0;
  for (const Thrown& at : {Thrown{}, Thrown{"gemm_tiled.cu", 7777, "7777"}}) {
    const std::string story = told(explain_end(thrown("7777", at), context_));
    EXPECT_THAT(story, ::testing::Not(HasSubstr("7777")));
    EXPECT_THAT(story, HasSubstr("this case is hidden"));
  }
}

TEST_F(DiagnoseTest, WhatTheProcessPrintedIsNoEvidence) {
  RunOutcome killed;
  killed.end = RunOutcome::End::killed;
  killed.detail = "SIGSEGV (Segmentation fault)";
  killed.printed = "host code dereferenced device pointer 7777\n";
  EXPECT_EQ(explain_end(killed, context_).code, Code("RL0605"));
}

TEST_F(DiagnoseTest, WhatEndedTheProcessDecidesWhatToLookFor) {
  const auto help_after = [&](Killer killer) {
    RunOutcome outcome;
    outcome.end = RunOutcome::End::killed;
    outcome.killer = killer;
    return explain_end(outcome, context_).help;
  };
  EXPECT_THAT(help_after({.signal = SIGSEGV}), HasSubstr("memory that is not its own"));
  EXPECT_THAT(help_after({.signal = SIGABRT}), HasSubstr("abort"));
  EXPECT_THAT(help_after({.too_many_processes = true}), HasSubstr("no task needs"));
}

TEST_F(DiagnoseTest, ACallThatThrewIsThePlaceOfTheMisuse) {
  simgpu::Finding misuse;
  misuse.code = "RL0308";
  RunOutcome outcome;
  outcome.end = RunOutcome::End::exception;
  outcome.thrown = {"submission/gemm_tiled.cu", 4, "the arguments"};
  outcome.detail = "cudaMemcpy(to, from, n, kind) failed with cudaErrorInvalidValue";
  Diagnostic story = explain_finding(misuse, context_);
  add_failed_call(story, outcome, context_);
  EXPECT_EQ(story.line, 4U);
  EXPECT_THAT(told(story), HasSubstr("this call failed"));

  outcome.detail = "cudaGetLastError() failed with cudaErrorInvalidConfiguration";
  story = explain_finding(misuse, context_);
  add_failed_call(story, outcome, context_);
  EXPECT_THAT(told(story), HasSubstr("a call before this line failed"));

  context_.hidden = true;
  story = explain_finding(misuse, context_);
  add_failed_call(story, outcome, context_);
  EXPECT_EQ(story.line, 0U) << "which line it is was the submission's choice";
}

TEST_F(DiagnoseTest, OfAHiddenCaseTheGuestsNameOfACudaErrorIsNotTold) {
  RunOutcome outcome;
  outcome.cuda_error = "M is 7777";
  EXPECT_THAT(told(explain_end(outcome, context_)), HasSubstr("7777"));
  context_.hidden = true;
  context_.case_number = 0;
  EXPECT_THAT(told(explain_end(outcome, context_)), ::testing::Not(HasSubstr("7777")));
  outcome.activity.error = "cudaErrorIllegalAddress";
  EXPECT_THAT(told(explain_end(outcome, context_)), ::testing::Not(HasSubstr("IllegalAddress")))
      << "there are a hundred errors to choose from";
}

TEST_F(DiagnoseTest, EvidenceOfAComplaintIsNotToldOfAHiddenCase) {
  const Complaint complaint{
      "RL0431", "there are no tiles" + Evidence{": warps load as often as a dozen rows"},
      "share loads in tiles"};
  EXPECT_EQ(explain_complaint(complaint, context_).message,
            "there are no tiles: warps load as often as a dozen rows");
  context_.hidden = true;
  EXPECT_EQ(explain_complaint(complaint, context_).message, "there are no tiles");
}

TEST_F(DiagnoseTest, OfAComposedComplaintAHiddenCaseTellsNothing) {
  const std::string label = "a label with the sizes in words";
  const Complaint complaint{"RL0453", label + " is no operation", "look at the labels"};
  EXPECT_EQ(explain_complaint(complaint, context_).message, label + " is no operation");
  context_.hidden = true;
  EXPECT_EQ(explain_complaint(complaint, context_).message, "the result is not right");
}

TEST_F(DiagnoseTest, AComplaintAboutTheWayToRightValuesSaysSo) {
  const Complaint complaint{"RL0431", std::string("there are 7 loads"), "share loads in tiles"};
  EXPECT_EQ(explain_way(complaint, context_).message,
            "the values are right, but there are 7 loads");
  context_.hidden = true;
  EXPECT_EQ(explain_way(complaint, context_).message,
            "the values are right, but not how they are computed");
}

TEST_F(DiagnoseTest, AResultOffByAKnownFactorNamesTheCause) {
  CaseSpec spec;
  spec.name = "square";
  const Diagnostic story =
      explain_results({{"flops", std::int64_t{8}}}, {{"flops", std::int64_t{16}}},
                      {{"flops", 0.5, "a multiply-add counts as two"}}, spec, context_);
  EXPECT_EQ(story.code, Code("RL0406"));
  EXPECT_THAT(story.message, HasSubstr("a multiply-add counts as two"));
  EXPECT_THAT(story.evidence, Contains(HasSubstr("expected 16, got 8")));
}

TEST_F(DiagnoseTest, AQuotientThatWasCutToAWholeNumberIsToldWithBothNumbers) {
  const auto message = [&](const Value& got, double right) {
    return explain_results({{"intensity", got}}, {{"intensity", right}}, {}, CaseSpec{}, context_)
        .message;
  };
  EXPECT_THAT(message(5.0, 5.25), AllOf(HasSubstr("intensity should be 5.25 and is 5"),
                                        HasSubstr("the quotient was cut to a whole number")));
  EXPECT_EQ(message(6.0, 5.25), "intensity is wrong") << "a ceiling has other causes";
  EXPECT_EQ(message(0.0, 0.25), "intensity is wrong") << "many mistakes end at 0";
  context_.hidden = true;
  EXPECT_EQ(message(5.0, 5.25), "intensity is wrong");
}

TEST_F(DiagnoseTest, AKnownFactorHidesNoOtherWrongResult) {
  CaseSpec spec;
  spec.name = "square";
  const Diagnostic story = explain_results(
      {{"flops", std::int64_t{9}}, {"macs", std::int64_t{16}}},
      {{"bytes", std::int64_t{4}}, {"flops", std::int64_t{16}}, {"macs", std::int64_t{8}}},
      {{"macs", 2, "that is the number of FLOPs"}}, spec, context_);
  EXPECT_EQ(story.code, Code("RL0406"));
  EXPECT_THAT(story.message, HasSubstr("macs is off by a factor of 2"));
  EXPECT_THAT(story.evidence, ElementsAre("bytes: no result", "flops: expected 16, got 9",
                                          "macs: expected 8, got 16"));
}

}  // namespace
}  // namespace rooflab
