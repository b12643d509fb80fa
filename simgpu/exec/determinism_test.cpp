#include <gtest/gtest.h>

#include <numeric>

#include "simgpu/exec/accesses_testing.h"
#include "simgpu/exec/engine_testing.h"

/// The same result, bit for bit, for any number of workers.
namespace simgpu::testing {
namespace {

struct Outcome {
  LaunchResult result;
  std::vector<int> memory;
};

void expect_same(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.memory, b.memory);
  EXPECT_EQ(a.result.status, b.result.status);
  EXPECT_EQ(a.result.printed, b.result.printed);
  const KernelCounters& x = a.result.counters;
  const KernelCounters& y = b.result.counters;
  EXPECT_EQ(x.warp_instructions, y.warp_instructions);
  EXPECT_EQ(x.thread_instructions, y.thread_instructions);
  EXPECT_EQ(x.instructions_by_class, y.instructions_by_class);
  EXPECT_EQ(x.global_load_sectors, y.global_load_sectors);
  EXPECT_EQ(x.l1_hit_sectors, y.l1_hit_sectors);
  EXPECT_EQ(x.l2_hit_sectors, y.l2_hit_sectors);
  EXPECT_EQ(x.dram_read_bytes, y.dram_read_bytes);
  EXPECT_EQ(x.dram_write_bytes, y.dram_write_bytes);
  EXPECT_EQ(x.divergent_branches, y.divergent_branches);
  EXPECT_EQ(a.result.loads, b.result.loads);
  EXPECT_EQ(a.result.accesses, b.result.accesses);
  if (a.result.status == LaunchStatus::ok) expect_accesses_add_up(a.result);
  ASSERT_EQ(a.result.findings.size(), b.result.findings.size());
  for (std::size_t i = 0; i < a.result.findings.size(); ++i) {
    const Finding& f = a.result.findings[i];
    const Finding& g = b.result.findings[i];
    EXPECT_EQ(f.code, g.code);
    EXPECT_EQ(f.message, g.message);
    EXPECT_EQ(f.where.block, g.where.block);
    EXPECT_EQ(f.where.thread, g.where.thread);
    EXPECT_EQ(f.occurrences, g.occurrences);
  }
}

template <class... Arguments>
void expect_independent_of_workers(const std::string& kernel, Launch launch, int elements,
                                   Arguments... more) {
  std::vector<Outcome> outcomes;
  for (const unsigned workers : {1U, 2U, 3U}) {
    Device device = Device::with_test_kernels();
    std::vector<int> data(static_cast<std::size_t>(elements));
    std::iota(data.begin(), data.end(), 1);
    const std::uint64_t at = device.put(data);
    launch.workers = workers;
    Outcome outcome{device.run(kernel, launch, at, more...), {}};
    outcome.memory = device.get<int>(at, data.size());
    outcomes.push_back(std::move(outcome));
  }
  expect_same(outcomes[0], outcomes[1]);
  expect_same(outcomes[0], outcomes[2]);
}

TEST(Determinism, BlocksThatWorkApart) {
  expect_independent_of_workers("blocks_apart", {.grid = {64, 1, 1}, .block = {96, 1, 1}}, 64 * 96,
                                200);
}

TEST(Determinism, BlocksThatUpdateTheSameWordRunInOrder) {
  expect_independent_of_workers("blocks_conflict", {.grid = {300, 1, 1}}, 4);
}

TEST(Determinism, BlocksThatUpdateTheSameWordsAtTheSameTimeRunInOrder) {
  expect_independent_of_workers("blocks_conflict_for_long", {.grid = {6, 1, 1}}, 32, 500);
}

TEST(Determinism, ARepeatedLaunchStillFindsWhatWasReadUninitialised) {
  std::vector<Outcome> outcomes;
  for (const unsigned workers : {1U, 2U}) {
    Device device = Device::with_test_kernels();
    const std::uint64_t at = device.put(std::vector<int>(4));
    device.memory().mark_uninitialized(at, 4 * sizeof(int));
    outcomes.push_back(
        {device.run("blocks_conflict", {.grid = {300, 1, 1}, .workers = workers}, at),
         device.get<int>(at, 4)});
  }
  expect_same(outcomes[0], outcomes[1]);
  EXPECT_EQ(outcomes[0].result.findings.front().code, Code("RL0205"));
}

TEST(Determinism, TheFirstFailingBlockDecides) {
  // Blocks from the 40th on are out of bounds; memory holds what the ones before it did, nothing
  // more.
  expect_independent_of_workers("blocks_apart", {.grid = {64, 1, 1}, .block = {96, 1, 1}}, 40 * 96,
                                50);
}

TEST(Determinism, OneWarpThatTakesAllIsToldFromWarpsThatTakeFromAQueue) {
  const auto balance = [](const std::string& kernel) {
    Device device = Device::with_test_kernels();
    const std::uint64_t next = device.put(std::vector<int>{0});
    const std::uint64_t out = device.put(std::vector<int>(32 * 100));
    const Launch launch{.grid = {8, 1, 1}, .block = {256, 1, 1}, .checkers = false};
    return device.run(kernel, launch, next, out, 100).balance;
  };
  EXPECT_GT(balance("items_by_one_warp").longest, 7.5) << "one block of eight";
  EXPECT_GT(balance("items_by_one_warp").longest_of_block, 4);
  EXPECT_GT(balance("items_by_one_warp").busiest_instructions, 0.5);
  EXPECT_GT(balance("items_by_one_warp").by_scheduler[0], 0.5);
  EXPECT_GT(balance("items_by_one_warp").busiest_scheduler, 0.5);
  EXPECT_GT(balance("items_by_one_warp_though_all_ask").longest, 7);
  EXPECT_GT(balance("items_by_one_warp_though_all_ask").busiest_instructions, 0.4);
  // Of 64 warps 36 take two of the 100 items, and the others one; then all ask once more.
  EXPECT_LT(balance("items_by_queue").longest, 1.5);
  EXPECT_LT(balance("items_by_queue").busiest_instructions, 1.5 / 8);
  EXPECT_NEAR(balance("items_by_queue").by_scheduler[0], 0.25, 0.05);
}

TEST(Determinism, WhatIsRunByTurnsLeavesTheSameInMemory) {
  for (const bool checkers : {true, false}) {
    Device device = Device::with_test_kernels();
    const std::uint64_t next = device.put(std::vector<int>{0});
    const std::uint64_t out = device.put(std::vector<int>(32 * 100));
    const Launch launch{.grid = {8, 1, 1}, .block = {256, 1, 1}, .checkers = checkers};
    const LaunchResult result = device.run("items_by_queue", launch, next, out, 100);
    EXPECT_EQ(result.status, LaunchStatus::ok);
    EXPECT_EQ(device.get<int>(next, 1).front(), 164) << "each warp asks once in vain";
    const std::vector<int> items = device.get<int>(out, 101);
    EXPECT_TRUE(std::all_of(items.begin(), items.end() - 1, [](int n) { return n == 32; }));
    EXPECT_EQ(items.back(), 0);
  }
}

}  // namespace
}  // namespace simgpu::testing
