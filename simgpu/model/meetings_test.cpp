#include "simgpu/model/meetings.h"

#include <gtest/gtest.h>

#include "simgpu/model/polls.h"
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
  const std::vector<model::Loop> polls = model::find_polls(kernel.program, kernel.executed);
  return model::meetings_of_a_warp(kernel.work(described_gpu("a100")), polls,
                                   static_cast<double>(kernel.warps()));
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

/// What a loop in each turn consists of: an instruction for each, in one basic block.
struct Part {
  InstructionClass cls;
  std::vector<std::uint32_t> writes, reads;
};

/// Meetings where each turn has a loop of these parts.
double meetings_in_loop_of(const std::vector<Part>& parts) {
  return meetings(tiles([&](ToldLaunch& kernel) {
    const auto begin = static_cast<std::uint32_t>(kernel.program.size());
    for (const Part& part : parts) {
      kernel.add(part.cls, part.writes, part.reads, 2 * kTurns, &part == &parts.front());
    }
    kernel.loop_to(begin);
  }));
}

constexpr auto kLook = InstructionClass::shared_load;
constexpr auto kCompute = InstructionClass::integer;
constexpr auto kBranch = InstructionClass::control;
constexpr auto kAtomic = InstructionClass::shared_atomic;
constexpr auto kStore = InstructionClass::shared_store;

TEST(Meetings, AreWaitsWhateverElseTheirLoopsDo) {
  const Part look{kLook, {3}, {2}}, test{kCompute, {4}, {2, 3}}, branch{kBranch, {}, {4}};
  EXPECT_EQ(meetings_in_loop_of({look, {kCompute, {5}, {5}}, test, branch}), kTurns) << "counts";
  EXPECT_EQ(meetings_in_loop_of({look, test, {kCompute, {5}, {5, 4}}, {kBranch, {}, {5}}}), kTurns)
      << "and asks for what it has counted too";
  EXPECT_EQ(meetings_in_loop_of({look, {kStore, {}, {8, 9}}, test, branch}), kTurns) << "stores";
  EXPECT_EQ(meetings_in_loop_of({{kCompute, {2}, {8}}, look, test, branch}), kTurns)
      << "computes where to look, to the same effect in each turn";
}

TEST(Meetings, AreNoLoopsThatGetOn) {
  EXPECT_EQ(meetings_in_loop_of({{kLook, {3}, {2}}, {kCompute, {2}, {2, 3}}, {kBranch, {}, {2}}}),
            0)
      << "the next turn's place follows from this one's";
  EXPECT_EQ(
      meetings_in_loop_of(
          {{kCompute, {2}, {2}}, {kLook, {3}, {2}}, {kCompute, {4}, {3}}, {kBranch, {}, {4}}}),
      0)
      << "the place moves";
  EXPECT_EQ(meetings_in_loop_of({{kCompute, {5}, {5}},
                                 {kStore, {}, {5, 9}},
                                 {kLook, {3}, {2}},
                                 {kCompute, {4}, {5, 3}},
                                 {kBranch, {}, {4}}}),
            0)
      << "a bound is loaded anew because the loop stores";
  EXPECT_EQ(meetings_in_loop_of({{kLook, {3}, {2}}, {kCompute, {5}, {5}}, {kBranch, {}, {5}}}), 0)
      << "what it finds decides nothing";
  EXPECT_EQ(meetings_in_loop_of({{kCompute, {5}, {3}},
                                 {kAtomic, {3}, {2, 3, 5}},
                                 {kCompute, {4}, {3}},
                                 {kBranch, {}, {4}}}),
            0)
      << "it compares and swaps what it has found";
}

TEST(Meetings, AreWaitsOfSeveralBasicBlocks) {
  EXPECT_EQ(meetings(tiles([](ToldLaunch& kernel) {
              const auto begin = static_cast<std::uint32_t>(kernel.program.size());
              for (const double times : {3 * kTurns, 2 * kTurns}) {
                kernel.add(kLook, {3}, {2}, times, true);
                kernel.add(kCompute, {4}, {2, 3}, times);
                kernel.add(kBranch, {}, {4}, times);
                kernel.program[begin].leads_to = {begin + 3, begin + 6};
              }
              kernel.loop_to(begin);
            })),
            kTurns)
      << "two looks in a turn";
  EXPECT_EQ(meetings(tiles([](ToldLaunch& kernel) {
              const auto begin = static_cast<std::uint32_t>(kernel.program.size());
              kernel.add(kLook, {3}, {2}, 3 * kTurns, true);
              kernel.add(kBranch, {}, {9}, 3 * kTurns).loop_to(begin);
              kernel.add(kCompute, {4}, {2, 3}, 3 * kTurns, true);
              kernel.add(kBranch, {}, {4}, 3 * kTurns).loop_to(begin);
            })),
            kTurns)
      << "a look in a loop of its own, which does not go round";
}

TEST(Meetings, AreWaitsAtTheHeadOfAnotherLoop) {
  ToldLaunch kernel(108, 1024, 64);
  kernel.add(kCompute, {0}, {}, 1);
  kernel.add(kLook, {3}, {2}, 3 * kTurns, true);
  kernel.add(kCompute, {4}, {2, 3}, 3 * kTurns);
  kernel.add(kBranch, {}, {4}, 3 * kTurns).loop_to(1);
  kernel.add(InstructionClass::fp32, {5}, {5}, kTurns, true).loop_to(1);
  EXPECT_EQ(meetings(kernel), kTurns + 1);
}

// Thousands of instructions pass on what the look has found, each behind the one that reads it.
TEST(Meetings, AreFoundInOneRoundThroughALoopWhateverItsOrder) {
  constexpr std::uint32_t kLong = 20'000, kFirst = 100;
  std::vector<Part> parts;
  for (std::uint32_t i = 0; i < kLong; ++i) {
    parts.push_back({InstructionClass::integer, {kFirst + i}, {kFirst + i + 1}});
  }
  parts.push_back({InstructionClass::shared_load, {kFirst + kLong}, {2}});
  parts.push_back({InstructionClass::control, {}, {kFirst}});
  EXPECT_EQ(meetings_in_loop_of(parts), kTurns);
}

// So many loops, one in the other, are not looked into: they must hide no wait.
TEST(Meetings, AreNotHiddenByLoopsAroundThem) {
  constexpr std::uint32_t kLoops = 2000;
  ToldLaunch kernel(108, 1024, 64);
  for (std::uint32_t i = 0; i < kLoops; ++i) {
    kernel.add(InstructionClass::integer, {10 + i}, {}, 1, i > 0);
  }
  poll(kernel, InstructionClass::shared_load, 1);
  for (std::uint32_t i = kLoops; i-- > 0;) {
    kernel.add(InstructionClass::control, {}, {10 + i}, 1, true);
    kernel.loop_to(i);
  }
  EXPECT_EQ(meetings(kernel), kTurns);
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
