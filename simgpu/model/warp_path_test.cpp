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

/// Cycles of a turn that loads from DRAM and waits for that, after other loads from L1 whose
/// results nobody looks at.
double cycles_with_useless_loads(int useless) {
  ToldLaunch kernel(1, 32);
  kernel.add(InstructionClass::integer, {0}, {}, 1);
  for (int i = 0; i < useless; ++i) {
    kernel.add(InstructionClass::global_load, {2}, {0}, 1000, i == 0);
  }
  kernel.add(InstructionClass::global_load, {1}, {0}, 1000, useless == 0);
  kernel.add(InstructionClass::global_store, {}, {1}, 1000).loop_to(1);
  const LoadCounts hits{.requests = 1000};
  kernel.loads.resize(1);
  kernel.loads.resize(1 + static_cast<std::size_t>(useless), hits);
  kernel.loads.push_back({.requests = 1000, .beyond_l1 = 1000, .at_l2 = 1000, .from_dram = 1000});
  kernel.counters.global_load_sectors = 4000 * static_cast<std::uint64_t>(1 + useless);
  kernel.counters.l1_hit_sectors = 4000 * static_cast<std::uint64_t>(useless);
  kernel.counters.l2_read_sectors = 4000;
  return kernel.cycles(described_gpu("a100")) / 1000;
}

TEST(WarpPathTest, UselessLoadsFromL1ShortenNoneFromDram) {
  EXPECT_GE(cycles_with_useless_loads(3), cycles_with_useless_loads(0));
  EXPECT_GT(cycles_with_useless_loads(3), described_gpu("a100").l2_latency);
}

TEST(WarpPathTest, UselessLoadsFromL1ShortenNoWaitAtABarrier) {
  const auto stalled = [](std::uint64_t useless) {
    ToldLaunch kernel(108, 256);
    kernel.add(InstructionClass::global_load, {1}, {0}, 10);
    kernel.add(InstructionClass::barrier, {}, {}, 10);
    const std::uint64_t loads = 10 * kernel.warps();
    kernel.loads.push_back(
        {.requests = loads, .beyond_l1 = loads, .at_l2 = loads, .from_dram = loads});
    kernel.add(InstructionClass::global_load, {2}, {0}, static_cast<double>(useless));
    kernel.loads.push_back({});
    kernel.loads.push_back({.requests = useless * kernel.warps()});
    kernel.counters.global_load_sectors = 4 * (loads + useless * kernel.warps());
    kernel.counters.l1_hit_sectors = 4 * useless * kernel.warps();
    kernel.counters.l2_read_sectors = 4 * loads;
    return model::stalled_share(kernel.work(described_gpu("a100")), 100'000);
  };
  EXPECT_GT(stalled(0), 0);
  EXPECT_DOUBLE_EQ(stalled(100), stalled(0));
}

TEST(WarpPathTest, AGenericStoreFetchesNothingThatALoadWaitsFor) {
  const auto cycles = [](bool stores) {
    ToldLaunch kernel(1, 32);
    kernel.add(InstructionClass::integer, {0}, {}, 1);
    if (stores) kernel.add(InstructionClass::generic_access, {}, {0}, 1);
    kernel.add(InstructionClass::global_load, {1}, {0}, 1);
    kernel.add(InstructionClass::global_store, {}, {1}, 1);
    kernel.loads.resize(kernel.program.size());
    kernel.loads[kernel.program.size() - 2] = {.requests = 1, .of_recent = 1};
    kernel.counters.generic_load_requests = kernel.counters.generic_global_load_requests = 1;
    return kernel.cycles(described_gpu("a100"));
  };
  EXPECT_NEAR(cycles(true), cycles(false), 2);
}

/// Cycles of a turn that has data fetched from DRAM by a load, and loads it once more, from L1,
/// with the first result for an address or at once.
double cycles_of_loading_twice(bool waits_for_the_first) {
  ToldLaunch kernel(1, 32);
  kernel.add(InstructionClass::integer, {0}, {}, 1);
  kernel.add(InstructionClass::global_load, {2}, {0}, 1000, true);
  kernel.add(InstructionClass::global_load, {1}, {waits_for_the_first ? 2U : 0U}, 1000);
  kernel.add(InstructionClass::global_store, {}, {1}, 1000).loop_to(1);
  kernel.loads.resize(kernel.program.size());
  for (std::size_t i = 0; i < kernel.program.size(); ++i) {
    if (kernel.program[i].cls != InstructionClass::global_load) continue;
    kernel.loads[i] =
        i == 1 ? LoadCounts{.requests = 1000, .beyond_l1 = 1000, .at_l2 = 1000, .from_dram = 1000}
               : LoadCounts{.requests = 1000, .of_recent = 1000};
  }
  return kernel.cycles(described_gpu("a100")) / 1000;
}

TEST(WarpPathTest, DataThatIsUnderWayIsThereNoEarlierForBeingAskedForTwice) {
  const double once = cycles_with_useless_loads(0);
  EXPECT_NEAR(cycles_of_loading_twice(false), once, 3);
  EXPECT_NEAR(cycles_of_loading_twice(true), once + described_gpu("a100").l1_latency, 3)
      << "after the wait it is in L1";
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
