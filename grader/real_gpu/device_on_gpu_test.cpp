// The CUDA device on a real GPU. Registered under the label gpu: without one it is skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "grader/device/cuda/cuda_device.h"
#include "grader/device/testing/scaling.h"

namespace rooflab {
namespace {

using End = RunOutcome::End;

/// Of the toolkit that on_gpu was told, else of the one that this was built with.
DeviceOptions options() {
  DeviceOptions result = test_options();
  const char* libraries = std::getenv("ROOFLAB_CUDA_LIBRARIES");
  result.cuda_libraries = libraries == nullptr ? ROOFLAB_CUDA_LIBRARIES : libraries;
  return result;
}

RunRequest request_of(const Problem& problem, const std::string& entry) {
  return request_of(problem, entry, "libgpu_tasks.so", std::chrono::seconds(20));
}

TEST(DeviceOnGpuTest, SaysWhatItIs) {
  const CudaDevice device(0, options());
  EXPECT_EQ(device.time_kind(), "measured");
  EXPECT_NE(device.uuid(), "");
  std::printf("%s, %s, specification %s, peaks: %s\n", device.name().c_str(), device.uuid().c_str(),
              device.gpu().id.c_str(), device.peaks().c_str());
}

TEST(DeviceOnGpuTest, BringsInputsThereAndOutputsBack) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  const RunOutcome outcome = device.run(request_of(problem, "scale"));
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail << outcome.printed;
  EXPECT_EQ(outcome.cuda_error, "");
  expect_scaled(outcome);
  EXPECT_EQ(outcome.outputs[0], problem.tensors[0].data);
}

TEST(DeviceOnGpuTest, TimesACallAndCallsOnceMoreWithFreshInputs) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  RunRequest request = request_of(problem, "scale");
  request.timed = true;
  request.fresh = [&](int index) {
    Problem fresh = problem;
    const float first = 1000.0F + static_cast<float>(index);
    std::memcpy(fresh.tensors[0].data.data(), &first, sizeof first);
    return fresh;
  };
  const RunOutcome outcome = device.run(request);
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail << outcome.printed;
  expect_scaled(outcome);
  EXPECT_GE(outcome.samples_us.size(), 10U);
  ASSERT_FALSE(outcome.fresh.empty());
  const double first = 1000.0 + static_cast<double>(outcome.fresh.size() - 1);
  EXPECT_EQ(element_at(ElementType::float32, outcome.fresh.back().outputs.at(1), 0), 3 * first);
  EXPECT_EQ(outcome.drawn_outputs, outcome.outputs);
  EXPECT_EQ(outcome.sampling->early, 0);
  EXPECT_FALSE(outcome.sampling->slower_on_fresh);
  const SamplingRecord& sampling = *outcome.sampling;
  std::printf("%zu samples, %d dropped, %d by our clock, clocks %s, %.0f MHz; first %.2f us\n",
              outcome.samples_us.size(), sampling.dropped, sampling.contradicted,
              sampling.clocks_watched ? "watched" : "not watched", sampling.sm_mhz,
              outcome.samples_us.front());
  std::printf("disturbed: %d slow clock, %d busy before, %d not still, %d beside others\n",
              sampling.slow_clock, sampling.busy_before, sampling.not_still,
              sampling.beside_others);
  // A thousand products: no GPU needs a millisecond for them, and none less than half of one
  // thousandth.
  for (const double sample : outcome.samples_us) {
    EXPECT_GT(sample, 0.5);
    EXPECT_LT(sample, 1000);
  }
}

TEST(DeviceOnGpuTest, AnEndlessKernelEndsWithTheTimeLimitAndTheNextRunIsClean) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  RunRequest endless = request_of(problem, "endless_kernel");
  endless.time_limit = std::chrono::seconds(5);
  EXPECT_EQ(device.run(endless).end, End::time_limit);
  expect_scaled(device.run(request_of(problem, "scale")));
}

TEST(DeviceOnGpuTest, ABadLaunchIsTheCallsErrorAndTheNextRunIsClean) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  const RunOutcome outcome = device.run(request_of(problem, "bad_launch"));
  EXPECT_EQ(outcome.end, End::returned);
  // The second from older runtimes.
  EXPECT_THAT(outcome.cuda_error,
              testing::AnyOf("cudaErrorInvalidValue", "cudaErrorInvalidConfiguration"));
  expect_scaled(device.run(request_of(problem, "scale")));
}

TEST(DeviceOnGpuTest, AForgedReplyLeavesTheOutputsUnwritten) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  const RunOutcome outcome = device.run(request_of(problem, "forges_a_reply"));
  ASSERT_EQ(outcome.outputs.size(), 2U);
  EXPECT_TRUE(is_poisoned(ElementType::float32, outcome.outputs[1], 0));
  expect_scaled(device.run(request_of(problem, "scale")));
}

TEST(DeviceOnGpuTest, WhatTheDevicePrintsIsKept) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  EXPECT_THAT(device.run(request_of(problem, "prints")).printed, testing::HasSubstr("thread 1"));
}

}  // namespace
}  // namespace rooflab
