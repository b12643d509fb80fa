#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/part4-fusion/oracle/program.h"

namespace rooflab {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr EstimatedMachine kA100 = {312e12, 19.5e12, 1.555e12, 0, 0};
constexpr MlpSizes kMlp = {32, 4096, 8192, 2, 1};

TEST(ProgramTest, EstimatesAFusedMlpOnAnA100At129Microseconds) {
  const EstimatedTimes times = times_of(mlp_program(kMlp, MlpFusion::whole), kA100);
  EXPECT_THAT(times.tensor * 1e6, DoubleNear(20.65, 0.005));
  EXPECT_THAT(times.cuda * 1e6, DoubleNear(0.0269, 0.00005));
  EXPECT_THAT(times.memory * 1e6, DoubleNear(129, 0.9));
  EXPECT_DOUBLE_EQ(times.seconds(), times.memory);
  EXPECT_EQ(times.bound(), "memory");
}

TEST(ProgramTest, CountsWhatFiveKernelsPassOnTwice) {
  double fused = 0;
  double unfused = 0;
  for (const KernelTotals& kernel : totals_of(mlp_program(kMlp, MlpFusion::whole), {})) {
    fused += kernel.bytes;
  }
  for (const KernelTotals& kernel : totals_of(mlp_program(kMlp, MlpFusion::none), {})) {
    unfused += kernel.bytes;
  }
  const double x = 2.0 * 32 * 4096;
  const double intermediate = 2.0 * 32 * 8192;
  EXPECT_DOUBLE_EQ(unfused - fused, x + 4 * 2 * intermediate);  // x is read by two kernels
}

TEST(ProgramTest, WaitsForALaunchOnlyWhereNothingRuns) {
  const EstimatedMachine slow_host = {1, 1, 1, 0, 2.0};
  const EstimatedProgram program = parse_program(
      "array input x 1\narray intermediate a 1\narray intermediate b 1\narray output y 1\n"
      "operation 0 short 0 1 a x\noperation 1 long 0 5 b a\noperation 2 short 0 1 y b\n");
  const EstimatedTimes times = times_of(program, slow_host);
  // Launches at 2, 4 and 6; each short kernel moves two bytes and takes 2, the long one takes 5.
  EXPECT_DOUBLE_EQ(times.idle, 2);
  EXPECT_DOUBLE_EQ(times.seconds(), 11);
}

TEST(ProgramTest, KeepsInTheL2WhatTheKernelBeforeHasWrittenAndWhatFits) {
  const EstimatedProgram program = parse_program(
      "array input x 8\narray intermediate small 2\narray intermediate large 8\narray output y 1\n"
      "operation 0 first 0 1 small x\noperation 0 second 0 1 large x\n"
      "operation 1 third 0 1 y small large\n");
  EXPECT_DOUBLE_EQ(totals_of(program, {}).at(1).bytes, 2 + 8 + 1);
  TrafficRule rule;
  rule.l2_bytes = 4;
  EXPECT_DOUBLE_EQ(totals_of(program, rule).at(1).bytes, 8 + 1);
  EXPECT_DOUBLE_EQ(totals_of(program, rule).at(0).bytes, 8 + 2 + 8);
}

/// The first complaint about 6400 + 100 bytes that kernel 0 reads and 6400 that it writes, told as
/// `bytes`.
std::string complaint_about(double bytes) {
  const Values parameters{
      {"function", std::string("kernels_of")},
      {"l2_bytes", 0.0},
      {"program", std::string("array input x 6400\narray input w 100\narray intermediate a 6400\n"
                              "array intermediate b 6400\narray output y 6400\n"
                              "operation 0 square 0 1600 a x x\n"
                              "operation 0 scale 0 1600 b x w\noperation 0 add 0 1600 y a b\n")}};
  CallEvidence evidence;
  evidence.results = {{"kernels", std::int64_t{1}},
                      {"matmul_flops of kernel 0", 0.0},
                      {"pointwise_flops of kernel 0", 4800.0},
                      {"bytes of kernel 0", bytes}};
  const auto complaints = oracle_registry().at("estimator")()->judge({parameters, {}}, evidence);
  return complaints.empty() ? "" : complaints[0].code.text() + ": " + complaints[0].message.text;
}

TEST(EstimatorOracleTest, TellsWhichPartOfTheTrafficIsCountedTooOftenOrNotAtAll) {
  EXPECT_EQ(complaint_about(12900), "");
  EXPECT_THAT(complaint_about(19300), HasSubstr("RL0515: an array that several operations"));
  EXPECT_THAT(complaint_about(25700), HasSubstr("RL0515: an array that several operations"));
  EXPECT_THAT(complaint_about(12800), HasSubstr("RL0438: what kernel 0 reads of w is missing"));
  EXPECT_THAT(complaint_about(13000), HasSubstr("what kernel 0 reads of w is counted twice"));
  EXPECT_THAT(complaint_about(1), HasSubstr("RL0407"));
}

TEST(ProgramTest, RefusesLinesThatAreNoProgram) {
  EXPECT_THAT([] { parse_program("array input x"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("array input x")));
  EXPECT_THAT([] { parse_program("array weight x 4"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("another role")));
  EXPECT_THAT([] { parse_program("operation 0 copy 0 1 y x"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("names an array")));
  EXPECT_THAT([] { parse_program("array output y 4\noperation 1 fill 0 1 y"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("in order")));
  EXPECT_THAT([] { parse_program("array output y 4\noperation -1 fill 0 1 y"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("in order")));
  EXPECT_THAT([] { parse_program("kernel 1"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("neither")));
}

}  // namespace
}  // namespace rooflab
