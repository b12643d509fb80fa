#include "grader/pipeline/device_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using testing::HasSubstr;

constexpr double kFlops = 2e6;
constexpr double kBytes = 3e4;
const Work kWork{{{"fp32", kFlops}}, kBytes};

simgpu::Activity kernel_with(const std::string& type, std::uint64_t flops) {
  simgpu::Activity activity;
  activity.kernels.emplace_back().counters.flops[type] = flops;
  return activity;
}

simgpu::Activity copy_of(const std::string& kind, std::uint64_t bytes) {
  simgpu::Activity activity;
  simgpu::MemoryRecord record;
  record.kind = kind;
  record.bytes = bytes;
  activity.memory = {record};
  return activity;
}

TEST(DeviceWorkTest, KernelsThatDoAllOrHalfOfTheOperationsAreEnough) {
  EXPECT_EQ(missing_operations(kWork, kernel_with("fp32", 2'000'000)), "");
  EXPECT_EQ(missing_operations(kWork, kernel_with("bf16_tensor", 1'000'000)), "");
}

TEST(DeviceWorkTest, KernelsThatDoLessAreNot) {
  EXPECT_EQ(missing_operations(kWork, kernel_with("fp32", 999'999)),
            "kernels did 999999 of the 2000000 FLOPs that this case takes");
}

TEST(DeviceWorkTest, ASampledRunHasToStoreAllOutputs) {
  Problem problem;
  problem.tensors.resize(3);
  problem.tensors[0].shape = {1000};  // an input needs no store
  problem.tensors[1].role = Role::output;
  problem.tensors[1].shape = {16, 8};
  problem.tensors[2].role = Role::in_out;  // which elements change is the function's own affair
  problem.tensors[2].shape = {1000};
  simgpu::Activity activity = kernel_with("fp32", 1);
  activity.kernels[0].counters.global_store_sectors = 16;
  EXPECT_EQ(missing_stores(problem, activity), "");
  activity.kernels[0].counters.global_store_sectors = 8;
  EXPECT_EQ(missing_stores(problem, activity),
            "kernels stored 256 of the 512 bytes of the outputs");
  activity.memory = copy_of("copy device to host", 4096).memory;
  EXPECT_NE(missing_stores(problem, activity), "");
  activity.memory = copy_of("set", 256).memory;
  EXPECT_EQ(missing_stores(problem, activity), "");
  activity.memory.clear();
  activity.api_calls["cublasSgemm_v2"] = 1;
  EXPECT_EQ(missing_stores(problem, activity), "") << "nobody counts the library's stores";
}

TEST(DeviceWorkTest, ACopyOfAFinishedResultIsNoWork) {
  EXPECT_THAT(missing_operations(kWork, copy_of("copy host to device", 30'000)),
              HasSubstr("kernels did 0 of"));
}

TEST(DeviceWorkTest, WhereTheDeviceKeepsNoRecordsNothingIsFound) {
  EXPECT_EQ(missing_operations(kWork, {}), "");
  EXPECT_EQ(copies_to_host(kWork, {}), "");
}

TEST(DeviceWorkTest, OnlyCopiesToTheHostTakeDataOut) {
  EXPECT_EQ(copies_to_host(kWork, copy_of("copy device to host", 3000)), "");
  EXPECT_THAT(copies_to_host(kWork, copy_of("copy device to host", 3001)),
              HasSubstr("copies 3001 bytes to the host"));
  EXPECT_EQ(copies_to_host(kWork, copy_of("copy device to device", 30'000)), "");
}

TEST(DeviceWorkTest, AForbiddenFunctionIsSeenHoweverItWasReached) {
  simgpu::Activity activity;
  activity.api_calls = {{"cudaLaunchKernel", 2}, {"cublas", 1}};
  EXPECT_EQ(forbidden_call(activity, {"^cublas"}), "cublas");
  EXPECT_EQ(forbidden_call(activity, {"^cudnn"}), "");
  EXPECT_EQ(forbidden_call(activity, {}), "");
}

}  // namespace
}  // namespace rooflab
