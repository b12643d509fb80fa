#include "grader/pipeline/device_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using simgpu::Limiter;
using simgpu::MemoryOperation;

using testing::HasSubstr;
using Kind = Doubt::Kind;

constexpr double kFlops = 2e6;
constexpr double kBytes = 3e4;
const Work kWork{{{"fp32", kFlops}}, kBytes};
const TensorBytes kTensors{.results = 10'000, .all = 40'000};

gpu_spec::GpuSpec gpu_with_pcie() {
  gpu_spec::GpuSpec gpu;
  gpu.pcie_bytes_per_second = 1e9;
  return gpu;
}
const gpu_spec::GpuSpec kGpu = gpu_with_pcie();

simgpu::Activity kernel_with(const std::string& type, std::uint64_t flops) {
  simgpu::Activity activity;
  activity.kernels.emplace_back().counters.flops[type] = flops;
  return activity;
}

simgpu::Activity copy_of(MemoryOperation operation, std::uint64_t bytes) {
  simgpu::Activity activity;
  simgpu::MemoryRecord record;
  record.operation = operation;
  record.bytes = bytes;
  activity.memory = {record};
  return activity;
}

/// A case whose one output has 10,000 bytes, and its input 30,000.
Problem problem_of_kilobytes() {
  Problem problem;
  Tensor out;
  out.role = Role::output;
  out.shape = {50, 50};
  Tensor in;
  in.shape = {150, 50};
  problem.tensors = {in, out};
  return problem;
}

std::optional<Doubt> operations_of(const simgpu::Activity& activity) {
  return missing_operations(problem_of_kilobytes(), kWork, activity, kGpu);
}

/// A kernel that did a tenth of the operations, by so many instructions of threads.
simgpu::Activity thrifty_kernel(std::uint64_t instructions) {
  simgpu::Activity activity = kernel_with("fp32", 200'000);
  activity.kernels[0].counters.thread_instructions = instructions;
  return activity;
}

TEST(DeviceWorkTest, KernelsThatDoAllOrHalfOfTheOperationsAreEnough) {
  EXPECT_FALSE(operations_of(kernel_with("fp32", 2'000'000)));
  EXPECT_FALSE(operations_of(kernel_with("bf16_tensor", 1'000'000)));
}

TEST(DeviceWorkTest, AnAlgorithmWithFewerOperationsIsForAPersonToLookAt) {
  const auto doubt = operations_of(thrifty_kernel(600'000));
  ASSERT_TRUE(doubt);
  EXPECT_EQ(doubt->kind, Kind::for_people);
  EXPECT_EQ(doubt->reason, "kernels did 200000 of the 2000000 FLOPs that this case takes");
}

TEST(DeviceWorkTest, TooFewInstructionsOfAnyKindProveThatTheWorkWasDoneElsewhere) {
  EXPECT_EQ(operations_of(thrifty_kernel(49'000))->kind, Kind::not_computed);
  EXPECT_EQ(operations_of(thrifty_kernel(51'000))->kind, Kind::for_people);
}

TEST(DeviceWorkTest, NoKernelAtAllProvesIt) {
  const auto doubt = operations_of(copy_of(MemoryOperation::copy_to_device, 30'000));
  ASSERT_TRUE(doubt);
  EXPECT_EQ(doubt->kind, Kind::not_computed);
  EXPECT_THAT(doubt->reason, HasSubstr("kernels did 0 of"));
}

TEST(DeviceWorkTest, ARoundTripToTheHostProvesItWhereOperationsAreMissing) {
  simgpu::Activity activity = thrifty_kernel(600'000);
  activity.memory.push_back(copy_of(MemoryOperation::copy_to_device, 4'000).memory[0]);
  activity.memory.push_back(copy_of(MemoryOperation::copy_to_host, 20'000).memory[0]);
  EXPECT_EQ(operations_of(activity)->kind, Kind::for_people)
      << "a table of constants, and a result is printed";
  activity.memory.push_back(copy_of(MemoryOperation::copy_to_device, 300).memory[0]);
  EXPECT_EQ(operations_of(activity)->kind, Kind::for_people);
  activity.memory.push_back(copy_of(MemoryOperation::copy_to_device, 100).memory[0]);
  EXPECT_EQ(operations_of(activity)->kind, Kind::not_computed);
}

/// Kernels that did `flops`, in a call that takes 20,000 bytes to the host and some back.
std::optional<Doubt> round_trip(std::uint64_t flops, std::uint64_t back) {
  simgpu::Activity activity = kernel_with("fp32", flops);
  activity.memory.push_back(copy_of(MemoryOperation::copy_to_host, 20'000).memory[0]);
  activity.memory.push_back(copy_of(MemoryOperation::copy_to_device, back).memory[0]);
  return operations_of(activity);
}

TEST(DeviceWorkTest, OfARoundTripTheLessCountsTheMoreTheKernelsDid) {
  EXPECT_EQ(round_trip(860'000, 4'900)->kind, Kind::not_computed)
      << "half of the queries, less than half the work";
  EXPECT_EQ(round_trip(1'700'000, 1'000)->kind, Kind::not_computed);
  EXPECT_FALSE(round_trip(1'700'000, 300));
  EXPECT_FALSE(round_trip(2'000'000, 4'900)) << "kernels did it all";
  EXPECT_EQ(round_trip(2'000'000, 5'000)->kind, Kind::detour) << "any operations count as done";
}

TEST(DeviceWorkTest, ResultsThatComeBackAsParametersAreARoundTripToo) {
  simgpu::Activity activity = kernel_with("fp32", 2'000'000);
  activity.memory = copy_of(MemoryOperation::copy_to_host, 20'000).memory;
  activity.given_bytes = 500;
  EXPECT_FALSE(operations_of(activity)) << "usual parameters";
  activity.given_bytes = 512 + 10'000;
  EXPECT_EQ(operations_of(activity)->kind, Kind::detour);
}

TEST(DeviceWorkTest, OfASingleNumberNoParametersAreUsual) {
  Problem problem = problem_of_kilobytes();
  problem.tensors.back().shape = {1};
  simgpu::Activity activity = kernel_with("fp32", 2'000'000);
  activity.given_bytes = 40;
  EXPECT_FALSE(missing_operations(problem, kWork, activity, kGpu)) << "nothing went to the host";
  activity.memory = copy_of(MemoryOperation::copy_to_host, 40'000).memory;
  EXPECT_EQ(missing_operations(problem, kWork, activity, kGpu)->kind, Kind::detour);
}

TEST(DeviceWorkTest, BeyondTheRecordsThatAreKeptTheOrderIsNotKnownAndSumsCount) {
  simgpu::Activity activity = kernel_with("fp32", 2'000'000);
  activity.memory.assign(simgpu::kMostRecords, copy_of(MemoryOperation::set, 1).memory[0]);
  activity.memory.push_back(copy_of(MemoryOperation::copy_to_device, 10'000).memory[0]);
  activity.memory.push_back(copy_of(MemoryOperation::copy_to_host, 20'000).memory[0]);
  EXPECT_EQ(operations_of(activity)->kind, Kind::detour);
}

TEST(DeviceWorkTest, HostCodeMayReadIntegersThatItNeedsToLaunchKernels) {
  Problem problem = problem_of_kilobytes();
  Tensor positions;
  positions.type = ElementType::int32;
  positions.shape = {5000};
  problem.tensors.push_back(positions);
  const auto doubt_of = [&](std::uint64_t leaves) {
    simgpu::Activity activity = kernel_with("fp32", 2'000'000);
    activity.memory = copy_of(MemoryOperation::copy_to_host, leaves).memory;
    activity.memory.push_back(copy_of(MemoryOperation::copy_to_device, 10'000).memory[0]);
    return missing_operations(problem, kWork, activity, kGpu);
  };
  EXPECT_FALSE(doubt_of(20'000)) << "a table is made of positions";
  EXPECT_TRUE(doubt_of(20'000 + 3'001)) << "a tenth of the other data leaves, too";
}

std::optional<Doubt> of_a_case_without_operations(const simgpu::Activity& activity) {
  return missing_operations(problem_of_kilobytes(), {{}, kBytes}, activity, kGpu);
}

TEST(DeviceWorkTest, OfACopyTheRoundTripAloneTells) {
  simgpu::Activity on_device = copy_of(MemoryOperation::copy_on_device, 10'000);
  EXPECT_FALSE(of_a_case_without_operations(on_device)) << "no kernel is needed";
  on_device.memory.push_back(copy_of(MemoryOperation::copy_to_host, 100).memory[0]);
  EXPECT_FALSE(of_a_case_without_operations(on_device)) << "indexes that the host has to know";
  simgpu::Activity by_host = copy_of(MemoryOperation::copy_to_host, 20'000);
  by_host.memory.push_back(copy_of(MemoryOperation::copy_to_device, 400).memory[0]);
  EXPECT_EQ(of_a_case_without_operations(by_host)->kind, Kind::not_computed);
  by_host.kernels.resize(1);
  EXPECT_FALSE(of_a_case_without_operations(by_host));
  by_host.memory.push_back(copy_of(MemoryOperation::copy_to_device, 1'000).memory[0]);
  EXPECT_EQ(of_a_case_without_operations(by_host)->kind, Kind::detour);
  EXPECT_FALSE(of_a_case_without_operations(copy_of(MemoryOperation::copy_to_device, 10'000)))
      << "nothing of the case has gone to the host";
}

TEST(DeviceWorkTest, StoresToMemoryOfTheHostCountAsCopiesWhereTheHostsDataComesBack) {
  constexpr double kMicrosecondsPerByte = 1e-3;  // at 1 GB/s
  const auto kernel = [](Limiter stores, double stored, double loaded) {
    simgpu::Activity activity = kernel_with("fp32", 2'000'000);
    activity.kernels[0].time.terms = {{stores, stored * kMicrosecondsPerByte},
                                      {Limiter::host_loads, loaded * kMicrosecondsPerByte}};
    return copies_to_host(kTensors, kWork, activity, kGpu);
  };
  for (const Limiter stores : {Limiter::host_stores, Limiter::managed_stores}) {
    EXPECT_THAT(kernel(stores, 3001, 10'000), HasSubstr("stores 3001 bytes to the host"));
    EXPECT_EQ(kernel(stores, 2999, 10'000), "");
    EXPECT_EQ(kernel(stores, 30'000, 100), "") << "only kernels read it";
  }
  simgpu::Activity activity = thrifty_kernel(600'000);
  activity.kernels[0].time.terms = {{Limiter::host_stores, 10}, {Limiter::host_loads, 10}};
  EXPECT_EQ(operations_of(activity)->kind, Kind::not_computed);
}

TEST(DeviceWorkTest, WhereTheDeviceKeepsNoRecordsNothingIsFound) {
  EXPECT_FALSE(operations_of({}));
  EXPECT_EQ(copies_to_host(kTensors, kWork, {}, kGpu), "");
}

TEST(DeviceWorkTest, CopiesToTheHostCountWhereResultsCanComeBack) {
  const auto copies = [](std::uint64_t bytes, std::uint64_t back) {
    simgpu::Activity activity = copy_of(MemoryOperation::copy_to_host, bytes);
    activity.memory.push_back(copy_of(MemoryOperation::copy_to_device, back).memory[0]);
    return activity;
  };
  EXPECT_EQ(copies_to_host(kTensors, kWork, copies(3000, 10'000), kGpu), "");
  EXPECT_NE(copies_to_host(kTensors, kWork, copies(30'000, 1250), kGpu), "")
      << "half of the results, with half of their bits";
  EXPECT_EQ(copies_to_host(kTensors, kWork, copies(30'000, 1249), kGpu), "") << "a table";
  EXPECT_THAT(copies_to_host(kTensors, kWork, copies(3001, 10'000), kGpu),
              HasSubstr("copies 3001 bytes to the host"));
  EXPECT_EQ(copies_to_host(kTensors, kWork, copies(30'000, 100), kGpu), "")
      << "a check that was left in";
  EXPECT_EQ(copies_to_host(kTensors, kWork, copy_of(MemoryOperation::copy_on_device, 30'000), kGpu),
            "");
  simgpu::Activity shared = copies(30'000, 0);
  shared.api_calls["cudaMallocManaged"] = 1;
  EXPECT_NE(copies_to_host(kTensors, kWork, shared, kGpu), "");
  simgpu::Activity launches = copies(30'000, 0);
  launches.kernels.resize(2);
  EXPECT_EQ(copies_to_host(kTensors, kWork, launches, kGpu), "");
  launches.given_bytes = 1250;
  EXPECT_NE(copies_to_host(kTensors, kWork, launches, kGpu), "")
      << "parameters, or a module that the guest made";
}

TEST(DeviceWorkTest, WhatKernelsPrintGoesToTheHostToo) {
  simgpu::Activity activity = copy_of(MemoryOperation::copy_to_device, 10'000);
  activity.printed_bytes = 3000;
  EXPECT_EQ(copies_to_host(kTensors, kWork, activity, kGpu), "");
  activity.printed_bytes = 3001;
  EXPECT_THAT(copies_to_host(kTensors, kWork, activity, kGpu), HasSubstr("prints 3001 bytes"));
}

TEST(DeviceWorkTest, InputsThatAreNeededAgainCrossToTheHostOnce) {
  simgpu::Activity activity = copy_of(MemoryOperation::copy_to_host, 2'000);
  activity.memory.push_back(copy_of(MemoryOperation::copy_to_device, 10'000).memory[0]);
  EXPECT_EQ(copies_to_host(kTensors, kWork, activity, kGpu), "");
  EXPECT_NE(copies_to_host({.results = 10'000, .all = 19'000}, kWork, activity, kGpu), "");
}

TEST(DeviceWorkTest, ATimeBelowTheFloorIsProofWhereNoArithmeticIsThatFast) {
  Timing timing;
  timing.floor_us = 10;
  timing.peak = "fp32";
  Roofline roofline;
  roofline.floor_us = 10;
  roofline.lowest_floor_us = 2;
  gpu_spec::GpuSpec gpu;
  gpu.peak_flops = {{"fp32", 2e11}, {"tf32_tensor", 1e12}};
  const auto doubt_at = [&](double time_us, const simgpu::Activity& activity, bool measured) {
    timing.time_us = time_us;
    return impossible_time(timing, roofline, kWork, activity, gpu, measured);
  };
  const simgpu::Activity by_tensor_cores = kernel_with("tf32_tensor", 2'000'000);
  EXPECT_FALSE(doubt_at(10, by_tensor_cores, false));
  EXPECT_FALSE(doubt_at(5, by_tensor_cores, false)) << "they are faster than fp32";
  EXPECT_EQ(doubt_at(1, by_tensor_cores, false)->kind, Kind::not_computed);
  EXPECT_EQ(doubt_at(5, kernel_with("fp32", 2'000'000), false)->kind, Kind::not_computed)
      << "fp32 units take 10 us for them";
  EXPECT_EQ(doubt_at(5, thrifty_kernel(600'000), false)->kind, Kind::not_computed)
      << "operations are missing, too";
  ASSERT_TRUE(doubt_at(5, {}, true));
  EXPECT_EQ(doubt_at(5, {}, true)->kind, Kind::for_people) << "nobody saw the kernels";
  EXPECT_EQ(doubt_at(1, {}, true)->kind, Kind::not_computed);
}

TEST(DeviceWorkTest, AForbiddenFunctionIsSeenHoweverItWasReached) {
  simgpu::Activity activity;
  activity.api_calls = {{"cudaLaunchKernel", 2}, {"cublas", 1}};
  EXPECT_EQ(forbidden_call(activity, {"^cublas"}), "cublas");
  EXPECT_EQ(forbidden_call(activity, {"^cudnn"}), "");
  EXPECT_EQ(forbidden_call(activity, {}), "");
}

TEST(DeviceWorkTest, ACopyCountsAsTheFunctionThatCopiesWhateverIssuedIt) {
  simgpu::Activity activity = copy_of(MemoryOperation::copy_on_device, 100);
  EXPECT_EQ(forbidden_call(activity, {"^cudaMemcpy"}), "cudaMemcpy");
  EXPECT_EQ(forbidden_call(activity, {"^cublas", "^cudaMemset"}), "");
  activity.memory[0].graph_launch = 1;
  EXPECT_EQ(forbidden_call(activity, {"^cudaMemcpy"}), "cudaMemcpy (a node of a graph)");
  activity.memory[0].operation = MemoryOperation::set;
  EXPECT_EQ(forbidden_call(activity, {"^cudaMemcpy"}), "");
  EXPECT_EQ(forbidden_call(activity, {"^cudaMemset"}), "cudaMemset (a node of a graph)");
}

}  // namespace
}  // namespace rooflab
