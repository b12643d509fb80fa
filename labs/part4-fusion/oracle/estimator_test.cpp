#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

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

TEST(ProgramTest, RefusesLinesThatAreNoProgram) {
  EXPECT_THAT([] { parse_program("array input x"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("array input x")));
  EXPECT_THAT([] { parse_program("array weight x 4"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("another role")));
  EXPECT_THAT([] { parse_program("operation 0 copy 0 1 y x"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("names an array")));
  EXPECT_THAT([] { parse_program("array output y 4\noperation 1 fill 0 1 y"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("in order")));
  EXPECT_THAT([] { parse_program("kernel 1"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("neither")));
}

}  // namespace
}  // namespace rooflab
