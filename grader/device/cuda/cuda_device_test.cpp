// The CUDA device against a stand-in for NVIDIA's libraries: everything but the GPU is real.
#include "grader/device/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "grader/contract/elements.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using End = RunOutcome::End;

constexpr std::int64_t kElements = 1000;

DeviceOptions options() {
  const fs::path build = ROOFLAB_BINARY_DIR;
  DeviceOptions result;
  result.gpu_specs = fs::path(ROOFLAB_SOURCE_DIR) / "specs" / "gpus";
  result.guest_program = build / "bin" / "rooflab-guest";
  result.cuda_libraries = build / "tests" / "fake_cuda";
  result.sandbox = false;  // the stand-in shares its memory through files of /dev/shm
  return result;
}

Problem scaling_problem() {
  std::vector<float> x(kElements);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i) * 0.5F;
  }
  Tensor input{.name = "x", .role = Role::input, .shape = {kElements}, .data = {}};
  input.data.resize(x.size() * sizeof(float));
  std::memcpy(input.data.data(), x.data(), input.data.size());
  Tensor output{.name = "y", .role = Role::output, .shape = {kElements}, .data = {}};
  return {.parameters = {{"n", kElements}, {"alpha", 3.0}}, .tensors = {input, output}};
}

RunRequest request_of(const Problem& problem, const std::string& entry) {
  RunRequest request;
  request.library = fs::path(ROOFLAB_BINARY_DIR) / "tests" / "libhost_tasks.so";
  request.entry = entry;
  request.problem = &problem;
  request.time_limit = std::chrono::seconds(10);
  return request;
}

void expect_scaled(const RunOutcome& outcome) {
  ASSERT_EQ(outcome.outputs.size(), 2U);
  for (std::size_t i = 0; i < kElements; ++i) {
    ASSERT_EQ(element_at(ElementType::float32, outcome.outputs[1], i),
              1.5 * static_cast<double>(i));
  }
}

TEST(CudaDeviceTest, IsDescribedByTheSpecificationThatFitsIt) {
  CudaDevice device(0, options());
  EXPECT_EQ(device.id(), "cuda:0");
  EXPECT_EQ(device.name(), "Pretended GPU");
  EXPECT_EQ(device.time_kind(), "measured");
  EXPECT_EQ(device.gpu().id, "a100");
}

TEST(CudaDeviceTest, ASpecificationHasToFit) {
  setenv("ROOFLAB_FAKE_CUDA_SMS", "109", 1);
  try {
    CudaDevice device(0, options());
    ADD_FAILURE() << "opened";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Pretended GPU (compute capability 8.0, 109 SMs, 39 GiB)"));
    EXPECT_THAT(error.what(), HasSubstr("use --device sim"));
  }
  unsetenv("ROOFLAB_FAKE_CUDA_SMS");
}

TEST(CudaDeviceTest, CountsTheGpusThereAre) {
  try {
    CudaDevice device(1, options());
    ADD_FAILURE() << "opened";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "there is no cuda:1: this machine has 1 GPU; use --device cuda:0");
  }
}

TEST(CudaDeviceTest, BringsInputsThereAndOutputsBack) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  const RunOutcome outcome = device.run(request_of(problem, "scale_on_host"));
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  EXPECT_EQ(outcome.outputs[0], problem.tensors[0].data);
  EXPECT_TRUE(outcome.samples_us.empty());
}

TEST(CudaDeviceTest, RepeatsATimedCallAndChecksItsLastOutputs) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  RunRequest request = request_of(problem, "scale_on_host");
  request.timed = true;
  const RunOutcome outcome = device.run(request);
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  EXPECT_GE(outcome.samples_us.size(), 10U);
  EXPECT_LE(outcome.samples_us.size(), 100U);
  for (const double sample : outcome.samples_us) {
    EXPECT_GT(sample, 0);
  }
}

TEST(CudaDeviceTest, AnOutputThatNobodyWroteStaysPoisoned) {
  Problem problem = scaling_problem();
  problem.parameters["n"] = kElements - 1;
  CudaDevice device(0, options());
  const RunOutcome outcome = device.run(request_of(problem, "scale_on_host"));
  ASSERT_EQ(outcome.outputs.size(), 2U);
  EXPECT_FALSE(is_poisoned(ElementType::float32, outcome.outputs[1], kElements - 2));
  EXPECT_TRUE(is_poisoned(ElementType::float32, outcome.outputs[1], kElements - 1));
}

TEST(CudaDeviceTest, AGuestThatDiesLeavesTheDeviceUsable) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  EXPECT_EQ(device.run(request_of(problem, "crashes")).end, End::killed);
  RunRequest timed = request_of(problem, "exits");
  timed.timed = true;
  const RunOutcome outcome = device.run(timed);
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_TRUE(outcome.samples_us.empty());
  expect_scaled(device.run(request_of(problem, "scale_on_host")));
}

TEST(CudaDeviceTest, LeavesNothingAllocated) {
  const Problem problem = scaling_problem();
  {
    CudaDevice device(0, options());
    device.run(request_of(problem, "scale_on_host"));
  }
  const std::string mark = "rooflab-fake-cuda-" + std::to_string(getpid()) + "-";
  for (const auto& entry : fs::directory_iterator("/dev/shm")) {
    EXPECT_THAT(entry.path().filename().string(), Not(testing::StartsWith(mark)));
  }
}

}  // namespace
}  // namespace rooflab
