#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/testing/told_launch.h"

/// SMs and schedulers that do more than others.
namespace simgpu {
namespace {

using Kernel = ToldLaunch;

TEST(UnevenWork, OneBlockThatDoesTheWorkOfAllKeepsOneSmBusy) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(108, 256);
  for (std::uint32_t i = 0; i < 64; ++i) kernel.add(InstructionClass::fp32, {i}, {i}, 1000);
  const TimeBreakdown even = kernel.on(spec);
  kernel.balance.busiest_instructions = 0.5;
  EXPECT_NEAR(kernel.on(spec).terms.at(Limiter::fp32), 54 * even.terms.at(Limiter::fp32), 1e-6);
  EXPECT_NEAR(kernel.on(spec).terms.at(Limiter::issue), 54 * even.terms.at(Limiter::issue), 1e-6);
}

TEST(UnevenWork, WarpsOfOneSchedulerHaveAQuarterOfTheLanes) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(108 * 8, 256);
  for (std::uint32_t i = 0; i < 64; ++i) kernel.add(InstructionClass::fp32, {i}, {i}, 1000);
  const TimeBreakdown even = kernel.on(spec);
  EXPECT_EQ(even.uneven_sms, 1);
  kernel.balance.by_scheduler = {1, 0, 0, 0};
  for (const Limiter term : {Limiter::issue, Limiter::fp32}) {
    EXPECT_NEAR(kernel.on(spec).terms.at(term), 4 * even.terms.at(term), 1e-6) << name_of(term);
  }
  EXPECT_NEAR(kernel.on(spec).uneven_sms, 4, 1e-6);
}

TEST(UnevenWork, WarpsThatDoOtherThingsMakeNoSchedulersPipesEven) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(108 * 8, 256);
  kernel.add(InstructionClass::fp32, {1}, {}, 1000);
  kernel.add(InstructionClass::integer, {2}, {}, 1000);
  const TimeBreakdown even = kernel.on(spec);
  // The first two schedulers' warps multiply, and those of the others add.
  const std::vector<SchedulerCounts> counts{{{5, 5, 0, 0}, 5}, {{0, 0, 5, 5}, 5}};
  kernel.balance.schedulers = std::make_shared<std::vector<SchedulerCounts>>(counts);
  for (const Limiter term : {Limiter::fp32, Limiter::integer}) {
    EXPECT_NEAR(kernel.on(spec).terms.at(term), 2 * even.terms.at(term), 1e-6) << name_of(term);
  }
  EXPECT_EQ(kernel.on(spec).terms.at(Limiter::issue), even.terms.at(Limiter::issue));
}

TEST(UnevenWork, BlocksThatDoOtherThingsMakeNoSmsPipesEven) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(108 * 8, 256);
  kernel.add(InstructionClass::fp32, {1}, {}, 1000);
  kernel.add(InstructionClass::integer, {2}, {}, 1000);
  const TimeBreakdown even = kernel.on(spec);
  // Half of the SMs have all blocks that multiply; additions are everywhere.
  ByPipe<double> pipes;
  pipes.fill(1.0 / 108);
  pipes[pipe_of(InstructionClass::fp32)] = 2.0 / 108;
  kernel.balance.busiest_pipes = pipes;
  const TimeBreakdown uneven = kernel.on(spec);
  EXPECT_NEAR(uneven.terms.at(Limiter::fp32), 2 * even.terms.at(Limiter::fp32), 1e-6);
  EXPECT_NEAR(uneven.terms.at(Limiter::integer), even.terms.at(Limiter::integer), 1e-6);
  EXPECT_EQ(uneven.terms.at(Limiter::issue), even.terms.at(Limiter::issue));
}

TEST(UnevenWork, TwoWarpsOfABlockAloneOnItsSmHaveHalfOfTheLanes) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(108, 64);
  for (std::uint32_t i = 0; i < 64; ++i) kernel.add(InstructionClass::fp32, {i}, {i}, 1000);
  const TimeBreakdown before = kernel.on(spec);
  kernel.balance.by_scheduler = {0.5, 0.5, 0, 0};
  kernel.balance.busiest_scheduler = 0.5;
  EXPECT_NEAR(kernel.on(spec).terms.at(Limiter::fp32), 2 * before.terms.at(Limiter::fp32), 1e-6);
}

TEST(UnevenWork, BlocksThatAreResidentTogetherEvenOutAnOddNumberOfWarps) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  Kernel kernel(108 * 8, 32);
  kernel.add(InstructionClass::fp32, {1}, {1}, 1000);
  kernel.balance.by_scheduler = {1, 0, 0, 0};
  kernel.balance.busiest_scheduler = 1;
  EXPECT_EQ(kernel.on(spec).uneven_sms, 1);
}

}  // namespace
}  // namespace simgpu
