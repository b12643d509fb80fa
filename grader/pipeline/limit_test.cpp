#include "grader/pipeline/limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace rooflab {
namespace {

using simgpu::Limiter;

constexpr int kMultiprocessors = 100;

/// A kernel whose largest term is `limiter`, of 100 us, and whose next one takes 30.
simgpu::KernelRecord kernel(Limiter limiter, Limiter next) {
  simgpu::KernelRecord kernel;
  kernel.name = "void (anonymous namespace)::tiled<float>(float const*, int)";
  kernel.grid = {1000, 1, 1};
  kernel.block = {256, 1, 1};
  kernel.blocks_per_sm = 2;
  kernel.theoretical_occupancy = 0.25;
  kernel.occupancy_limiter = simgpu::OccupancyLimiter::shared_memory;
  kernel.time.total_us = 105;
  kernel.time.launch_us = 5;
  kernel.time.limiter = limiter;
  kernel.time.terms = {{limiter, 100}, {next, 30}};
  simgpu::KernelCounters& c = kernel.counters;
  c.ffma = 32000000;
  c.flops = {{"fp32", 64000000}};
  c.warp_instructions = 4000000;
  c.shared_load_requests = c.shared_load_wavefronts = 2000000;
  c.global_load_requests = 1000000;
  c.global_load_bytes = 1000000ULL * 128;
  c.global_load_sectors = 4000000;
  c.l2_read_sectors = 4000000;
  c.dram_read_bytes = 64000000;
  return kernel;
}

constexpr double kRoofline = 10;  // us

/// @param full_efficiency that full marks are at; 0: the time earns nothing
std::string advice(const simgpu::Activity& activity, const Work& work, double call_us,
                   double full_efficiency = 0, bool may_use_graphs = true) {
  Timing timing;
  timing.time_us = call_us;
  timing.efficiency = kRoofline / call_us;
  timing.target_efficiency = full_efficiency;
  return advice_of(limit_of(activity, work, kRoofline, call_us, kMultiprocessors, may_use_graphs),
                   timing);
}

std::string advice(const simgpu::KernelRecord& record,
                   const Work& work = {{{"fp32", 64e6}}, 16e6}) {
  simgpu::Activity activity;
  activity.kernels = {record};
  return advice(activity, work, record.time.total_us);
}

TEST(AdviceTest, MemoryThatIsAllocatedInEachCallIsTold) {
  simgpu::Activity activity;
  activity.kernels = {kernel(Limiter::dram, Limiter::l2)};
  const double pair_us = 120;
  activity.calls = {{.name = "cudaMalloc", .time_us = 60},
                    {.name = "cudaLaunchKernel", .time_us = 2},
                    {.name = "cudaFree", .time_us = 60}};
  EXPECT_EQ(advice(activity, {}, 105 + pair_us),
            "limited by allocating memory: 120 us of 225 us (53 %); cudaMalloc and cudaFree take "
            "long, and cudaFree waits for the device (cuda_api_sum cudaMalloc and cudaFree Calls = "
            "2). To be faster: allocate once and keep the memory for later calls, or ask "
            "cudaMallocAsync, whose pool has it at hand; best, need none. Without it 105 us, where "
            "the kernels' own work would limit (modelled)");
  activity.calls[0].time_us = activity.calls[2].time_us = 1;
  EXPECT_THAT(advice(activity, {}, 107), testing::Not(testing::HasSubstr("allocating")));
}

TEST(AdviceTest, TiledProductLoadsTwoWordsForEachMultiplyAdd) {
  EXPECT_EQ(advice(kernel(Limiter::shared, Limiter::fp32)),
            "limited by shared memory: 100 us of 105 us (95 %); 2 loads from it for each "
            "multiply-add (l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum = 2e+06). To be "
            "faster: hold values that are used several times in registers, such as a patch of a "
            "product for each thread, so that each load serves more arithmetic. Without it 35.0 "
            "us, where fp32 arithmetic "
            "would limit (modelled)");
}

TEST(AdviceTest, BankConflictsAreTheProof) {
  simgpu::KernelRecord conflicts = kernel(Limiter::shared, Limiter::issue);
  conflicts.counters.shared_load_wavefronts = 4000000;
  conflicts.counters.shared_load_bank_conflicts = 2000000;
  EXPECT_EQ(advice(conflicts),
            "limited by shared memory: 100 us of 105 us (95 %); 50 % of its wavefronts are bank "
            "conflicts (l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum = 2e+06). To be "
            "faster: change which index runs over the lanes, or pad the rows of the shared array "
            "by one element; where they are read as float4 or another vector, by 16 bytes, so that "
            "each row still starts at a multiple of that. Without it 55.0 us, where instruction "
            "issue would limit (modelled)");
}

TEST(AdviceTest, BankConflictsComeBeforeAGridOfFewBlocks) {
  simgpu::KernelRecord both = kernel(Limiter::shared, Limiter::tensor);
  both.time.wave_quantisation = 3;
  EXPECT_THAT(advice(both), testing::StartsWith("limited by too few blocks"));
  both.counters.shared_load_wavefronts = 4000000;
  both.counters.shared_load_bank_conflicts = 3000000;
  EXPECT_THAT(advice(both), testing::AllOf(testing::StartsWith("limited by shared memory"),
                                           testing::HasSubstr("bank conflicts"),
                                           testing::HasSubstr("Without it 35.0 us")));
}

TEST(AdviceTest, ScatteredLoadsAreToldBySectors) {
  simgpu::KernelRecord scattered = kernel(Limiter::l1, Limiter::dram);
  scattered.counters.global_load_sectors = 32000000;
  EXPECT_EQ(advice(scattered),
            "limited by the L1 cache: 100 us of 105 us (95 %); each load of a warp touches 32 "
            "sectors (l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio = 32). "
            "To be faster: let neighbouring threads read and write neighbouring addresses. Without "
            "it 35.0 us, where DRAM traffic would limit (modelled)");
}

TEST(AdviceTest, ScatteredLoadsAreMendedInBothCachesAtOnce) {
  simgpu::KernelRecord scattered = kernel(Limiter::l1, Limiter::l2);
  scattered.time.terms[Limiter::l2] = 98;
  scattered.time.terms[Limiter::dram] = 20;
  EXPECT_THAT(advice(scattered), testing::HasSubstr("L2 traffic would limit as much"));
  scattered.counters.global_load_sectors = 16000000;  // four times as many as the bytes fill
  EXPECT_THAT(advice(scattered),
              testing::AllOf(testing::HasSubstr("let neighbouring threads read and write"),
                             testing::HasSubstr("Without it 30.0 us, where L2 traffic")));
}

TEST(AdviceTest, TheCompulsoryBytesCannotBeSaved) {
  EXPECT_EQ(advice(kernel(Limiter::dram, Limiter::l2), {{{"fp32", 64e6}}, 32e6}),
            "limited by DRAM traffic: 100 us of 105 us (95 %); 64 MB cross DRAM, 2.00x the "
            "compulsory bytes (dram__bytes_read.sum = 6.4e+07). To be faster: read each byte once: "
            "coalesce, and reuse what was loaded. Without it 55.0 us, where L2 traffic would limit "
            "(modelled)");
  EXPECT_THAT(
      advice(kernel(Limiter::dram, Limiter::l2), {{{"fp32", 64e6}}, 64e6}),
      testing::EndsWith("1.00x the compulsory bytes (dram__bytes_read.sum = 6.4e+07): all "
                        "that the case asks for. There is nothing to gain here (modelled)"));
}

TEST(AdviceTest, AGridOfFewBlocksLeavesTheRestWithoutWork) {
  simgpu::KernelRecord few = kernel(Limiter::latency, Limiter::fp32);
  few.grid = {5, 1, 1};
  few.time.wave_quantisation = 20;
  EXPECT_EQ(advice(few),
            "limited by too few blocks: 95.0 us of 105 us (90 %); the GPU has 100 multiprocessors, "
            "and most have none (launch__grid_size = 5). To be faster: cut the work into more "
            "blocks: along another dimension, or along the sums, whose parts are then added up. "
            "Without it 10.0 us (modelled)");
}

TEST(AdviceTest, LowOccupancyIsToldByTheWarpsThatFit) {
  EXPECT_EQ(advice(kernel(Limiter::latency, Limiter::l2)),
            "limited by latency: 100 us of 105 us (95 %); 25 % of the warps fit, limited by shared "
            "memory (sm__maximum_warps_per_active_cycle_pct = 25). To be faster: give the "
            "multiprocessor more independent work: more warps resident, or more loads in flight "
            "per thread. Without it 35.0 us, where L2 traffic would limit (modelled)");
}

TEST(AdviceTest, BelowFullMarksNobodyIsToldThatNothingIsToBeGained) {
  simgpu::Activity activity;
  activity.kernels = {kernel(Limiter::dram, Limiter::l2)};
  const Work all{{{"fp32", 64e6}}, 64e6};
  EXPECT_THAT(advice(activity, all, 105, 0.05), testing::HasSubstr("nothing to gain"));
  EXPECT_THAT(
      advice(activity, all, 105, 0.5),
      testing::EndsWith(
          ": all that the case asks for. The model sees no single change that would make "
          "the call much faster, but full marks are at 50.0 % of the roofline, and it is at "
          "9.52 %: look at what it does beside the case's own bytes and operations (modelled)"));
}

/// Eight launches that take longer than their kernels' work.
simgpu::Activity many_launches() {
  simgpu::Activity activity;
  for (int i = 0; i < 8; ++i) {
    simgpu::KernelRecord small = kernel(Limiter::dram, Limiter::latency);
    small.time.total_us = 6;
    small.time.terms = {{Limiter::dram, 1}};
    activity.kernels.push_back(small);
  }
  return activity;
}

TEST(AdviceTest, AGraphIsNoAdviceWhereThereIsOneOrNoneIsAllowed) {
  simgpu::Activity activity = many_launches();
  const Work work{{{"fp32", 1e6}}, 1e6};
  const auto proposes_graph = testing::HasSubstr("graph");
  EXPECT_THAT(advice(activity, work, 48), proposes_graph);
  EXPECT_THAT(advice(activity, work, 48, 0, false), testing::Not(proposes_graph));
  activity.api_calls["cudaGraphLaunch"] = 1;
  EXPECT_THAT(advice(activity, work, 48),
              testing::HasSubstr("To be faster: do the work of several kernels in one. Without"));
}

TEST(AdviceTest, OfOneLaunchItIsSaidThatItHasACostOfItsOwn) {
  simgpu::Activity activity = many_launches();
  activity.kernels.resize(1);
  const Limit limit = limit_of(activity, {}, 1, 6, kMultiprocessors);
  EXPECT_EQ(limit.change,
            "every launch costs this time, whatever its kernel does; give each launch more work");
}

TEST(AdviceTest, ManyLaunchesOfLittleWorkAreLimitedByThem) {
  const simgpu::Activity activity = many_launches();
  EXPECT_EQ(
      advice(activity, {{{"fp32", 1e6}}, 1e6}, 48),
      "limited by launches: 40.0 us of 48.0 us (83 %); the kernels themselves work for 8.00 us "
      "(cuda_gpu_kern_sum Instances = 8). To be faster: do the work of several kernels in "
      "one, or launch them as one graph. Without it 13.0 us, where the kernels' own work "
      "would limit (modelled)");
}

TEST(AdviceTest, OfSeveralKernelsTheOneThatTakesMostIsNamedWithAllItsLaunches) {
  simgpu::Activity activity;
  activity.kernels = {kernel(Limiter::shared, Limiter::fp32),
                      kernel(Limiter::shared, Limiter::fp32), kernel(Limiter::dram, Limiter::l2)};
  activity.kernels[2].name = "other";
  const Limit limit =
      limit_of(activity, {{{"fp32", 64e6}}, 16e6}, kRoofline, 315, kMultiprocessors);
  EXPECT_EQ(limit.kernel, "tiled");
  EXPECT_DOUBLE_EQ(limit.cost_us, 200);
  EXPECT_DOUBLE_EQ(limit.without_us, 315 - 2 * 70);
}

TEST(AdviceTest, KernelsSideBySideAccountForNoMoreThanTheCallTakes) {
  simgpu::Activity activity;
  for (int i = 0; i < 8; ++i) activity.kernels.push_back(kernel(Limiter::shared, Limiter::fp32));
  for (const double call_us : {105.0, 210.0, 400.0, 840.0}) {
    const Limit limit = limit_of(activity, {}, kRoofline, call_us, kMultiprocessors);
    EXPECT_NEAR(limit.cost_us, call_us * 100 / 105, 1e-9) << call_us;
    EXPECT_NEAR(limit.without_us, call_us * 35 / 105, 1e-9) << call_us;
  }
}

TEST(AdviceTest, PromisesNoTimeBelowTheRoofline) {
  simgpu::Activity activity;
  activity.kernels = {kernel(Limiter::latency, Limiter::issue)};
  const Limit limit = limit_of(activity, {}, 60, 105, kMultiprocessors);
  EXPECT_DOUBLE_EQ(limit.without_us, 60);
  EXPECT_EQ(limit.next, "the roofline");
  EXPECT_DOUBLE_EQ(limit_of(activity, {}, 200, 105, kMultiprocessors).without_us, 105)
      << "nor one above the call's own";
}

TEST(AdviceTest, SaysOfArithmeticHowManyTimesTheCaseItIs) {
  EXPECT_THAT(advice(kernel(Limiter::fp32, Limiter::issue), {{{"fp32", 8e6}}, 16e6}),
              testing::HasSubstr("To be faster: the kernels do 8 times the operations that the "
                                 "case takes: leave out what the result does not need"));
  EXPECT_THAT(advice(kernel(Limiter::fp32, Limiter::issue), {{{"fp32", 60e6}}, 16e6}),
              testing::Not(testing::HasSubstr("times the operations")));
}

TEST(AdviceTest, PromisesNothingWhereTheNextLimitIsAsNear) {
  simgpu::KernelRecord close = kernel(Limiter::shared, Limiter::issue);
  close.time.terms[Limiter::issue] = 99;
  EXPECT_THAT(advice(close),
              testing::EndsWith("Without it instruction issue would limit as much (modelled)"));
}

TEST(AdviceTest, ADeviceThatTellsNoTermsGivesNone) {
  EXPECT_EQ(advice(simgpu::Activity{}, {}, 10), "");
  simgpu::Activity activity;
  activity.kernels.emplace_back();
  EXPECT_EQ(advice(activity, {}, 10), "");
}

}  // namespace
}  // namespace rooflab
