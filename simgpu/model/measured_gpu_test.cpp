#include <gmock/gmock.h>

#include "simgpu/model/latency.h"
#include "simgpu/model/limiters.h"
#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/testing/told_launch.h"

/// What a specification may say once somebody has measured the GPU.
namespace simgpu {
namespace {

gpu_spec::GpuSpec a100() { return described_gpu("a100"); }

ToldLaunch multiplying(ptx::Type type) {
  ToldLaunch kernel(108, 32);
  kernel.add(InstructionClass::tensor, {1}, {0}, 1000)
      .add(InstructionClass::tensor, {2}, {0}, 1000);
  for (InstructionInfo& instruction : kernel.program) {
    instruction.flop_type = type;
    instruction.flops_per_warp = 2 * 16 * 16 * 16;
  }
  return kernel;
}

TEST(MeasuredGpuTest, InstructionsReachTheirShareOfTheTensorRate) {
  gpu_spec::GpuSpec gpu = a100();
  const double all = multiplying(ptx::Type::bf16).on(gpu).terms.at(Limiter::tensor);
  gpu.mma_share = 0.5;
  EXPECT_DOUBLE_EQ(multiplying(ptx::Type::bf16).on(gpu).terms.at(Limiter::tensor), 2 * all);
  EXPECT_DOUBLE_EQ(multiplying(ptx::Type::s8).on(gpu).terms.at(Limiter::tensor), all);
}

TEST(MeasuredGpuTest, AWarpWaitsForItsTensorCoreWhereTheLatencyIsKnown) {
  gpu_spec::GpuSpec gpu = a100();
  const double guessed = multiplying(ptx::Type::bf16).cycles(gpu);
  gpu.tensor_latency = 24;
  const double known = multiplying(ptx::Type::bf16).cycles(gpu);
  // 1024 FLOPs of fp16 a cycle and SM, of which each of four schedulers has a quarter.
  EXPECT_NEAR(model::tensor_cycles(multiplying(ptx::Type::bf16).program[0], gpu), 16, 0.1);
  EXPECT_NEAR(guessed / 1000, 2, 0.1);
  EXPECT_NEAR(known / 1000, 2 * 16, 0.1);
}

TEST(MeasuredGpuTest, DramReadsAndWritesAtSharesOfItsBandwidth) {
  gpu_spec::GpuSpec gpu = a100();
  ToldLaunch kernel(1080, 256);
  kernel.add(InstructionClass::integer, {1}, {0});
  kernel.counters.dram_read_bytes = 3'000'000;
  kernel.counters.dram_write_bytes = 1'000'000;
  EXPECT_DOUBLE_EQ(kernel.on(gpu).terms.at(Limiter::dram), 4e12 / (0.87 * 1555e9));
  gpu.dram_read_share = 0.9;
  gpu.dram_write_share = 0.6;
  EXPECT_NEAR(kernel.on(gpu).terms.at(Limiter::dram), 3e12 / (0.9 * 1555e9) + 1e12 / (0.6 * 1555e9),
              1e-9);
}

TEST(MeasuredGpuTest, LatencyAndDramAddUpMoreWhereTheirSharpnessIsLess) {
  gpu_spec::GpuSpec gpu = a100();
  ToldLaunch kernel(108, 32);
  kernel.add(InstructionClass::integer, {1}, {1}, 1000).loop_to(0);
  kernel.counters.dram_read_bytes = 4'000'000;
  const TimeBreakdown sharp = kernel.on(gpu);
  gpu.dram_sharpness = 2;
  const TimeBreakdown soft = kernel.on(gpu);
  EXPECT_GT(soft.total_us, sharp.total_us);
  EXPECT_LT(soft.total_us,
            soft.launch_us + soft.terms.at(Limiter::dram) + soft.terms.at(Limiter::latency));
  kernel.counters.dram_read_bytes = 0;  // nothing of DRAM, nothing to wait for
  EXPECT_DOUBLE_EQ(kernel.on(gpu).total_us, kernel.on(a100()).total_us);
}

TEST(MeasuredGpuTest, StoresOfPartsOfSectorsKeepL2Busy) {
  gpu_spec::GpuSpec gpu = a100();
  ToldLaunch kernel(1080, 256);
  kernel.add(InstructionClass::global_store, {}, {0});
  kernel.counters.global_store_sectors = kernel.counters.l2_write_sectors = 32 * kernel.warps();
  kernel.counters.global_store_bytes = 4 * kernel.counters.global_store_sectors;
  const double whole = kernel.on(gpu).terms.at(Limiter::l2);
  gpu.partial_sectors_per_cycle = 10;
  const double missing = 0.875 * 32 * static_cast<double>(kernel.warps());
  EXPECT_NEAR(kernel.on(gpu).terms.at(Limiter::l2), missing / 10 / gpu.clock_under_load_mhz(),
              1e-9);
  kernel.counters.global_store_bytes = 32 * kernel.counters.global_store_sectors;
  EXPECT_DOUBLE_EQ(kernel.on(gpu).terms.at(Limiter::l2), whole);
}

TEST(MeasuredGpuTest, BlocksOfNothingStartOneAfterTheOther) {
  gpu_spec::GpuSpec gpu = a100();
  ToldLaunch kernel(108 * 1000, 256);
  kernel.add(InstructionClass::integer, {1}, {0});
  gpu.cycles_per_block = 500;
  EXPECT_NEAR(kernel.on(gpu).terms.at(Limiter::latency), 500'000 / gpu.clock_under_load_mhz(),
              1e-6);
}

TEST(MeasuredGpuTest, ConflictsDelayALoadByTheirCycles) {
  gpu_spec::GpuSpec gpu = a100();
  ToldLaunch kernel(108, 32);
  kernel.add(InstructionClass::shared_load, {1}, {0}).add(InstructionClass::fp32, {2}, {1});
  kernel.counters.shared_load_requests = kernel.warps();
  kernel.counters.shared_load_bank_conflicts = 31 * kernel.warps();
  const double one = kernel.cycles(gpu);
  gpu.conflict_latency = 2;
  EXPECT_DOUBLE_EQ(kernel.cycles(gpu), one + 31);
}

}  // namespace
}  // namespace simgpu
