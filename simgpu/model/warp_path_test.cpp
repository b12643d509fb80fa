#include "simgpu/model/warp_path.h"

#include <gtest/gtest.h>

#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/testing/told_launch.h"

namespace simgpu {
namespace {

/// A load and its use, a thousand times; what lies between them is up to the caller.
template <class Between>
double cycles_of_loads_in_a_loop(const Between& between) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(1, 32);
  kernel.add(InstructionClass::global_load, {1}, {0}, 1000);
  kernel.counters.global_load_sectors = kernel.counters.l1_hit_sectors = 8;
  between(kernel);
  kernel.loop_to(0);
  return kernel.cycles(spec) / 1000;
}

TEST(WarpPathTest, ALoadIsWaitedForInEachTurnHoweverTheLoopIsCut) {
  const double latency = described_gpu("a100").l1_latency;
  const auto use = [](ToldLaunch& kernel, bool cut) {
    kernel.add(InstructionClass::global_store, {}, {1}, 1000, cut);
  };
  const double whole = cycles_of_loads_in_a_loop([&](ToldLaunch& kernel) { use(kernel, false); });
  EXPECT_NEAR(whole, latency + 1, 2);
  EXPECT_NEAR(cycles_of_loads_in_a_loop([&](ToldLaunch& kernel) { use(kernel, true); }), whole, 1)
      << "a label between load and use";
  const auto rarely = [&](double times, int instructions) {
    return cycles_of_loads_in_a_loop([&](ToldLaunch& kernel) {
      for (int i = 0; i < instructions; ++i) {
        kernel.add(InstructionClass::fp32, {2}, {2}, times, i == 0);
      }
      kernel.program.front().leads_to.push_back(static_cast<std::uint32_t>(kernel.program.size()));
      use(kernel, true);
    });
  };
  EXPECT_NEAR(rarely(0, 1), whole, 1) << "a branch that nobody takes";
  EXPECT_NEAR(rarely(1, 1000), whole, 10) << "long work in one turn of a thousand";
}

TEST(WarpPathTest, AWayBackThatNobodyTakesHidesNoLoop) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(1, 32);
  kernel.counters.global_load_sectors = kernel.counters.l1_hit_sectors = 8;
  kernel.add(InstructionClass::integer, {0}, {}, 1);
  kernel.add(InstructionClass::global_load, {1}, {0}, 1000, true);
  kernel.add(InstructionClass::global_store, {}, {1}, 1000, true).loop_to(1).loop_to(0);
  kernel.add(InstructionClass::integer, {2}, {}, 1, true).loop_to(0).loop_to(2);
  EXPECT_NEAR(kernel.cycles(spec), 1000 * (spec.l1_latency + 1), 3000);
}

TEST(WarpPathTest, ALoopInALoopTakesAllItsTurns) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(1, 32);
  kernel.add(InstructionClass::integer, {1}, {1}, 10);
  kernel.add(InstructionClass::fp32, {2}, {2}, 1000, true).loop_to(1);
  kernel.add(InstructionClass::integer, {3}, {3}, 10, true).loop_to(0);
  EXPECT_NEAR(kernel.cycles(spec), 1000 * spec.alu_latency, 100);
}

}  // namespace
}  // namespace simgpu
