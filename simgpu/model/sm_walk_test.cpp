#include "simgpu/model/sm_walk.h"

#include <gtest/gtest.h>

#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/testing/machine_launch.h"

namespace simgpu {
namespace {

constexpr IssueControl kNext{.stall_cycles = 1};
constexpr IssueControl kAfterLoad{.stall_cycles = 1, .wait_mask = 1};

class SmWalkTest : public ::testing::Test {
 protected:
  double cycles(const MachineLaunch& launch, std::uint64_t blocks = 1) const {
    const model::Work work = launch.work(gpu_);
    return model::SmWalks(work).cycles_of_blocks(blocks).value();
  }
  double alone(const MachineLaunch& launch) const { return model::warp_cycles(launch.work(gpu_)); }

  const gpu_spec::GpuSpec gpu_ = described_gpu("a100");
};

TEST_F(SmWalkTest, AWarpAloneTakesWhatItsStallCyclesSay) {
  MachineLaunch launch(1, 32);
  for (const unsigned stall : {4U, 1U, 13U}) {
    launch.add(InstructionClass::move, {.stall_cycles = stall});
  }
  EXPECT_DOUBLE_EQ(cycles(launch), 18);
  EXPECT_DOUBLE_EQ(alone(launch), 18);
}

TEST_F(SmWalkTest, AWarpWaitsForTheScoreboardOfItsLoad) {
  MachineLaunch launch(1, 32);
  launch.load_shared(1).add(InstructionClass::move, kAfterLoad);
  EXPECT_DOUBLE_EQ(cycles(launch), gpu_.shared_latency + 1);
  EXPECT_DOUBLE_EQ(alone(launch), cycles(launch));
}

TEST_F(SmWalkTest, WarpsOfASchedulerTakeTurns) {
  MachineLaunch few(1, 4 * 32), many(1, 16 * 32);
  for (int i = 0; i < 100; ++i) {
    few.add(InstructionClass::move, {.stall_cycles = 2});
    many.add(InstructionClass::move, {.stall_cycles = 2});
  }
  EXPECT_DOUBLE_EQ(cycles(few), 200) << "one warp for each scheduler";
  EXPECT_NEAR(cycles(many), 400, 2) << "four share 400 issue slots";
}

TEST_F(SmWalkTest, AUnitOfSixteenLanesTakesAWarpInTwoCycles) {
  MachineLaunch launch(1, 8 * 32);
  for (int i = 0; i < 100; ++i) launch.add(InstructionClass::fp32, kNext);
  EXPECT_NEAR(cycles(launch), 400, 2) << "two warps for each scheduler, 16 lanes each";
}

TEST_F(SmWalkTest, AllSchedulersShareTheBanks) {
  MachineLaunch one(1, 32), eight(1, 8 * 32);
  for (MachineLaunch* launch : {&one, &eight}) {
    for (int i = 0; i < 50; ++i) launch->load_shared(4);
    launch->add(InstructionClass::move, kAfterLoad);
  }
  EXPECT_NEAR(cycles(one), 50 * 4 + gpu_.shared_latency, 2);
  EXPECT_NEAR(cycles(eight), 8 * 50 * 4 + gpu_.shared_latency, 2);
}

TEST_F(SmWalkTest, DataThatIsUnderWayIsThereNoEarlierForBeingAskedForTwice) {
  const auto loads = [](bool first_is_for_nobody) {
    MachineLaunch launch(1, 32);
    launch.add(InstructionClass::move, kNext);
    std::vector<LoadCounts> counts(1);
    if (first_is_for_nobody) {
      launch.add(InstructionClass::global_load, {.stall_cycles = 1, .write_barrier = 1});
      counts.push_back({.requests = 1, .beyond_l1 = 1, .at_l2 = 1, .from_dram = 1});
      counts.push_back({.requests = 1, .of_recent = 1});
    } else {
      counts.push_back({.requests = 1, .beyond_l1 = 1, .at_l2 = 1, .from_dram = 1});
    }
    launch.add(InstructionClass::global_load, {.stall_cycles = 1, .write_barrier = 0});
    launch.add(InstructionClass::move, kAfterLoad);
    counts.resize(launch.launch.program.size());
    launch.launch.loads = counts;
    return launch;
  };
  EXPECT_NEAR(cycles(loads(true)), cycles(loads(false)), 2);
  EXPECT_NEAR(alone(loads(true)), alone(loads(false)), 2);
  EXPECT_GT(alone(loads(true)), gpu_.l2_latency);
}

TEST_F(SmWalkTest, LoadsOfOneBlockHideBehindTheArithmeticOfAnother) {
  MachineLaunch launch(2, 4 * 32);
  const std::uint32_t loop = launch.begin_loop(1000);
  launch.launch.loads.resize(launch.launch.program.size());
  launch.add(InstructionClass::global_load, {.stall_cycles = 1, .write_barrier = 0}, 1000);
  launch.add(InstructionClass::move, kAfterLoad, 1000);
  for (int i = 0; i < 400; ++i) launch.add(InstructionClass::move, kNext, 1000);
  launch.end_loop(loop);
  EXPECT_LT(cycles(launch, 2), 1.4 * cycles(launch, 1));
}

TEST_F(SmWalkTest, WhoComesFirstToABarrierWaitsForTheLast) {
  MachineLaunch launch(1, 8 * 32);
  for (int i = 0; i < 100; ++i) launch.add(InstructionClass::move, kNext);
  launch.add(InstructionClass::barrier, kNext);
  launch.add(InstructionClass::move, kNext);
  EXPECT_NEAR(cycles(launch), 201 + gpu_.shared_latency + 2, 3);
}

TEST_F(SmWalkTest, ALongLoopTakesAsLongAsItsTurns) {
  const auto loop_of = [](double turns) {
    MachineLaunch launch(1, 8 * 32);
    const std::uint32_t loop = launch.begin_loop(turns);
    launch.load_shared(2, turns).add(InstructionClass::fp32, kAfterLoad, turns);
    for (int i = 0; i < 30; ++i) launch.add(InstructionClass::fp32, kNext, turns);
    return launch.end_loop(loop);
  };
  const double all_walked = cycles(loop_of(20));
  EXPECT_NEAR(cycles(loop_of(20'000)) / all_walked, 1000, 15);
}

TEST_F(SmWalkTest, LoopsInLoopsTakeAsLongAsAllTheirTurns) {
  MachineLaunch launch(1, 4 * 32);
  const std::uint32_t outer = launch.begin_loop(100);
  const std::uint32_t inner = launch.begin_loop(100 * 100);
  launch.add(InstructionClass::move, {.stall_cycles = 9}, 100 * 100);
  launch.launch.loop_to(inner);
  launch.add(InstructionClass::move, kNext, 100, true);
  launch.end_loop(outer);
  EXPECT_NEAR(cycles(launch), 100 * (100 * 10 + 2), 0.01 * 100 * 100 * 10);
}

TEST_F(SmWalkTest, GroupsOfCopiesAreWaitedForInOrder) {
  const auto with_groups = [&](std::uint32_t left) {
    MachineLaunch launch(1, 32);
    for (int i = 0; i < 2; ++i) {
      launch.add(InstructionClass::async_copy, kNext);
      launch.launch.program.back().async_step = AsyncStep::copy;
      launch.add(InstructionClass::other, {.stall_cycles = 15});
      launch.launch.program.back().async_step = AsyncStep::commit;
    }
    launch.add(InstructionClass::other, kNext);
    launch.launch.program.back().async_step = AsyncStep::wait;
    launch.launch.program.back().groups_under_way = left;
    return launch;
  };
  EXPECT_NEAR(cycles(with_groups(0)) - cycles(with_groups(1)), 16, 1e-9)
      << "the second group began that much later";
  EXPECT_NEAR(alone(with_groups(0)), cycles(with_groups(0)), 1e-9);
}

TEST_F(SmWalkTest, WhatIsTooMuchToWalkIsNotTold) {
  MachineLaunch launch(1, 1024);
  std::vector<std::uint32_t> loops;
  double times = 1;
  for (int i = 0; i < 8; ++i) loops.push_back(launch.begin_loop(times *= 8));
  for (int i = 0; i < 100; ++i) launch.add(InstructionClass::move, kNext, times);
  for (std::size_t i = loops.size(); i-- > 0;) {
    launch.launch.loop_to(loops[i]);
    launch.add(InstructionClass::move, kNext, times /= 8, true);
  }
  const model::Work work = launch.work(gpu_);
  EXPECT_FALSE(model::SmWalks(work).cycles_of_blocks(2));
}

TEST_F(SmWalkTest, CodeThatFewBlocksExecuteIsNotLeftOut) {
  MachineLaunch launch(100, 4 * 32);
  launch.add(InstructionClass::move, kNext);
  launch.add(InstructionClass::barrier, kNext, 0.2, true);
  for (int i = 0; i < 1000; ++i) launch.add(InstructionClass::move, kNext, 0.2);
  launch.add(InstructionClass::move, kNext, 1, true);
  EXPECT_GE(cycles(launch), 200);
}

TEST_F(SmWalkTest, ATimeByMachineCodeIsAtLeastThatOfTheMeanWarp) {
  MachineLaunch launch(gpu_.sm_count, 32);
  launch.add(InstructionClass::move, kNext);
  launch.add(InstructionClass::barrier, kNext, 0.2, true);
  for (int i = 0; i < 1000; ++i)
    launch.load_shared(1, 0.2).add(InstructionClass::move, kAfterLoad, 0.2);
  launch.add(InstructionClass::move, kNext, 1, true);
  const TimeBreakdown time = predict(launch.work(gpu_)).time;
  EXPECT_GE(time.total_us, time.terms.at(Limiter::latency));
}

TEST_F(SmWalkTest, ATimeByMachineCodeIsAtLeastAShareOfThatByThePtx) {
  MachineLaunch launch(gpu_.sm_count, 32), much(gpu_.sm_count, 32);
  launch.add(InstructionClass::move, kNext);
  for (int i = 0; i < 100'000; ++i) much.add(InstructionClass::fp32, kNext);
  const model::Work by_ptx = much.launch.work(gpu_);
  model::Work work = launch.work(gpu_);
  const double without = predict(work).busy.total();
  work.by_ptx = &by_ptx;
  const double busy = predict(work).busy.total();
  EXPECT_LT(without, 0.1 * busy);
  EXPECT_NEAR(busy / predict(by_ptx).busy.total(), 0.45, 1e-9);
}

TEST_F(SmWalkTest, ATimeByMachineCodeIsNoneOfAnyUnitAlone) {
  MachineLaunch launch(gpu_.sm_count, 8 * 32);
  const std::uint32_t loop = launch.begin_loop(1000);
  for (int i = 0; i < 64; ++i) launch.add(InstructionClass::fp32, kNext, 1000);
  launch.end_loop(loop);
  model::Work work = launch.work(gpu_);
  const model::Work by_ptx = launch.launch.work(gpu_);
  work.by_ptx = &by_ptx;
  const TimeBreakdown time = predict(work).time;
  EXPECT_EQ(time.limiter, Limiter::fp32);
  EXPECT_GE(time.total_us, time.terms.at(Limiter::fp32));
  EXPECT_LT(time.total_us, 1.2 * time.terms.at(Limiter::fp32) + time.launch_us);
}

}  // namespace
}  // namespace simgpu
