#include "simgpu/model/time_model.h"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "simgpu/model/limiters.h"
#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/testing/told_launch.h"

namespace simgpu {
namespace {

using Kernel = ToldLaunch;

constexpr std::uint64_t kElements = 8192ULL * 8192;

/// A kernel over 8192 x 8192 floats, one thread each, `reads` arrays in and `writes` out.
Kernel streaming(unsigned reads, unsigned writes) {
  Kernel kernel(kElements / 256, 256, 16);
  KernelCounters& c = kernel.counters;
  const std::uint64_t sectors = kElements / 8;
  c.global_load_requests = reads * kElements / 32;
  c.global_store_requests = writes * kElements / 32;
  c.l1_tag_lookups = (reads + writes) * kElements / 32;
  c.global_load_sectors = c.l2_read_sectors = reads * sectors;
  c.global_store_sectors = c.l2_write_sectors = writes * sectors;
  c.global_store_bytes = writes * 4 * kElements;
  c.dram_read_bytes = reads * 4 * kElements;
  c.dram_write_bytes = writes * 4 * kElements;
  kernel.add(InstructionClass::integer, {1}, {0}).add(InstructionClass::integer, {2}, {1});
  for (unsigned i = 0; i < reads; ++i) kernel.add(InstructionClass::global_load, {3 + i}, {2});
  kernel.add(InstructionClass::fp32, {9}, {3});
  for (unsigned i = 0; i < writes; ++i) kernel.add(InstructionClass::global_store, {}, {2, 9});
  return kernel;
}

TEST(TimeModelTest, StreamingKernelsOnAT4AreAsFastAsMeasured) {
  struct Case {
    const char* what;
    Kernel kernel;
    double measured_ms;
  };
  for (const Case& c :
       {Case{"pow", streaming(1, 1), 2.167}, Case{"mul", streaming(1, 1), 2.185},
        Case{"fill", streaming(0, 1), 1.141}, Case{"sum", streaming(1, 0), 0.992}}) {
    const TimeBreakdown time = c.kernel.on(described_gpu("t4"));
    const double ratio = time.total_us / (1e3 * c.measured_ms);
    EXPECT_GT(ratio, 1 / 1.5) << c.what << ": " << time.total_us << " us";
    EXPECT_LT(ratio, 1.5) << c.what << ": " << time.total_us << " us";
    // One load per thread is not enough at the clock that 70 W leave.
    EXPECT_EQ(time.limiter, std::string(c.what) == "sum" ? Limiter::latency : Limiter::dram)
        << c.what;
  }
}

TEST(TimeModelTest, NoStreamIsFasterThanTheDataSheet) {
  for (const char* id :
       {"t4", "a10", "a6000", "rtx4090", "l40s", "rtx5090", "a100", "h100-sxm", "h200", "b200"}) {
    const gpu_spec::GpuSpec spec = described_gpu(id);
    const double floor_us = 1e6 * 8.0 * kElements / spec.dram_bytes_per_second;
    EXPECT_GT(streaming(1, 1).on(spec).total_us, floor_us) << id;
    // One float a thread took 1.8 times its floor on an H200: it starts a block in each 157 cycles
    // of an SM, which is a limit where DRAM is that fast; a B200 is modelled with the same number.
    const double most = spec.id == "b200" ? 2.3 : spec.cycles_per_block > 0 ? 1.9 : 1.5;
    EXPECT_LT(streaming(1, 1).on(spec).total_us, most * floor_us) << id;
  }
}

TEST(TimeModelTest, TheTotalIsNeverBelowItsLargestTermPlusTheLaunch) {
  const TimeBreakdown time = streaming(2, 1).on(described_gpu("a100"));
  for (const auto& [limiter, term] : time.terms) {
    EXPECT_GE(time.total_us, term + time.launch_us) << name_of(limiter);
    EXPECT_GE(term, 0) << name_of(limiter);
  }
}

TEST(TimeModelTest, ATinyKernelIsBoundByItsLaunch) {
  Kernel kernel(1, 32);
  kernel.add(InstructionClass::integer, {1}, {0});
  const TimeBreakdown time = kernel.on(described_gpu("a100"));
  EXPECT_EQ(time.limiter, Limiter::launch);
  EXPECT_NEAR(time.total_us, described_gpu("a100").launch_overhead_us, 0.1);
}

TEST(TimeModelTest, IndependentMultiplyAddsReachTheFp32Peak) {
  // 64 chains in flight per thread, so that latency does not matter.
  for (const char* id : {"t4", "a100", "rtx4090", "rtx5090", "h100-sxm", "b200"}) {
    const gpu_spec::GpuSpec spec = described_gpu(id);
    Kernel kernel(static_cast<std::uint32_t>(spec.sm_count) * 8, 256);
    for (std::uint32_t i = 0; i < 64; ++i) kernel.add(InstructionClass::fp32, {i}, {i}, 1000);
    const double flops = 64.0 * 1000 * 2 * 32 * static_cast<double>(kernel.warps());
    const TimeBreakdown time = kernel.on(spec);
    const double rate = flops / (1e-6 * time.total_us);
    const double peak = spec.peak_flops.at("fp32") * spec.clock_under_load_mhz() / spec.clock_mhz;
    EXPECT_LT(rate, 1.06 * peak) << id;
    EXPECT_GT(rate, 0.8 * peak) << id;
  }
}

TEST(TimeModelTest, TensorInstructionsRunAtTheDenseRateOfTheirType) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(108 * 4, 256);
  for (std::uint32_t i = 0; i < 16; ++i) {
    kernel.add(InstructionClass::tensor, {i}, {i}, 1000);
    kernel.program.back().flop_type = ptx::Type::bf16;
    kernel.program.back().flops_per_warp = 2 * 16 * 16 * 16;
  }
  const double flops = 16.0 * 1000 * 8192 * static_cast<double>(kernel.warps());
  EXPECT_NEAR(kernel.on(spec).terms.at(Limiter::tensor), 1e6 * flops / 312e12, 0.01);
}

TEST(TimeModelTest, BankConflictsCostTheirWavefronts) {
  Kernel kernel(108, 256);
  kernel.add(InstructionClass::shared_load, {1}, {0}, 1000);
  kernel.counters.shared_load_requests = 1000 * kernel.warps();
  kernel.counters.shared_load_wavefronts = kernel.counters.shared_load_requests;
  const double clean = kernel.on(described_gpu("a100")).terms.at(Limiter::shared);
  kernel.counters.shared_load_wavefronts *= 32;
  EXPECT_NEAR(kernel.on(described_gpu("a100")).terms.at(Limiter::shared), 32 * clean, 1e-6 * clean);
  // 8000 wavefronts of one SM at one per cycle.
  EXPECT_NEAR(clean, 8000 / 1410.0, 1e-9);
}

TEST(TimeModelTest, UncoalescedLoadsAreSlower) {
  Kernel coalesced = streaming(1, 1);
  Kernel strided = streaming(1, 1);
  KernelCounters& c = strided.counters;
  c.l1_tag_lookups *= 8;
  c.global_load_sectors *= 8;
  c.l2_read_sectors *= 8;
  c.dram_read_bytes *= 8;
  EXPECT_GT(strided.on(described_gpu("a100")).total_us,
            3 * coalesced.on(described_gpu("a100")).total_us);
}

TEST(TimeModelTest, OneBlockMoreThanSmsTakesASecondRound) {
  const auto busy = [](std::uint32_t blocks) {
    Kernel kernel(blocks, 1024, 64);  // one block per SM
    for (std::uint32_t i = 0; i < 32; ++i) kernel.add(InstructionClass::fp32, {i}, {i}, 1000);
    return kernel.on(described_gpu("a100"));
  };
  const TimeBreakdown whole = busy(108);
  const TimeBreakdown more = busy(109);
  EXPECT_DOUBLE_EQ(whole.wave_quantisation, 1.0);
  EXPECT_NEAR(more.wave_quantisation, 216.0 / 109, 1e-9);
  EXPECT_NEAR((more.total_us - more.launch_us) / (whole.total_us - whole.launch_us), 2.0, 0.01);
  EXPECT_NEAR(busy(1).total_us, whole.total_us, 1e-9) << "idle SMs do not speed up the busy one";
}

TEST(LatencyTest, DependentInstructionsWaitForEachOther) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel chain(1, 32);
  Kernel free(1, 32);
  for (std::uint32_t i = 0; i < 100; ++i) {
    chain.add(InstructionClass::fp32, {i + 1}, {i});
    free.add(InstructionClass::fp32, {i + 1}, {0});
  }
  EXPECT_DOUBLE_EQ(free.cycles(spec), 100);
  EXPECT_DOUBLE_EQ(chain.cycles(spec), 99 * spec.alu_latency + 1);
}

TEST(LatencyTest, ALoopCarriesItsDependenceFromTurnToTurn) {
  // acc += x: one instruction, a hundred turns, each waiting for the one before.
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel loop(1, 32);
  loop.add(InstructionClass::fp32, {1}, {1, 0}, 100);
  EXPECT_DOUBLE_EQ(loop.cycles(spec), 1 + 99 * spec.alu_latency);
}

TEST(LatencyTest, ALoadIsWaitedForWhereItsValueIsUsed) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  const auto with_independent_work = [&](std::uint32_t instructions) {
    Kernel kernel(1, 32);
    kernel.counters.global_load_sectors = kernel.counters.l2_read_sectors = 4;  // all from DRAM
    kernel.add(InstructionClass::global_load, {1}, {0});
    for (std::uint32_t i = 0; i < instructions; ++i) {
      kernel.add(InstructionClass::integer, {10 + i}, {0});
    }
    kernel.add(InstructionClass::fp32, {2}, {1}, 1, true);
    return kernel.cycles(spec);
  };
  EXPECT_DOUBLE_EQ(with_independent_work(0), spec.dram_latency + 1);
  EXPECT_DOUBLE_EQ(with_independent_work(100), spec.dram_latency + 1) << "hidden behind the load";
  EXPECT_DOUBLE_EQ(with_independent_work(1000), 1002);
}

TEST(LatencyTest, LoadsWaitForTheLevelThatServesThem) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(1, 32);
  kernel.add(InstructionClass::global_load, {1}, {0}).add(InstructionClass::fp32, {2}, {1});
  KernelCounters& c = kernel.counters;
  c.global_load_sectors = 8;
  c.l1_hit_sectors = 8;
  EXPECT_DOUBLE_EQ(kernel.cycles(spec), spec.l1_latency + 1);
  c.l1_hit_sectors = 0;
  c.l2_read_sectors = c.l2_hit_sectors = 8;
  EXPECT_DOUBLE_EQ(kernel.cycles(spec), spec.l2_latency + 1);
  c.l2_hit_sectors = 0;
  EXPECT_DOUBLE_EQ(kernel.cycles(spec), spec.dram_latency + 1);
}

TEST(LatencyTest, OneWarpThatDoesTheWorkOfAllTakesAsLongAsItDoes) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(108 * 8, 256);
  kernel.add(InstructionClass::fp32, {1}, {1}, 1000);
  const double shared_by_all = kernel.on(spec).total_us;
  kernel.balance.longest_of_block = 8;
  EXPECT_NEAR(kernel.on(spec).terms.at(Limiter::latency),
              8 * 1000 * spec.alu_latency / spec.clock_under_load_mhz(), 1);
  EXPECT_GT(kernel.on(spec).total_us, 1.1 * shared_by_all);
}

/// A launch of which one warp in eight goes through a chain of 1000 loads from shared memory, and
/// the others do as many additions that wait for nothing, or nothing at all.
Kernel one_chain(bool others_add, bool is_known_way_by_way) {
  Kernel kernel(108, 256);
  kernel.add(InstructionClass::integer, {0}, {});
  kernel.add(InstructionClass::shared_load, {1}, {1}, 1000 / 8.0, true).loop_to(1);
  kernel.add(InstructionClass::integer, {2}, {3}, others_add ? 1000 * 7 / 8.0 : 0, true).loop_to(2);
  if (!is_known_way_by_way) return kernel;
  WarpWays ways;
  ways.ways.push_back({{{108, 0}, {108'000, 0}, {}}, {}, 0, 108});
  ways.ways.push_back({{{108, 0}, {}, {others_add ? 108'000U : 0U, 0}}, {}, 0, 108});
  ways.mixes.push_back({{0, 1}, 108});
  kernel.balance.ways = std::make_shared<WarpWays>(ways);
  return kernel;
}

TEST(LatencyTest, WarpsThatDoSomethingElseHideNoChainOfTheirBlock) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  const double chain = 1000 * spec.shared_latency / spec.clock_under_load_mhz();
  for (const bool others_add : {false, true}) {
    EXPECT_NEAR(one_chain(others_add, true).on(spec).terms.at(Limiter::latency), chain,
                0.02 * chain);
    EXPECT_LT(one_chain(others_add, false).on(spec).terms.at(Limiter::latency), chain / 4)
        << "of the mean warp";
  }
}

TEST(LatencyTest, BlocksThatDoSomethingElseHideNoChainOfOneBlock) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  const double chain = 1000 * spec.shared_latency / spec.clock_under_load_mhz();
  Kernel kernel = one_chain(true, true);
  WarpWays ways = *kernel.balance.ways;
  ways.ways[0] = {{{1, 0}, {1000, 0}, {}}, {}, 0, 1};
  ways.ways[1] = {{{107, 0}, {}, {107'000, 0}}, {}, 0, 107};
  ways.mixes = {{{0}, 1}, {{1}, 107}};
  kernel.balance.ways = std::make_shared<WarpWays>(ways);
  EXPECT_NEAR(kernel.on(spec).terms.at(Limiter::latency), chain, 0.02 * chain);
}

TEST(LatencyTest, AWayWaitsForItsOwnLoads) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(1, 256);
  kernel.add(InstructionClass::integer, {0}, {});
  kernel.add(InstructionClass::global_load, {1}, {1}, 100, true).loop_to(1);
  // Seven warps find in L1 what they ask for by the instruction that has one wait for L2.
  kernel.loads = {{}, {.requests = 800, .beyond_l1 = 100, .at_l2 = 100}};
  kernel.counters.l2_read_sectors = kernel.counters.l2_hit_sectors = 100;
  const auto executed = std::vector<ExecutionCount>{{1, 0}, {100, 0}};
  WarpWays ways;
  ways.ways.push_back({executed, {{}, {.requests = 100, .beyond_l1 = 100}}, 0, 1});
  ways.mixes.push_back({{0}, 1});
  kernel.balance.ways = std::make_shared<WarpWays>(ways);
  const double chain = 100 * spec.l2_latency / spec.clock_under_load_mhz();
  EXPECT_NEAR(kernel.on(spec).terms.at(Limiter::latency), chain, 0.02 * chain);
}

TEST(LatencyTest, FewWarpsAreBoundByLatencyAndManyByThroughput) {
  const auto chained = [](std::uint32_t threads) {
    Kernel kernel(108, threads, 16);
    kernel.add(InstructionClass::fp32, {1}, {1}, 10000);
    return kernel.on(described_gpu("a100"));
  };
  EXPECT_EQ(chained(32).limiter, Limiter::latency);
  EXPECT_EQ(chained(1024).limiter, Limiter::fp32);
}

TEST(LatencyTest, WhatTheAssemblerFoldsCostsNothing) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(108, 256);
  kernel.add(InstructionClass::move, {1}, {0}, 1000);
  kernel.program.back().issues = false;
  EXPECT_DOUBLE_EQ(kernel.on(spec).terms.at(Limiter::issue), 0);
  EXPECT_DOUBLE_EQ(kernel.cycles(spec), 0);
}

TEST(LatencyTest, LoadsAreMovedAheadOfTheirUsesButNotAcrossABarrier) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(1, 32);
  kernel.add(InstructionClass::shared_load, {1}, {0}).add(InstructionClass::fp32, {2}, {1});
  kernel.add(InstructionClass::shared_load, {3}, {0}).add(InstructionClass::fp32, {4}, {3});
  EXPECT_DOUBLE_EQ(kernel.cycles(spec), spec.shared_latency + 1) << "both loads at once";
  Kernel parted(1, 32);
  parted.add(InstructionClass::shared_load, {1}, {0}).add(InstructionClass::fp32, {2}, {1});
  parted.add(InstructionClass::barrier, {}, {});
  parted.add(InstructionClass::shared_load, {3}, {0}).add(InstructionClass::fp32, {4}, {3});
  EXPECT_GT(parted.cycles(spec), 2 * spec.shared_latency);
}

TEST(TimeModelTest, APowerLimitStretchesWhatTheSmsDoAndNotWhatDramDoes) {
  gpu_spec::GpuSpec at_boost = described_gpu("t4");
  at_boost.sustained_clock_mhz = 0;
  const double factor = at_boost.clock_mhz / described_gpu("t4").sustained_clock_mhz;
  const TimeBreakdown limited = streaming(1, 1).on(described_gpu("t4"));
  const TimeBreakdown boosted = streaming(1, 1).on(at_boost);
  EXPECT_GT(factor, 1.5);
  EXPECT_NEAR(limited.terms.at(Limiter::issue), factor * boosted.terms.at(Limiter::issue), 1e-6);
  EXPECT_GT(limited.terms.at(Limiter::latency), 1.2 * boosted.terms.at(Limiter::latency));
  EXPECT_LT(limited.terms.at(Limiter::latency), factor * boosted.terms.at(Limiter::latency))
      << "DRAM's part";
  EXPECT_DOUBLE_EQ(limited.terms.at(Limiter::dram), boosted.terms.at(Limiter::dram));
}

/// A tile loaded from L2, a barrier, 1000 cycles of work for the block's warps together, a barrier;
/// a thousand times.
Kernel tiles(std::uint32_t blocks, std::uint32_t threads) {
  Kernel kernel(blocks, threads, 16);
  KernelCounters& c = kernel.counters;
  kernel.add(InstructionClass::global_load, {1}, {0}, 1000, true);
  kernel.add(InstructionClass::shared_store, {}, {1}, 1000);
  kernel.add(InstructionClass::barrier, {}, {}, 1000);
  for (std::uint32_t i = 0; i < 64; ++i) kernel.add(InstructionClass::fp32, {2 + i}, {2 + i}, 1000);
  kernel.add(InstructionClass::barrier, {}, {}, 1000);
  c.global_load_sectors = c.l2_read_sectors = c.l2_hit_sectors = 1000 * kernel.warps();
  return kernel;
}

TEST(TimeModelTest, OneBlockPerSmWaitsForItsLoadsAndSeveralFillEachOthersStalls) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  const TimeBreakdown alone = tiles(108, 1024).on(spec);
  const TimeBreakdown several = tiles(8 * 108, 256).on(spec);
  EXPECT_EQ(alone.limiter, Limiter::fp32);
  EXPECT_NEAR(several.terms.at(Limiter::fp32), 2 * alone.terms.at(Limiter::fp32), 1e-6);
  // Nothing is there to be done while the only block loads, so that both times add up.
  EXPECT_GT(alone.total_us, alone.terms.at(Limiter::fp32) + 0.8 * alone.terms.at(Limiter::latency));
  EXPECT_LT(several.total_us,
            several.terms.at(Limiter::fp32) + 0.3 * several.terms.at(Limiter::latency));
}

TEST(LatencyTest, TheNextRoundsBlocksTakeTheirTimeToStart) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  const auto latency = [&](std::uint32_t blocks) {
    Kernel kernel(blocks, 1024, 64);  // one block per SM
    kernel.add(InstructionClass::fp32, {1}, {1}, 100);
    return kernel.on(spec).terms.at(Limiter::latency) * spec.clock_under_load_mhz();
  };
  EXPECT_NEAR(latency(3 * 108) - 3 * latency(108), 2 * 430.0, 1e-6);
}

/// A product of 1024 x 1024 matrices on 32 x 32 threads (or fewer that compute more each), as
/// counted by hand for one k step of one warp.
Kernel product(unsigned outputs_per_thread, double loads_per_fma, bool from_global) {
  constexpr std::uint64_t kN = 1024;
  const auto threads =
      static_cast<std::uint32_t>(from_global || outputs_per_thread == 1 ? 1024 : 256);
  Kernel kernel(static_cast<std::uint32_t>(kN * kN / (std::uint64_t{threads} * outputs_per_thread)),
                threads, outputs_per_thread > 1 ? 128 : 32);
  const std::uint64_t fmas = kN * kN * kN / 32;
  const auto loads = static_cast<std::uint64_t>(loads_per_fma * static_cast<double>(fmas));
  KernelCounters& c = kernel.counters;
  const double steps = static_cast<double>(kN);
  const auto loads_per_step = static_cast<std::uint32_t>(loads_per_fma * outputs_per_thread);
  for (std::uint32_t i = 0; i < loads_per_step; ++i) {
    kernel.add(from_global ? InstructionClass::global_load : InstructionClass::shared_load,
               {100 + i}, {99}, steps);
  }
  for (std::uint32_t i = 0; i < outputs_per_thread; ++i) {
    kernel.add(InstructionClass::fp32, {i}, {i, 100}, steps);
  }
  if (from_global) {
    c.global_load_requests = c.l1_tag_lookups = loads;
    c.global_load_sectors = loads / 2 * 5;
    c.l1_hit_sectors = c.global_load_sectors / 2;
    c.l2_read_sectors = c.global_load_sectors - c.l1_hit_sectors;
    c.l2_hit_sectors = c.l2_read_sectors;
  } else {
    c.shared_load_requests = c.shared_load_wavefronts = loads;
  }
  c.dram_read_bytes = 8 * kN * kN;
  c.dram_write_bytes = 4 * kN * kN;
  return kernel;
}

TEST(TimeModelTest, EachStepOfTheMatrixProductIsFaster) {
  for (const char* id : {"t4", "a10", "a100", "h100-sxm"}) {
    const double naive = product(1, 2, true).on(described_gpu(id)).total_us;
    const double tiled = product(1, 2, false).on(described_gpu(id)).total_us;
    const double registers = product(16, 0.5, false).on(described_gpu(id)).total_us;
    EXPECT_GT(naive, 1.2 * tiled) << id;
    EXPECT_GT(tiled, 2 * registers) << id;
    const double peak_us = 1e6 * 2.0 * 1024 * 1024 * 1024 / described_gpu(id).peak_flops.at("fp32");
    EXPECT_GT(registers, peak_us) << id;
  }
}

TEST(TimeModelTest, AKernelWithoutAnyCountersTakesItsLaunch) {
  const LaunchShape shape;
  const TimeBreakdown time = predict_time({}, shape, {}, described_gpu("a100"));
  EXPECT_DOUBLE_EQ(time.total_us, time.launch_us);
}

/// 1000 turns that copy a tile, wait until `under_way` groups are left, and work on it in a chain
/// of `steps` additions; as many groups are committed before. They wait by the number of groups, or
/// at an mbarrier for those that arrive there, which leaves fewer in the last turns.
double cycles_of_a_turn(std::uint32_t under_way, std::uint32_t steps,
                        AsyncStep wait = AsyncStep::wait) {
  constexpr double kTurns = 1000;
  Kernel kernel(108, 128);
  const auto step = [&](AsyncStep what, double times, bool starts_block = false) {
    const bool copies = what == AsyncStep::copy;
    kernel.add(copies ? InstructionClass::async_copy : InstructionClass::other, {}, {1}, times,
               starts_block);
    kernel.program.back().async_step = what;
    kernel.program.back().groups_under_way = under_way;
  };
  for (std::uint32_t i = 0; i < under_way; ++i) {
    step(AsyncStep::copy, 1);
    step(AsyncStep::commit, 1);
  }
  step(AsyncStep::copy, kTurns, true);
  step(AsyncStep::commit, kTurns);
  step(wait, kTurns);
  if (wait == AsyncStep::wait_phase) {
    kernel.program.back().groups_under_way = 0;
    kernel.loads.resize(kernel.program.size());
    kernel.loads.back().at_mbarriers = {1000, 1000 * under_way - under_way};
  }
  for (std::uint32_t i = 0; i < steps; ++i) {
    kernel.add(InstructionClass::fp32, {2}, {2}, kTurns);
  }
  return kernel.cycles(described_gpu("a100")) / kTurns;
}

TEST(TimeModelTest, CopiesThatAreUnderWayWhileAWarpWorksHideTheirLatency) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  const auto steps = static_cast<std::uint32_t>(spec.dram_latency / spec.alu_latency / 2);
  const double work = steps * spec.alu_latency;  // half as long as a copy
  const double copy = spec.dram_latency;
  // From one copy into a stage to the next into the same one: the copy itself, and the work on it.
  for (const std::uint32_t under_way : {0U, 1U, 2U, 4U}) {
    const double expected = std::max(work, (copy + work) / (under_way + 1));
    EXPECT_NEAR(cycles_of_a_turn(under_way, steps), expected, 0.05 * copy) << under_way;
    EXPECT_NEAR(cycles_of_a_turn(under_way, steps, AsyncStep::wait_phase), expected, 0.05 * copy)
        << under_way << " at an mbarrier";
  }
}

/// As streaming(1, 0), with atomics that keep L2 busy for so many cycles.
Kernel summing(std::uint64_t serial_cycles) {
  Kernel kernel = streaming(1, 0);
  kernel.counters.atomic_serial_cycles = serial_cycles;
  return kernel;
}

TEST(Atomics, OnOneAddressTakeTheirTimeHoweverManyMultiprocessorsThereAre) {
  gpu_spec::GpuSpec spec = described_gpu("a100");
  constexpr std::uint64_t kCycles = 3 * kElements;
  const TimeBreakdown one = summing(kCycles).on(spec);
  EXPECT_EQ(one.limiter, Limiter::atomics);
  EXPECT_NEAR(one.terms.at(Limiter::atomics), kCycles / spec.clock_under_load_mhz(), 1);
  spec.sm_count *= 2;
  EXPECT_EQ(summing(kCycles).on(spec).terms.at(Limiter::atomics), one.terms.at(Limiter::atomics));
}

TEST(Atomics, ThatAreFewCostNothing) {
  const TimeBreakdown without = summing(0).on(described_gpu("a100"));
  EXPECT_EQ(summing(kElements / 256).on(described_gpu("a100")).total_us, without.total_us)
      << "one for each block of 256";
}

TEST(Atomics, InSharedMemoryAreALimiterOfTheirOwnWhereTheyTakeMostOfIt) {
  Kernel kernel = streaming(1, 0);
  kernel.counters.shared_atomic_wavefronts = 428 * kElements / 32;
  kernel.counters.shared_load_wavefronts = kElements / 32;
  const TimeBreakdown mostly = kernel.on(described_gpu("a100"));
  EXPECT_EQ(mostly.limiter, Limiter::shared_atomics);
  kernel.counters.shared_load_wavefronts = 500 * kElements / 32;
  const TimeBreakdown partly = kernel.on(described_gpu("a100"));
  EXPECT_EQ(partly.limiter, Limiter::shared);
  EXPECT_GT(partly.terms.at(Limiter::shared), mostly.terms.at(Limiter::shared_atomics));
}

}  // namespace
}  // namespace simgpu
