#include "simgpu/model/meetings.h"

#include <gtest/gtest.h>

#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/testing/told_launch.h"

namespace simgpu {
namespace {

constexpr double kTurns = 1000;

/// A tile for the block in each turn, which its warps load, wait for each other by `wait`, and use.
template <class Wait>
ToldLaunch tiles(const Wait& wait) {
  ToldLaunch kernel(108, 1024, 64);
  kernel.add(InstructionClass::integer, {0}, {});
  kernel.add(InstructionClass::global_load, {1}, {0}, kTurns, true);
  kernel.add(InstructionClass::shared_store, {}, {1}, kTurns);
  wait(kernel);
  for (std::uint32_t i = 0; i < 64; ++i) {
    kernel.add(InstructionClass::fp32, {10 + i}, {10 + i}, kTurns, i == 0);
  }
  kernel.loop_to(1);
  KernelCounters& c = kernel.counters;
  c.global_load_sectors = c.l2_read_sectors = c.l2_hit_sectors =
      static_cast<std::uint64_t>(kTurns) * kernel.warps();
  return kernel;
}

/// A loop that looks `looks` times for each turn until what it finds is what register 2 says.
void poll(ToldLaunch& kernel, InstructionClass cls, double looks) {
  const auto begin = static_cast<std::uint32_t>(kernel.program.size());
  kernel.add(cls, {3}, {2}, looks * kTurns, true);
  kernel.add(InstructionClass::integer, {4}, {2, 3}, looks * kTurns);
  kernel.add(InstructionClass::control, {}, {4}, looks * kTurns);
  kernel.loop_to(begin);
}

double meetings(const ToldLaunch& kernel) {
  return model::meetings_of_a_warp(kernel.work(described_gpu("a100")));
}

TEST(Meetings, AreBarriersAndArrivals) {
  EXPECT_EQ(meetings(tiles([](ToldLaunch&) {})), 0);
  EXPECT_EQ(meetings(tiles(
                [](ToldLaunch& kernel) { kernel.add(InstructionClass::barrier, {}, {}, kTurns); })),
            kTurns);
}

TEST(Meetings, AreWaitsForSharedMemoryHoweverOftenTheyLook) {
  for (const auto cls : {InstructionClass::shared_load, InstructionClass::shared_atomic,
                         InstructionClass::generic_access}) {
    for (const double looks : {1, 3}) {
      EXPECT_EQ(meetings(tiles([&](ToldLaunch& kernel) { poll(kernel, cls, looks); })), kTurns);
    }
  }
}

TEST(Meetings, AreNotCountedForTheArrivalAndForTheWait) {
  EXPECT_EQ(meetings(tiles([](ToldLaunch& kernel) {
              kernel.add(InstructionClass::barrier, {}, {}, kTurns);
              poll(kernel, InstructionClass::shared_atomic, 2);
            })),
            kTurns);
}

TEST(Meetings, AreNoLoopsThatGetOn) {
  const auto loop = [](std::vector<std::uint32_t> counter) {
    return tiles([&](ToldLaunch& kernel) {
      const auto begin = static_cast<std::uint32_t>(kernel.program.size());
      kernel.add(InstructionClass::shared_load, {3}, {2}, kTurns, true);
      kernel.add(InstructionClass::fp32, std::move(counter), {2, 3}, kTurns);
      kernel.loop_to(begin);
    });
  };
  EXPECT_EQ(meetings(loop({4})), kTurns);
  EXPECT_EQ(meetings(loop({2})), 0) << "the next turn's place follows from this one's";
}

TEST(Meetings, TakeTheSameTimeWhateverTheWarpsMeetBy) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  const double by_barriers =
      tiles([](ToldLaunch& kernel) { kernel.add(InstructionClass::barrier, {}, {}, kTurns); })
          .on(spec)
          .total_us;
  const double by_polls =
      tiles([](ToldLaunch& kernel) { poll(kernel, InstructionClass::shared_load, 1); })
          .on(spec)
          .total_us;
  EXPECT_GT(by_polls, 0.95 * by_barriers);
}

}  // namespace
}  // namespace simgpu
