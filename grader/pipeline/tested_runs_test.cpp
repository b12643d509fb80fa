#include "grader/pipeline/tested_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/pipeline/grade_fixture.h"

namespace rooflab {
namespace {

using testing::ElementsAre;

/// A call with two outputs of one element, of which the case looks at z.
StudentCase case_of_z(const std::string& name, float expected) {
  StudentCase one{.name = name, .chosen = {}, .problem = {}, .expected = {}};
  one.problem.parameters = {{"n", std::int64_t{1}}};
  for (const char* output : {"y", "z"}) {
    Tensor& tensor = one.problem.tensors.emplace_back();
    tensor.name = output;
    tensor.role = Role::output;
    tensor.shape = {1};
  }
  one.expected = {{"z", {expected}, {0.5}}};
  return one;
}

/// Whether each case refuses an implementation whose z is 7, and that never writes y.
std::vector<bool> refused(const std::vector<StudentCase>& cases, RunOutcome ending = {}) {
  FakeDevice device([&](const RunRequest& request) {
    RunOutcome outcome = ending;
    outcome.outputs = untouched(*request.problem);
    outcome.outputs[1] = bytes_of({7});
    return outcome;
  });
  std::vector<bool> refused;
  for (const TestedRun& run :
       run_cases(device, {"library.so", "edges_1", "edges", false}, cases, {}, ScaleOracle())) {
    refused.push_back(run.is_refused);
  }
  return refused;
}

TEST(TestedRunsTest, OnlyTheOutputsThatACaseLooksAtAreCompared) {
  EXPECT_THAT(refused({case_of_z("right", 7), case_of_z("wrong", 8)}), ElementsAre(false, true));
}

TEST(TestedRunsTest, ACallThatFailsIsRefusedWhateverItWrote) {
  RunOutcome with_error;
  with_error.cuda_error = "cudaErrorIllegalAddress";
  EXPECT_THAT(refused({case_of_z("right", 7)}, with_error), ElementsAre(true));
  RunOutcome with_finding;
  with_finding.activity.findings = {finding("RL0201")};
  EXPECT_THAT(refused({case_of_z("right", 7)}, with_finding), ElementsAre(true));
  RunOutcome with_leak;
  with_leak.activity.findings = {finding("RL0309")};
  EXPECT_THAT(refused({case_of_z("right", 7)}, with_leak), ElementsAre(false))
      << "no test sees what is not freed";
}

TEST(TestedRunsTest, WhatIsFoundOfLaterCallsIsNotTheFirstOnes) {
  RunOutcome with_work_off_the_stream;
  with_work_off_the_stream.activity.findings = {finding("RL0325")};
  EXPECT_THAT(refused({case_of_z("right", 7)}, with_work_off_the_stream), ElementsAre(false));
}

TEST(TestedRunsTest, ACallThatDoesNotComeBackCatchesNothing) {
  using End = RunOutcome::End;
  for (const End end : {End::time_limit, End::memory_limit, End::output_limit, End::disk_limit,
                        End::killed, End::exited, End::not_implemented, End::device_fault}) {
    RunOutcome lost;
    lost.end = end;
    EXPECT_THROW(refused({case_of_z("wrong", 8)}, lost), std::runtime_error);
  }
  for (const Code code : {Code("RL0307"), Code("RL0319")}) {
    RunOutcome endless;
    endless.cuda_error = "cudaErrorLaunchTimeout";
    endless.activity.findings = {finding(code)};
    EXPECT_THROW(refused({case_of_z("wrong", 8)}, endless), std::runtime_error) << code.text();
  }
}

TEST(TestedRunsTest, AnExceptionOfACallThatFailedOnTheDeviceIsARefusal) {
  RunOutcome thrown;
  thrown.end = RunOutcome::End::exception;
  thrown.activity.error = "cudaErrorIllegalAddress";
  EXPECT_THAT(refused({case_of_z("right", 7)}, thrown), ElementsAre(true));
}

}  // namespace
}  // namespace rooflab
