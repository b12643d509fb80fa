#include "simgpu/device/launch_time.h"

#include <gtest/gtest.h>

#include <string>

#include "simgpu/machine_code/assembler.h"

namespace simgpu::launch_time_test {
namespace {

/// Each thread reads two neighbouring words of shared memory and stores their sum. ptxas knows that
/// they are aligned together, and reads both at once.
const std::string kPtx =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel(.param .u64 p) {\n"
    ".reg .b32 %r<7>;\n.reg .b64 %rd<4>;\n.shared .align 8 .b8 words[8192];\n"
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 3;\n"
    "mov.u32 %r3, words;\nadd.s32 %r3, %r3, %r2;\n"
    "ld.shared.u32 %r4, [%r3];\nld.shared.u32 %r5, [%r3+4];\nadd.s32 %r6, %r4, %r5;\n"
    "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r6;\nret;\n}\n";

class LaunchTimeTest : public ::testing::Test {
 protected:
  LaunchTimeTest() {
    const KernelReader reader{.gpu = gpu_, .assembler = &assembler_, .reads_machine_code = true};
    kernel_ = reader.read(ptx::parse_one_a_line(kPtx), {}, Naming::own).at(0);
    shape_.grid = {108, 1, 1};
    shape_.block = {256, 1, 1};
    shape_.registers_per_thread = kernel_.registers;
    constexpr std::uint64_t kWarps = 108 * 8;
    result_.executed.assign(kernel_.info->instructions.size(), {kWarps, 32 * kWarps});
    result_.accesses.resize(result_.executed.size());
    result_.first_accesses.resize(result_.executed.size());
    for (std::size_t i = 0; i < result_.executed.size(); ++i) {
      if (kernel_.info->instructions[i].cls == InstructionClass::shared_load) add_load(i, kWarps);
    }
  }

  /// Of words that are eight bytes apart from lane to lane.
  void add_load(std::size_t index, std::uint64_t warps) {
    result_.accesses[index] = {.bank_requests = warps, .wavefronts = 2 * warps, .conflicts = warps};
    result_.counters.shared_load_requests += warps;
    result_.counters.shared_load_wavefronts += 2 * warps;
    result_.counters.shared_load_bank_conflicts += warps;
    FirstAccess first{.mask = ~0U, .bytes = 4, .is_shared = true};
    for (std::uint64_t lane = 0; lane < kWarpSize; ++lane) first.address[lane] = 8 * lane;
    result_.first_accesses[index] = std::make_shared<const FirstAccess>(first);
  }

  LaunchTime told(const DeviceOptions& options) {
    LaunchTimes times(options);
    return told(times);
  }
  LaunchTime told(LaunchTimes& times) {
    return times.of({.kernel = kernel_,
                     .result = result_,
                     .shape = shape_,
                     .counters = result_.counters,
                     .gpu = gpu_});
  }

  const gpu_spec::GpuSpec gpu_ =
      gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml");
  const machine_code::Assembler assembler_{
      {.command = {machine_code::find_ptxas().string()}, .version = "of the test"}};
  LoadedKernel kernel_;
  LaunchShape shape_;
  LaunchResult result_;
  const DeviceOptions by_machine_code_{.lines = true, .time_from = TimeFrom::machine_code};
};

TEST_F(LaunchTimeTest, LoadsThatPtxasMergesAreCountedAsTheyAreIssued) {
  const LaunchTime time = told(by_machine_code_);
  ASSERT_TRUE(time.machine_code && time.machine_code->aligned) << time.machine_code->why_not;
  EXPECT_EQ(time.counters.shared_load_requests, result_.counters.shared_load_requests / 2);
  EXPECT_EQ(time.counters.shared_load_bank_conflicts, 0U) << "64 bits a lane fill the banks";
  const LaunchTime by_ptx = told({.lines = true});
  EXPECT_FALSE(by_ptx.machine_code);
  EXPECT_EQ(by_ptx.counters, result_.counters);
}

TEST_F(LaunchTimeTest, CostsOfInstructionsAddUpToTheTime) {
  for (const DeviceOptions& options : {by_machine_code_, DeviceOptions{.lines = true}}) {
    const LaunchTime time = told(options);
    double sum = 0;
    for (const InstructionCost& cost : time.costs) sum += cost.time.time_us;
    const TimeBreakdown& whole = time.predicted.time;
    EXPECT_NEAR(sum, whole.total_us - whole.launch_us, 1e-9);
    EXPECT_EQ(time.costs.size(), kernel_.info->instructions.size());
  }
}

TEST_F(LaunchTimeTest, WhatCannotBeAlignedIsToldByItsPtx) {
  // Stores that only half of the threads execute, without a branch that says which.
  result_.executed.back() = {7, 200};
  for (std::size_t i = 0; i < result_.executed.size(); ++i) {
    if (kernel_.info->instructions[i].cls == InstructionClass::global_store)
      result_.executed[i] = {1, 1};
  }
  const LaunchTime time = told(by_machine_code_);
  ASSERT_TRUE(time.machine_code);
  EXPECT_FALSE(time.machine_code->aligned);
  EXPECT_FALSE(time.machine_code->why_not.empty());
  const TimeBreakdown& by_ptx = told({}).predicted.time;
  EXPECT_NEAR(time.predicted.time.total_us,
              by_ptx.launch_us + 1.5 * (by_ptx.total_us - by_ptx.launch_us), 1e-9)
      << "nobody gains by code that cannot be aligned";
  EXPECT_EQ(time.counters, result_.counters);
}

TEST_F(LaunchTimeTest, ALaunchThatDoesSomethingElseIsToldAnew) {
  LaunchTimes times(by_machine_code_);
  const double once = told(times).predicted.time.total_us;
  EXPECT_EQ(told(times).predicted.time.total_us, once);
  shape_.grid = {108 * 64, 1, 1};
  for (ExecutionCount& count : result_.executed) count = {64 * count.warps, 64 * count.threads};
  EXPECT_GT(told(times).predicted.time.total_us, once);
}

TEST_F(LaunchTimeTest, ALaunchWhoseBlocksDoTheSameInAnotherOrderIsToldAnew) {
  LaunchTimes times(by_machine_code_);
  const double even = told(times).predicted.time.total_us;
  result_.balance.longest = 50;  // one block waits for most of it
  EXPECT_GT(told(times).predicted.time.total_us, even);
}

}  // namespace
}  // namespace simgpu::launch_time_test
