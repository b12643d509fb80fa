#include <gmock/gmock.h>

#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/testing/told_launch.h"

namespace simgpu {
namespace {

/// A division of 32-bit integers, as ptxas makes it.
constexpr MachineSequence kDivision{.integer = 14,
                                    .special = 1,
                                    .conversion = 2,
                                    .rest = 1,
                                    .chained_simple = 11,
                                    .chained_special = 3};

TEST(Sequences, TakeTheIssueSlotsAndPipesOfTheirInstructions) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(108, 256);
  kernel.add(InstructionClass::integer, {1}, {0}, 1000);
  const TimeBreakdown one = kernel.on(spec);
  kernel.program.back().sequence = kDivision;
  const TimeBreakdown many = kernel.on(spec);
  EXPECT_NEAR(many.terms.at(Limiter::issue), 18 * one.terms.at(Limiter::issue), 1e-9);
  EXPECT_NEAR(many.terms.at(Limiter::integer), 14 * one.terms.at(Limiter::integer), 1e-9);
  EXPECT_EQ(one.terms.at(Limiter::special), 0);
  // 3 x 8000 instructions of warps through 16 lanes.
  EXPECT_NEAR(many.terms.at(Limiter::special), 48000 / spec.clock_under_load_mhz(), 1e-9);
}

TEST(Sequences, OfOtherPipesCostNothingOfTheirClass) {
  ToldLaunch kernel(108, 256);
  kernel.add(InstructionClass::special, {1}, {0}, 1000);
  kernel.program.back().sequence = {.fp32 = 5, .special = 2, .rest = 3};
  const TimeBreakdown time = kernel.on(described_gpu("a100"));
  EXPECT_EQ(time.terms.at(Limiter::integer), 0);
  EXPECT_EQ(time.terms.at(Limiter::fp64), 0);
  EXPECT_NEAR(time.terms.at(Limiter::fp32), 5 * 8000 / 2 / 1410.0, 1e-9);
}

TEST(Sequences, MakeWaitForTheirLongestChain) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(1, 32);
  kernel.add(InstructionClass::integer, {1}, {0}).add(InstructionClass::integer, {2}, {1});
  kernel.program.front().sequence = kDivision;
  EXPECT_DOUBLE_EQ(kernel.cycles(spec), (11 + 3 * 4) * spec.alu_latency + 1);
  ToldLaunch independent(1, 32);
  for (std::uint32_t i = 0; i < 100; ++i) {
    independent.add(InstructionClass::integer, {1 + i}, {0});
    independent.program.back().sequence = kDivision;
  }
  EXPECT_DOUBLE_EQ(independent.cycles(spec), 1800) << "an issue slot for each instruction";
}

TEST(Constants, ThatLanesReadApartTakeACycleForEachFurtherWord) {
  ToldLaunch kernel(108, 256);
  kernel.add(InstructionClass::constant_load, {1}, {0}, 1000);
  kernel.add(InstructionClass::fp32, {2}, {1});
  kernel.counters.constant_load_requests = 1000 * kernel.warps();
  kernel.counters.constant_load_wavefronts = kernel.counters.constant_load_requests;
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  EXPECT_EQ(kernel.on(spec).terms.at(Limiter::constant), 0) << "an operand that all lanes share";
  const double shared = kernel.cycles(spec);
  kernel.counters.constant_load_wavefronts *= 32;
  EXPECT_NEAR(kernel.on(spec).terms.at(Limiter::constant), 31 * 8000 / 1410.0, 1e-9);
  EXPECT_EQ(kernel.on(spec).limiter, Limiter::constant);
  EXPECT_GE(kernel.cycles(spec), shared + 31) << "the last word comes 31 cycles after the first";
}

TEST(Exchanges, BetweenLanesAreOneOfAWarpPerCycle) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(108, 256);
  kernel.add(InstructionClass::warp_exchange, {1}, {0}, 1000);
  EXPECT_NEAR(kernel.on(spec).terms.at(Limiter::exchange), 8000 / 1410.0, 1e-9);
  kernel.program.back().sequence = {.exchange = 2};
  EXPECT_NEAR(kernel.on(spec).terms.at(Limiter::exchange), 16000 / 1410.0, 1e-9) << "a reduction";
  kernel.program.back().sequence = {.integer = 1};
  EXPECT_EQ(kernel.on(spec).terms.at(Limiter::exchange), 0) << "a vote";
}

TEST(Bf16, TakesTwiceAsLongAsFp16OnCapability80Alone) {
  const auto ratio = [](const char* id) {
    ToldLaunch kernel(256, 256);
    kernel.add(InstructionClass::fp16, {1}, {0}, 1000);
    kernel.program.back().flop_type = ptx::Type::f16x2;
    const double halves = kernel.on(described_gpu(id)).terms.at(Limiter::fp16);
    kernel.program.back().flop_type = ptx::Type::bf16x2;
    return kernel.on(described_gpu(id)).terms.at(Limiter::fp16) / halves;
  };
  EXPECT_DOUBLE_EQ(ratio("a100"), 2);
  EXPECT_DOUBLE_EQ(ratio("a10"), 1);
  EXPECT_DOUBLE_EQ(ratio("h100-sxm"), 1);
}

TEST(Fences, BetweenBlocksTakeTheWayToL2AndBack) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(1, 32);
  kernel.add(InstructionClass::integer, {1}, {0});
  kernel.add(InstructionClass::other, {}, {});
  kernel.add(InstructionClass::integer, {2}, {0});
  const double without = kernel.cycles(spec);
  kernel.program[1].fences = true;
  EXPECT_GE(kernel.cycles(spec), without + spec.l2_latency - 3);
}

TEST(Sleep, TakesItsTimeOfAWarp) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(108, 64);
  kernel.add(InstructionClass::integer, {1}, {0});
  const double awake = kernel.on(spec).terms.at(Limiter::latency);
  kernel.counters.slept_ns = 10'000 * kernel.warps();
  EXPECT_NEAR(kernel.on(spec).terms.at(Limiter::latency), awake + 10, 1e-6);
}

}  // namespace
}  // namespace simgpu
