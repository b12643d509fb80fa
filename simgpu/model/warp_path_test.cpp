#include "simgpu/model/warp_path.h"

#include <gtest/gtest.h>

#include <memory>

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
    return model::block_cycles(kernel.work(described_gpu("a100")), 100'000).stalled;
  };
  EXPECT_GT(stalled(0), 0);
  EXPECT_DOUBLE_EQ(stalled(100), stalled(0));
}

TEST(WarpPathTest, WarpsThatSleepDoNotHideThatOthersMeet) {
  const auto stalled = [](std::uint64_t sleepers) {
    ToldLaunch kernel(108, static_cast<std::uint32_t>(32 * (8 + sleepers)));
    const double part = 8.0 / static_cast<double>(8 + sleepers);
    kernel.add(InstructionClass::integer, {0}, {}, 1);
    kernel.add(InstructionClass::global_load, {1}, {0}, 10 * part, true);
    kernel.add(InstructionClass::barrier, {}, {1}, 10 * part);
    kernel.add(InstructionClass::other, {}, {}, 1 - part, true);
    kernel.program[0].leads_to = {1, 3};
    const std::uint64_t loads = 108 * 10;
    const LoadCounts far{.requests = loads, .beyond_l1 = loads, .at_l2 = loads, .from_dram = loads};
    WarpWays ways;
    ways.ways.push_back({.executed = {{108, 0}, {1080, 0}, {1080, 0}, {0, 0}},
                         .loads = {{}, far},
                         .slept_ns = 0,
                         .blocks = 108});
    ways.ways.push_back({.executed = {{108, 0}, {0, 0}, {0, 0}, {108, 0}},
                         .loads = {},
                         .slept_ns = 108 * 2'000,
                         .blocks = 108});
    ways.mixes.push_back({{0}, 108});
    if (sleepers > 0) ways.mixes.front().ways.push_back(1);
    kernel.balance.ways = std::make_shared<WarpWays>(ways);
    kernel.counters.slept_ns = 108 * sleepers * 2'000;
    kernel.loads.resize(2);
    kernel.loads[1].add_times(far, 8);  // of all warps that load
    kernel.counters.global_load_sectors = kernel.counters.l2_read_sectors = 4 * 8 * loads;
    const model::Work work = kernel.work(described_gpu("a100"));
    return model::block_cycles(work, model::warp_cycles(work)).stalled;
  };
  EXPECT_GT(stalled(0), 0.8);
  EXPECT_NEAR(stalled(24), stalled(0), 0.01);
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

/// Two loads with something between them that reads the first one's value.
struct TwoLoads {
  ToldLaunch kernel{1, 32};

  TwoLoads() {
    kernel.add(InstructionClass::integer, {0}, {});
    kernel.add(InstructionClass::global_load, {1}, {0});
  }
  /// Cycles with a load that is used at the end.
  double end() {
    kernel.add(InstructionClass::global_load, {2}, {0});
    kernel.add(InstructionClass::fp32, {3}, {1, 2});
    kernel.add(InstructionClass::global_store, {}, {3});
    return kernel.cycles(described_gpu("a100"));
  }
};

TEST(WarpPathTest, ALoadBehindADivisionThatBranchesWaitsForTheDividend) {
  const auto cycles = [](bool branches) {
    TwoLoads loads;
    loads.kernel.add(InstructionClass::fp32, {4}, {1});
    loads.kernel.program.back().sequence = {.fp32 = 5, .rest = 3, .branches = branches};
    return loads.end();
  };
  EXPECT_GT(cycles(true), cycles(false) + 0.9 * described_gpu("a100").l2_latency);
}

TEST(WarpPathTest, ALoadBehindABarrierOfTheWarpWaitsForTheStoresBefore) {
  const auto cycles = [](bool meets) {
    TwoLoads loads;
    loads.kernel.add(InstructionClass::shared_store, {}, {5, 1});
    loads.kernel.program.back().only_stores = true;
    loads.kernel.program.back().operands = {5};
    if (meets) loads.kernel.add(InstructionClass::warp_exchange, {}, {});
    return loads.end();
  };
  EXPECT_GT(cycles(true), cycles(false) + 0.9 * described_gpu("a100").l2_latency);
}

TEST(WarpPathTest, ALoadBehindACheckThatNobodyFailsWaitsForWhatIsChecked) {
  const auto cycles = [](InstructionClass otherwise) {
    TwoLoads loads;
    loads.kernel.add(InstructionClass::control, {}, {1});
    loads.kernel.program.front().leads_to = {4};
    loads.kernel.add(otherwise, {}, {0}, 0, true);
    loads.kernel.add(InstructionClass::integer, {0}, {}, 1, true);
    return loads.end();
  };
  const double selected = cycles(InstructionClass::integer);
  EXPECT_GT(cycles(InstructionClass::global_store),
            selected + 0.9 * described_gpu("a100").l2_latency);
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

/// Cycles of a load and its use, a thousand times, in so many loops in each other, each of which
/// takes so many turns for one of the loop around it.
double cycles_in_nested_loops(std::uint32_t depth, double turns) {
  ToldLaunch kernel(1, 32);
  kernel.counters.global_load_sectors = kernel.counters.l1_hit_sectors = 8;
  kernel.shape.grid = {1000, 1, 1};  // so that parts of turns can be told
  double times = 1;
  for (std::uint32_t level = 0; level < depth; ++level) {
    kernel.add(InstructionClass::integer, {0}, {}, times, true);
    times *= turns;
  }
  kernel.add(InstructionClass::global_load, {1}, {0}, 1000, true);
  for (int i = 0; i < 20; ++i) kernel.add(InstructionClass::integer, {2}, {}, 999, i == 0);
  kernel.add(InstructionClass::global_store, {}, {1}, 999).loop_to(depth);
  kernel.program[depth].leads_to.push_back(depth);  // a turn that uses nothing
  for (std::uint32_t level = depth; level-- > 0;) {
    kernel.add(InstructionClass::integer, {0}, {}, times, true).loop_to(level);
    times /= turns;
  }
  return kernel.cycles(described_gpu("a100")) / 1000;
}

TEST(WarpPathTest, ALoadIsWaitedForHoweverDeepItsLoopIs) {
  const double latency = described_gpu("a100").l1_latency;
  const double shallow = cycles_in_nested_loops(1, 1);
  EXPECT_GT(shallow, latency);
  EXPECT_NEAR(cycles_in_nested_loops(100, 1), shallow, 3) << "loops that take no turn";
  EXPECT_GE(cycles_in_nested_loops(100, 1.01), cycles_in_nested_loops(60, 1.01))
      << "loops that take a turn now and then";
}

TEST(WarpPathTest, ALoopInALoopTakesAllItsTurns) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(1, 32);
  kernel.add(InstructionClass::integer, {1}, {1}, 10);
  kernel.add(InstructionClass::fp32, {2}, {2}, 1000, true).loop_to(1);
  kernel.add(InstructionClass::integer, {3}, {3}, 10, true).loop_to(0);
  EXPECT_NEAR(kernel.cycles(spec), 1000 * spec.alu_latency, 100);
}

/// Cycles of a turn that takes one of `cases` ways, each of which uses what another has loaded: the
/// one before it in the code, or the one behind it.
double cycles_of_a_switch(std::uint32_t cases, bool in_order) {
  constexpr std::uint32_t kTurns = 1000;
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(1, 32);
  kernel.counters.global_load_sectors = kernel.counters.l2_read_sectors = 8;
  kernel.counters.l2_hit_sectors = 8;
  kernel.add(InstructionClass::integer, {0}, {0}, kTurns);
  for (std::uint32_t i = 0; i < cases; ++i) {
    const std::uint32_t from = (in_order ? i + cases - 1 : i + 1) % cases;
    // Longer than what the assembler would give predicates.
    kernel.add(InstructionClass::global_load, {100 + i}, {100 + from}, 1.0 * kTurns / cases, true);
    for (int k = 0; k < 20; ++k) {
      kernel.add(InstructionClass::integer, {200}, {}, 1.0 * kTurns / cases);
    }
  }
  kernel.add(InstructionClass::control, {}, {}, kTurns, true).loop_to(0);
  const auto first_of = [](std::uint32_t i) { return 1 + 21 * i; };
  const std::uint32_t end = first_of(cases);
  kernel.program[0].leads_to.clear();
  for (std::uint32_t i = 0; i < cases; ++i) {
    kernel.program[0].leads_to.push_back(first_of(i));
    kernel.program[first_of(i)].leads_to = {end};
  }
  EXPECT_GT(spec.l2_latency, 100);
  return kernel.cycles(spec) / kTurns;
}

TEST(WarpPathTest, ChainsThroughTheCasesOfASwitchAreWaitedForInEachTurn) {
  const double latency = described_gpu("a100").l2_latency;
  for (const std::uint32_t cases : {2U, 8U}) {
    EXPECT_GT(cycles_of_a_switch(cases, true), 0.9 * latency) << cases;
    EXPECT_GT(cycles_of_a_switch(cases, false), 0.9 * latency) << cases;
    EXPECT_LT(cycles_of_a_switch(cases, true), latency + 60) << cases;
  }
}

TEST(WarpPathTest, WhatIsSeldomLoadedIsSeldomWaitedFor) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(1, 32);
  kernel.counters.global_load_sectors = kernel.counters.l2_read_sectors = 8;
  kernel.counters.l2_hit_sectors = 8;
  kernel.add(InstructionClass::integer, {0}, {0}, 1000);
  kernel.program[0].leads_to = {1, 22};
  kernel.add(InstructionClass::global_load, {1}, {0}, 10, true);
  for (int k = 0; k < 20; ++k) kernel.add(InstructionClass::integer, {2}, {}, 10);
  kernel.program[0].leads_to = {1, 22};
  kernel.add(InstructionClass::fp32, {3}, {1}, 1000, true).loop_to(0);
  EXPECT_LT(kernel.cycles(spec) / 1000, spec.alu_latency + 0.02 * spec.l2_latency);
}

/// Cycles of a turn that loads, and uses what it has loaded in one turn of five, in which all of it
/// comes from DRAM; in the others it comes from L1.
double cycles_of_seldom_used_loads(bool in_inner_loop, bool is_passed_on) {
  ToldLaunch kernel(5, 32);
  const auto add_use = [&](std::uint32_t value) {
    kernel.add(InstructionClass::fp32, {3}, {value}, 200, true);
    for (int k = 0; k < 20; ++k) kernel.add(InstructionClass::integer, {4}, {}, 200);
  };
  kernel.add(InstructionClass::integer, {0}, {}, 1);
  kernel.add(InstructionClass::integer, {4}, {}, in_inner_loop ? 200 : 1, true);
  kernel.add(InstructionClass::global_load, {1}, {0}, 1000, true);
  if (is_passed_on) {
    kernel.add(InstructionClass::move, {2}, {1}, 1000);
    kernel.program.back().issues = false;
  }
  if (in_inner_loop) {
    kernel.loop_to(2);
    add_use(is_passed_on ? 2 : 1);
    kernel.loop_to(1);
  } else {
    add_use(is_passed_on ? 2 : 1);
    const auto end = static_cast<std::uint32_t>(kernel.program.size());
    kernel.add(InstructionClass::integer, {5}, {5}, 1000, true).loop_to(2);
    kernel.program[2].leads_to.push_back(end);
  }
  kernel.loads.resize(3);
  kernel.loads[2] = {.requests = 5000, .beyond_l1 = 1000, .at_l2 = 1000, .from_dram = 1000};
  return kernel.cycles(described_gpu("a100")) / 1000;
}

TEST(WarpPathTest, AUseInAPartOfTheTurnsMayBeWhereTheLoadGoesFar) {
  const double waits = described_gpu("a100").dram_latency / 5;
  for (const bool is_passed_on : {false, true}) {
    for (const bool in_inner_loop : {false, true}) {
      const double cycles = cycles_of_seldom_used_loads(in_inner_loop, is_passed_on);
      EXPECT_GT(cycles, waits) << in_inner_loop << is_passed_on;
      EXPECT_LT(cycles, waits + 20) << in_inner_loop << is_passed_on;
    }
  }
}

TEST(WarpPathTest, AUseInEachTurnWaitsForTheMeanRequest) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(5, 32);
  kernel.add(InstructionClass::integer, {0}, {}, 1);
  kernel.add(InstructionClass::global_load, {1}, {0}, 1000, true);
  kernel.add(InstructionClass::fp32, {3}, {1}, 1000).loop_to(1);
  kernel.loads.resize(2);
  kernel.loads[1] = {.requests = 5000, .beyond_l1 = 1000, .at_l2 = 1000, .from_dram = 1000};
  const double mean = 0.8 * spec.l1_latency + 0.2 * spec.dram_latency;
  EXPECT_NEAR(kernel.cycles(spec) / 1000, mean, 3);
}

/// Cycles of a chain through memory: a load, a store of what it brought, and a load behind that
/// whose address does not depend on the first.
double cycles_of_store_and_load(const InstructionInfo& store, const InstructionInfo& load) {
  ToldLaunch kernel(1, 32);
  kernel.counters.global_load_sectors = kernel.counters.l2_read_sectors = 8;
  kernel.counters.l2_hit_sectors = 8;
  kernel.add(InstructionClass::global_load, {1}, {0});
  kernel.add(store.cls, {}, {1, 5});
  kernel.add(load.cls, {2}, {6});
  kernel.add(InstructionClass::integer, {3}, {2});
  const auto place = [&](std::size_t at, const InstructionInfo& access) {
    InstructionInfo& info = kernel.program[at];
    info.only_stores = access.only_stores;
    info.operands = access.operands;
    info.address_offset = access.address_offset;
    info.access_bytes = access.access_bytes;
    info.shared_array = access.shared_array;
  };
  place(1, store);
  place(2, load);
  return kernel.cycles(described_gpu("a100"));
}

TEST(WarpPathTest, ALoadStartsBehindStoresThatMayBeOfItsPlace) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  InstructionInfo store, load;
  store.cls = InstructionClass::shared_store;
  store.only_stores = true;
  store.access_bytes = load.access_bytes = 4;
  store.operands[0] = 5;
  load.cls = InstructionClass::shared_load;
  load.operands[0] = 6;
  const double chain = spec.l2_latency + spec.shared_latency;
  EXPECT_GE(cycles_of_store_and_load(store, load), chain) << "any place";
  load.operands[0] = 5;
  EXPECT_GE(cycles_of_store_and_load(store, load), chain) << "the same place";
  load.address_offset = 4;
  EXPECT_LT(cycles_of_store_and_load(store, load), chain - 10) << "the next word";
  load.operands[0] = 6;
  store.shared_array = 1;
  load.shared_array = 2;
  EXPECT_LT(cycles_of_store_and_load(store, load), chain - 10) << "another array";
  load.cls = InstructionClass::local_load;
  load.shared_array = 0;
  EXPECT_LT(cycles_of_store_and_load(store, load), chain - 10) << "another memory";
  store.cls = InstructionClass::generic_access;
  EXPECT_GE(cycles_of_store_and_load(store, load), spec.l2_latency) << "any memory";
}

}  // namespace
}  // namespace simgpu
