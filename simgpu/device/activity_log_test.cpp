#include "simgpu/device/activity_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simgpu/device/launch_choices.h"

namespace simgpu::activity_log_test {
namespace {

MemoryRecord operation_of(MemoryOperation operation, std::uint64_t bytes) {
  MemoryRecord record;
  record.operation = operation;
  record.bytes = bytes;
  return record;
}

TEST(ActivityLog, SumsUpWhatComesBehindTheRecordsThatItKeeps) {
  ActivityLog log;
  KernelRecord kernel;
  kernel.name = "step";
  kernel.counters.flops["fp32"] = 10;
  kernel.time.terms[Limiter::dram] = 2;
  for (std::size_t i = 0; i < kMostRecords + 3; ++i) log.add(kernel);
  const Activity& activity = log.activity();
  ASSERT_EQ(activity.kernels.size(), kMostRecords + 1);
  EXPECT_EQ(activity.kernels.front().name, "step");
  EXPECT_EQ(activity.kernels.back().name, kFurtherKernels);
  EXPECT_EQ(activity.kernels.back().counters.flops.at("fp32"), 30U);
  EXPECT_EQ(activity.kernels.back().time.terms.at(Limiter::dram), 6);

  for (std::size_t i = 0; i < kMostRecords; ++i) log.add(operation_of(MemoryOperation::set, 1));
  for (const std::uint64_t bytes : {100, 200, 300}) {
    log.add(operation_of(MemoryOperation::copy_to_host, bytes));
    log.add(operation_of(MemoryOperation::copy_to_device, 2 * bytes));
  }
  ASSERT_EQ(activity.memory.size(), kMostRecords + 2);
  EXPECT_EQ(activity.memory[kMostRecords].bytes, 600U);
  EXPECT_EQ(activity.memory[kMostRecords + 1].bytes, 1200U);
}

TEST(ActivityLog, SaysHowManyCallsItHasNoRoomFor) {
  ActivityLog log;
  for (std::size_t i = 0; i < kMostRecords + 3; ++i) {
    EXPECT_EQ(log.activity().calls_left_out, 0U);
    log.begin_call("cudaMemGetInfo", 0);
    log.end_call(0, CudaError::success);
    if (log.activity().calls.size() == kMostRecords) break;
  }
  log.begin_call("cudaDeviceSynchronize", 0);
  log.end_call(0, CudaError::success);
  EXPECT_EQ(log.activity().calls.size(), kMostRecords);
  EXPECT_EQ(log.activity().calls_left_out, 1U);
}

TEST(ActivityLog, AFloodOfOneFindingLeavesRoomForOthers) {
  ActivityLog log;
  Finding minor{.code = "RL0325"};
  for (std::size_t i = 0; i < ActivityLog::kMostFindings + 10; ++i) {
    minor.message = "stream " + std::to_string(i);
    log.add(minor);
  }
  EXPECT_EQ(log.activity().findings.size(), ActivityLog::kMostFindings);
  log.add(Finding{.code = "RL0303"});
  EXPECT_EQ(log.activity().findings.back().code, Code("RL0303"));
}

TEST(ActivityLog, OfOnePlaceAPairOfTwoWarpsIsKeptRatherThanOneWithinAWarp) {
  ActivityLog log;
  Finding within;
  within.code = "RL0302";
  within.where = {"tile.cu", 4, 9, {0, 0, 0}, {0, 0, 0}, 0, "reads 4 bytes"};
  within.other = AccessSite{"tile.cu", 2, 5, {0, 0, 0}, {1, 0, 0}, 0, "writes 4 bytes"};
  Finding across = within;
  across.other->thread = {32, 0, 0};
  across.other->warp = 1;
  log.add(within);
  log.add(across);
  log.add(within);
  ASSERT_EQ(log.activity().findings.size(), 1U);
  EXPECT_EQ(log.activity().findings[0].other->warp, 1U);
  EXPECT_EQ(log.activity().findings[0].occurrences, 3U);
}

TEST(ActivityLog, CountsWhatTheGuestChoosesOnceItHasAnythingOfTheDevices) {
  ActivityLog log;
  log.count_given(40);
  EXPECT_EQ(log.activity().given_bytes, 0U);
  log.add(operation_of(MemoryOperation::copy_to_host, 4));
  log.count_given(40);
  EXPECT_EQ(log.activity().given_bytes, 40U);
  log.clear();
  log.count_given(40);
  EXPECT_EQ(log.activity().given_bytes, 0U);
}

TEST(ActivityLog, WhatKernelsPrintOrStoreForTheHostLeavesToo) {
  ActivityLog printed;
  printed.add_printed("42");
  printed.count_given(8);
  EXPECT_EQ(printed.activity().given_bytes, 8U);
  ActivityLog stored;
  KernelRecord kernel;
  kernel.time.terms[Limiter::managed_stores] = 1;
  stored.add(kernel);
  stored.count_given(8);
  EXPECT_EQ(stored.activity().given_bytes, 8U);
}

TEST(LaunchChoices, AreWhatDiffersFromTheKernelsLaunchBefore) {
  LaunchChoices choices;
  protocol::LaunchMessage message;
  message.grid = message.block = {32, 1, 1};
  std::vector<std::byte> parameters(24);
  const std::uint64_t first = choices.add(message, parameters);
  EXPECT_GE(first, parameters.size());
  const std::uint64_t same = choices.add(message, parameters);
  EXPECT_LT(same, 8U);
  parameters[3] = std::byte{1};
  parameters[20] = std::byte{7};
  EXPECT_EQ(choices.add(message, parameters), same + 2);
  message.block.x = 64;
  EXPECT_GT(choices.add(message, parameters), same + 8) << "a block's size is chosen, too";
  message.kernel = 1;
  EXPECT_EQ(choices.add(message, parameters), first) << "another kernel's launches are its own";
}

}  // namespace
}  // namespace simgpu::activity_log_test
