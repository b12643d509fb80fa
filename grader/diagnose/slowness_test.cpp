#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/diagnose/diagnose.h"

namespace rooflab {
namespace {

using simgpu::Limiter;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const DiagnoseContext kContext{};

Timing far_from_full_marks() {
  Timing timing;
  timing.efficiency = 0.01;
  timing.target_efficiency = 0.5;
  return timing;
}

TEST(SlownessTest, UncoalescedLoadsAreProvenByTheirSectors) {
  simgpu::KernelRecord kernel;
  kernel.counters.global_load_requests = 100;
  kernel.counters.global_load_sectors = 3200;
  kernel.counters.global_load_bytes = 100 * 32 * sizeof(float);
  const Timing timing = far_from_full_marks();
  const auto stories = explain_slowness(timing, kernel, kContext);
  ASSERT_EQ(stories.size(), 1u);
  EXPECT_EQ(stories[0].code, Code("RL0501"));
  EXPECT_THAT(stories[0].message, HasSubstr("32.0 sectors"));
  kernel.counters.global_load_sectors = 800;  // every second float
  EXPECT_EQ(explain_slowness(timing, kernel, kContext).size(), 1U);
  kernel.counters.global_load_sectors = 500;  // rows that start off a boundary
  EXPECT_THAT(explain_slowness(timing, kernel, kContext), IsEmpty());
  kernel.counters.global_load_sectors = 1600;  // float4
  kernel.counters.global_load_bytes = 100 * 32 * 4 * sizeof(float);
  EXPECT_THAT(explain_slowness(timing, kernel, kContext), IsEmpty());
}

TEST(SlownessTest, WhatCostsMostIsToldFirstAndWhatCostsNothingIsNot) {
  simgpu::KernelRecord kernel;
  kernel.counters.global_store_requests = 100;
  kernel.counters.global_store_sectors = 1600;
  kernel.counters.global_store_bytes = 100 * 32 * sizeof(float);
  kernel.counters.shared_load_wavefronts = 1000;
  kernel.counters.shared_load_bank_conflicts = 600;
  kernel.time.total_us = 105;
  kernel.time.terms = {{Limiter::shared, 100}, {Limiter::l2, 20}};
  const Timing timing = far_from_full_marks();
  const auto told = [&] {
    std::vector<std::string> codes;
    for (const auto& story : explain_slowness(timing, kernel, kContext)) {
      codes.push_back(story.code.text());
    }
    return codes;
  };
  EXPECT_THAT(told(), ElementsAre("RL0501", "RL0502"));  // one index may make both
  kernel.time.terms[Limiter::l2] = 5;
  EXPECT_THAT(told(), ElementsAre("RL0502"));
  kernel.time.terms[Limiter::l2] = 20;
  kernel.counters.shared_load_bank_conflicts = 0;
  kernel.counters.branches = 100;
  kernel.counters.divergent_branches = 50;
  kernel.time.terms[Limiter::issue] = 90;
  EXPECT_THAT(told(), ElementsAre("RL0503", "RL0501"));
}

TEST(SlownessTest, AtomicsThatWaitAreToldByTheirNumber) {
  simgpu::KernelRecord kernel;
  kernel.counters.atomics_on_one_address = 33'554'432;
  kernel.time.total_us = 1000;
  kernel.time.terms = {{Limiter::atomics, 990}, {Limiter::dram, 90}};
  const Timing timing = far_from_full_marks();
  const auto stories = explain_slowness(timing, kernel, kContext);
  ASSERT_EQ(stories.size(), 1U);
  EXPECT_EQ(stories[0].code, Code("RL0598"));
  EXPECT_THAT(stories[0].message, HasSubstr("33.6 million atomic operations meet on one address"));
  kernel.time.terms = {{Limiter::atomics, 90}, {Limiter::dram, 990}};
  EXPECT_THAT(explain_slowness(timing, kernel, kContext), IsEmpty()) << "they cost nothing";
  kernel.counters.shared_atomic_requests = 1000;
  kernel.counters.shared_atomic_wavefronts = 428'000;
  kernel.time.terms = {{Limiter::shared_atomics, 990}, {Limiter::dram, 90}};
  EXPECT_THAT(explain_slowness(timing, kernel, kContext)[0].message,
              AllOf(HasSubstr("shared memory"), HasSubstr("takes 428 cycles")));
}

TEST(SlownessTest, FewWarpsThatDoTheWorkOfAllAreToldWhereTheLaunchWaitsForThem) {
  simgpu::KernelRecord kernel;
  kernel.theoretical_occupancy = 0.1;
  kernel.time.total_us = 1000;
  kernel.time.limiter = Limiter::latency;
  kernel.time.terms = {{Limiter::latency, 990}, {Limiter::dram, 90}};
  kernel.time.uneven_warps = 32;
  Timing timing = far_from_full_marks();
  timing.limiter = "latency";
  const auto stories = explain_slowness(timing, kernel, kContext);
  ASSERT_EQ(stories.size(), 1U) << "occupancy is not what it lacks";
  EXPECT_EQ(stories[0].code, Code("RL0599"));
  EXPECT_THAT(stories[0].message, HasSubstr("waits 32.0 times as long"));
  EXPECT_THAT(stories[0].help, HasSubstr("share the work evenly"));
  kernel.time.uneven_warps = 1.3;
  EXPECT_EQ(explain_slowness(timing, kernel, kContext).at(0).code, Code("RL0504"));
}

TEST(SlownessTest, MultiprocessorsThatDoTheWorkOfAllAreTold) {
  simgpu::KernelRecord kernel;
  kernel.theoretical_occupancy = 1;
  kernel.time.total_us = 1000;
  kernel.time.limiter = Limiter::issue;
  kernel.time.terms = {{Limiter::issue, 990}, {Limiter::latency, 90}};
  kernel.time.uneven_sms = 4;
  Timing timing = far_from_full_marks();
  timing.limiter = "issue";
  const auto stories = explain_slowness(timing, kernel, kContext);
  ASSERT_EQ(stories.size(), 1U);
  EXPECT_EQ(stories[0].code, Code("RL0599"));
  EXPECT_THAT(stories[0].message, HasSubstr("takes 4.0 times as long"));
}

TEST(SlownessTest, SpilledRegistersAreToldWithTheirShareOfAccesses) {
  simgpu::KernelRecord kernel;
  kernel.registers_per_thread = 32;
  kernel.local_bytes_per_thread = 272;
  kernel.counters.global_load_requests = 100;
  kernel.counters.local_load_requests = 500;
  kernel.counters.local_store_requests = 400;
  kernel.counters.local_spilling_requests = 900;
  kernel.time.total_us = 105;
  kernel.time.terms = {{Limiter::l1, 100}, {Limiter::fp32, 20}};
  const Timing timing = far_from_full_marks();
  const auto stories = explain_slowness(timing, kernel, kContext);
  ASSERT_EQ(stories.size(), 1U);
  EXPECT_EQ(stories[0].code, Code("RL0590"));
  EXPECT_THAT(stories[0].message, HasSubstr("more values than they have registers for (32)"));
  EXPECT_THAT(stories[0].message, HasSubstr("90 % of the warps' accesses"));
  EXPECT_THAT(stories[0].evidence, ElementsAre("272 bytes of local memory for each thread"));
  kernel.time.terms[Limiter::l1] = 3;
  EXPECT_THAT(explain_slowness(timing, kernel, kContext), IsEmpty()) << "they cost nothing";
}

TEST(SlownessTest, BankConflictsAreSilentWhereAnotherTermTakesAsLong) {
  simgpu::KernelRecord kernel;
  kernel.counters.shared_load_wavefronts = 1000;
  kernel.counters.shared_load_bank_conflicts = 600;
  kernel.time.total_us = 105;
  kernel.time.terms = {{Limiter::shared, 90}, {Limiter::latency, 100}};
  const Timing timing = far_from_full_marks();
  EXPECT_THAT(explain_slowness(timing, kernel, kContext), IsEmpty());
  kernel.time.terms[Limiter::latency] = 50;
  EXPECT_EQ(explain_slowness(timing, kernel, kContext).size(), 1U);
}

TEST(SlownessTest, AdviceAgainstBankConflictsKeepsTilesAligned) {
  simgpu::KernelRecord kernel;
  kernel.counters.shared_load_wavefronts = 1000;
  kernel.counters.shared_load_bank_conflicts = 600;
  const Timing timing = far_from_full_marks();
  const auto help = [&] { return explain_slowness(timing, kernel, kContext).at(0).help; };
  EXPECT_THAT(help(), AllOf(HasSubstr("by one element"), HasSubstr("float4")));
  kernel.counters.flops["fp16_tensor"] = 4096;
  EXPECT_THAT(help(), HasSubstr("by 16 bytes (8 halves or 4 floats), not by one element"));
}

TEST(SlownessTest, ArithmeticForNothingIsToldWhereArithmeticIsTheBound) {
  simgpu::KernelRecord kernel;
  kernel.counters.flops = {{"fp32", 1900}, {"fp16_tensor", 100}};
  Timing timing;
  timing.efficiency = 0.1;
  timing.target_efficiency = 0.5;
  timing.bound = "compute";
  timing.name = "4096";
  timing.flops = 1000;
  const auto stories = explain_slowness(timing, kernel, kContext);
  ASSERT_EQ(stories.size(), 1u);
  EXPECT_EQ(stories[0].code, Code("RL0593"));
  EXPECT_EQ(stories[0].message, "the kernel does 2.0 times the arithmetic that case 4096 takes");
  timing.bound = "memory";
  EXPECT_THAT(explain_slowness(timing, kernel, kContext), IsEmpty());
  timing.bound = "compute";
  kernel.counters.flops = {{"fp32", 1400}};  // softmax, and tiles that the mask cuts through
  EXPECT_THAT(explain_slowness(timing, kernel, kContext), IsEmpty());
}

TEST(SlownessTest, AGridThatLeavesMostOfTheGpuIdleIsTold) {
  simgpu::KernelRecord kernel;
  kernel.grid = {1, 2, 1};
  kernel.time.wave_quantisation = 54;
  const Timing timing = far_from_full_marks();
  const auto stories = explain_slowness(timing, kernel, kContext);
  ASSERT_EQ(stories.size(), 1u);
  EXPECT_EQ(stories[0].code, Code("RL0594"));
  EXPECT_THAT(stories[0].message, AllOf(HasSubstr("2 blocks"), HasSubstr("54 times")));
  kernel.time.wave_quantisation = 1.9;  // one block too many for one round
  EXPECT_THAT(explain_slowness(timing, kernel, kContext), IsEmpty());
}

}  // namespace
}  // namespace rooflab
