#include "simgpu/counters/traffic.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>
#include <span>

#include "simgpu/checkers/test_access.h"
#include "simgpu/counters/lines_under_way.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu::traffic_test {
namespace {

constexpr std::uint64_t kBig = std::uint64_t{64} << 20;
constexpr std::uint64_t at(std::uint64_t offset) { return kDeviceBase + offset; }

gpu_spec::GpuSpec gpu_with_l2(std::int64_t bytes) {
  gpu_spec::GpuSpec gpu;
  gpu.l2_bytes = bytes;
  return gpu;
}

/// Runs blocks, each a list of accesses, and counts.
class Launch {
 public:
  explicit Launch(std::uint64_t resident = 1, std::int64_t l2_bytes = 40 << 20,
                  std::uint64_t l1_bytes = 128 << 10)
      : block_(l1_bytes), launch_(gpu_with_l2(l2_bytes), resident) {}

  static constexpr std::size_t kNoFence = ~std::size_t{0};
  void run(std::uint64_t block, std::vector<TestAccess> accesses,
           std::size_t fence_before = kNoFence) {
    block_.begin_block(block);
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      if (i == fence_before) block_.fence();
      block_.global(accesses[i].get());
    }
    launch_.retire(block_.take());
  }

  /// What the warp has to wait for, in cycles, in a block that goes on.
  std::uint64_t wait_of(TestAccess access) {
    block_.global(access.get());
    return block_.take_wait();
  }
  void begin_block(std::uint64_t block) { block_.begin_block(block); }

  KernelCounters finish() {
    KernelCounters counters;
    launch_.finish(counters);
    return counters;
  }

  /// Of an instruction; call finish() first.
  LoadCounts loads_of(std::size_t pc) const {
    LoadCountsByPc all = block_.loads();
    add_loads(all, launch_.loads());
    return pc < all.size() ? all[pc] : LoadCounts{};
  }

  bool conflict() const { return launch_.conflict(); }
  std::vector<RawFinding> findings() { return launch_.take_findings(); }

 private:
  BlockTraffic block_;
  LaunchTraffic launch_;
};

TestAccess loads(std::uint64_t offset, std::uint64_t stride = 4, std::uint8_t bytes = 4) {
  return {AccessKind::load, bytes, [=](auto lane) { return at(offset + stride * lane); }};
}
TestAccess stores(std::uint64_t offset, std::uint64_t stride = 4, std::uint8_t bytes = 4) {
  return {AccessKind::store, bytes, [=](auto lane) { return at(offset + stride * lane); }};
}
TestAccess atomics(std::uint64_t offset, std::uint64_t stride = 0) {
  return {AccessKind::atomic, 4, [=](auto lane) { return at(offset + stride * lane); }};
}
TestAccess one_lane(AccessKind kind, std::uint64_t offset, std::uint8_t bytes = 4) {
  return {kind, bytes, [=](auto) { return at(offset); }, 1U};
}

TEST(LoadsByInstruction, AreCountedByTheSlowestSectorOfARequest) {
  constexpr std::uint32_t kUseful = 3, kUseless = 5;
  const TestAccess half_there{AccessKind::load, 4, [](auto lane) {
                                return lane < 16 ? at(4 * lane) : at(4096 + 4 * lane);
                              }};
  Launch launch;
  launch.run(0, {loads(0).by(0, kUseless), loads(0).by(0, kUseless), loads(0).by(0, kUseless),
                 TestAccess(half_there).by(1, kUseful)});
  launch.run(1, {loads(0).by(0, kUseful)});
  launch.finish();
  EXPECT_EQ(launch.loads_of(kUseless).requests, 3U);
  EXPECT_EQ(launch.loads_of(kUseless).beyond_l1, 1U);
  EXPECT_EQ(launch.loads_of(kUseless).from_dram, 1U);
  const LoadCounts useful = launch.loads_of(kUseful);
  EXPECT_EQ(useful.requests, 2U);
  EXPECT_EQ(useful.beyond_l1, 2U) << "half of the first one's sectors are in L1";
  EXPECT_EQ(useful.at_l2, 2U);
  EXPECT_EQ(useful.from_dram, 1U) << "the second block finds its line in L2";
  EXPECT_EQ(launch.loads_of(4).requests, 0U);
}

TEST(LoadsByInstruction, AreToldOfAtomicsAsFarAsL2Goes) {
  constexpr std::uint32_t kAtomic = 3;
  Launch launch;
  launch.run(0,
             {atomics(0).by(0, kAtomic), atomics(0).by(0, kAtomic), atomics(4096).by(0, kAtomic)});
  launch.finish();
  EXPECT_EQ(launch.loads_of(kAtomic).at_l2, 3U);
  EXPECT_EQ(launch.loads_of(kAtomic).from_dram, 3U)
      << "the second comes while its line is under way, and waits for DRAM like the first";
  EXPECT_EQ(launch.loads_of(kAtomic).beyond_l1, 0U) << "L1 has no part in them";
}

TEST(LoadsByInstruction, OfBlocksThatAskTogetherAllWaitForDram) {
  constexpr std::uint32_t kRow = 7, kOther = 8;
  const auto dram_loads = [&](std::uint64_t resident, std::vector<TestAccess> second) {
    Launch launch(resident);
    launch.run(0, {loads(0).by(0, kRow)});
    launch.run(1, std::move(second));
    launch.finish();
    return launch.loads_of(kRow).from_dram;
  };
  EXPECT_EQ(dram_loads(2, {loads(0).by(0, kRow)}), 2U) << "the line is under way for both";
  EXPECT_EQ(dram_loads(1, {loads(0).by(0, kRow)}), 1U) << "the second block begins later";
  std::vector<TestAccess> late(40, loads(8192, 128).by(0, kOther));
  late.push_back(loads(0).by(0, kRow));
  EXPECT_EQ(dram_loads(2, late), 1U) << "the second asks when it has waited for others";
}

TEST(LoadsByInstruction, OfWhatTheirWarpHasHadFetchedAMomentAgoAreTold) {
  constexpr std::uint32_t kFetch = 1, kUse = 2;
  const auto recent = [&](std::uint16_t warp, std::uint64_t slots, bool bypasses_l1 = false) {
    TestAccess use = loads(0).by(warp, kUse).after(slots);
    use.access.bypasses_l1 = bypasses_l1;
    Launch launch;
    launch.run(0, {loads(0).by(0, kFetch).after(10), loads(8192).by(0, kFetch).after(11), use});
    return launch.loads_of(kUse).of_recent;
  };
  EXPECT_EQ(recent(0, 20), 1U);
  EXPECT_EQ(recent(0, 20, true), 1U) << "L2 too has it no earlier";
  EXPECT_EQ(recent(0, 20'000), 0U) << "long ago";
  EXPECT_EQ(recent(1, 20), 0U) << "another warp";
  Launch blocks;
  blocks.run(0, {loads(0).by(0, kFetch)});
  blocks.run(1, {loads(0, 16, 16).by(0, kUse)});
  EXPECT_EQ(blocks.loads_of(kUse).of_recent, 0U) << "another block, or lines of the same request";
}

TEST(LoadsByInstruction, WaitForALineThatAnotherWarpHasHadFetchedAMomentAgo) {
  constexpr std::uint32_t kFetch = 1, kUse = 2, kAgain = 3;
  const auto second_warp = [&](std::uint64_t time) {
    Launch launch;
    launch.run(0, {loads(0).by(0, kFetch).at_time(1000), loads(0).by(1, kUse).at_time(time),
                   loads(0, 0).by(1, kAgain).at_time(time + 1)});
    return std::pair(launch.loads_of(kUse), launch.loads_of(kAgain).of_recent);
  };
  for (const std::uint64_t time : {0, 1000, 1100}) {
    EXPECT_EQ(second_warp(time).first.beyond_l1, 1U) << time;
    EXPECT_EQ(second_warp(time).second, 1U) << "what it waits for already, at " << time;
  }
  for (const std::uint64_t time : {1300, 9000}) {
    EXPECT_EQ(second_warp(time).first.beyond_l1, 0U) << time;
    EXPECT_EQ(second_warp(time).second, 0U) << "what was there, at " << time;
  }
  Launch launch;
  launch.run(0, {loads(0).by(0, kFetch).at_time(1000), loads(0).by(1, kUse).at_time(1000)});
  launch.finish();
  EXPECT_EQ(launch.loads_of(kUse).at_l2, 0U) << "it goes to L2 once";
}

TEST(LoadsByInstruction, TakeTheirWarpTheLongestWaitOfTheirSectors) {
  Launch launch;
  launch.begin_block(0);
  const auto wait_of = [&](TestAccess access) { return launch.wait_of(access); };
  EXPECT_EQ(wait_of(stores(0)), 0U);
  EXPECT_EQ(wait_of(loads(0)), kCyclesBeyondL1);
  EXPECT_EQ(wait_of(loads(0).by(1, 0).at_time(100)), kCyclesBeyondL1 - 100);
  EXPECT_EQ(wait_of(loads(0).by(1, 0).at_time(290)), kCyclesOfL1);
  EXPECT_EQ(wait_of(loads(64).by(1, 0).at_time(500)), kCyclesBeyondL1) << "half of it is in L1";
}

TEST(CoalescingTest, TextbookPatterns) {
  struct Case {
    const char* what;
    TestAccess access;
    std::uint64_t sectors;
    std::uint64_t lines;
  };
  for (const Case& c : std::vector<Case>{
           {"neighbouring floats, aligned", loads(4096), 4, 1},
           {"neighbouring floats, shifted by one", loads(4100), 5, 2},
           {"one float for all lanes", loads(4096, 0), 1, 1},
           {"every second float", loads(4096, 8), 8, 2},
           {"a column, 32 bytes apart", loads(4096, 32), 32, 8},
           {"a column, 4 KiB apart", loads(4096, 4096), 32, 32},
           {"float4 per lane", loads(4096, 16, 16), 16, 4},
           {"neighbouring halves", loads(4096, 2, 2), 2, 1},
           {"neighbouring bytes", loads(4096, 1, 1), 1, 1},
       }) {
    Launch launch;
    launch.run(0, {c.access});
    const KernelCounters counters = launch.finish();
    EXPECT_EQ(counters.global_load_requests, 1U) << c.what;
    EXPECT_EQ(counters.global_load_sectors, c.sectors) << c.what;
    EXPECT_EQ(counters.global_load_bytes, std::uint64_t{32} * c.access.access.bytes) << c.what;
    EXPECT_EQ(counters.l1_tag_lookups, c.lines) << c.what;
    EXPECT_EQ(counters.l2_read_sectors, c.sectors) << c.what;
    EXPECT_EQ(counters.dram_read_bytes, 32 * c.sectors) << c.what;
  }
}

TEST(CoalescingTest, TextureUnitsServeFourLanesACycle) {
  const auto lookups_of = [](std::uint8_t lanes, std::uint64_t stride) {
    TestAccess fetch = loads(4096, stride);
    fetch.access.texture_lanes = lanes;
    Launch launch;
    launch.run(0, {fetch});
    return launch.finish().l1_tag_lookups;
  };
  EXPECT_EQ(lookups_of(32, 4), 8U);
  EXPECT_EQ(lookups_of(5, 4), 2U);
  EXPECT_EQ(lookups_of(32, 4096), 32U) << "each lane has a line of its own";
}

TEST(CoalescingTest, RandomRequestsTouchTheSetOfTheirSectors) {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    const auto bytes = static_cast<std::uint8_t>(1U << random() % 5);
    const std::uint64_t range = 64U << random() % 12;
    TestAccess access(
        AccessKind::store, bytes, [&](auto) { return at(random() % range / bytes * bytes); },
        random());
    std::set<std::uint64_t> sectors, lines;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((access.access.mask >> lane & 1U) == 0) continue;
      for (unsigned byte = 0; byte < bytes; ++byte) {
        sectors.insert((access.address[lane] + byte) / 32);
        lines.insert((access.address[lane] + byte) / 128);
      }
    }
    Launch launch;
    launch.run(0, {access});
    const KernelCounters counters = launch.finish();
    ASSERT_EQ(counters.global_store_sectors, sectors.size()) << "round " << round;
    ASSERT_EQ(counters.l1_tag_lookups, lines.size()) << "round " << round;
    ASSERT_EQ(counters.l2_write_sectors, sectors.size()) << "round " << round;
    ASSERT_EQ(counters.dram_write_bytes, 32 * sectors.size()) << "round " << round;
  }
}

TEST(L1Test, ASecondLoadOfABlockHitsAndAnotherBlocksDoesNot) {
  Launch launch;
  launch.run(0, {loads(4096), loads(4096)});
  launch.run(1, {loads(4096)});
  const KernelCounters counters = launch.finish();
  EXPECT_EQ(counters.global_load_sectors, 12U);
  EXPECT_EQ(counters.l1_hit_sectors, 4U);
  EXPECT_EQ(counters.l2_read_sectors, 8U);
  EXPECT_EQ(counters.l2_hit_sectors, 4U);
  EXPECT_EQ(counters.dram_read_bytes, 128U);
}

TEST(L1Test, AWorkingSetBeyondL1MissesEveryTime) {
  Launch launch(1, 40 << 20, 16 << 10);
  std::vector<TestAccess> accesses;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t offset = 0; offset < (32 << 10); offset += 128) {
      accesses.push_back(loads(offset));
    }
  }
  launch.run(0, accesses);
  EXPECT_EQ(launch.finish().l1_hit_sectors, 0U);
}

TEST(L1Test, StoresDoNotAllocate) {
  Launch launch;
  launch.run(0, {stores(4096), loads(4096)});
  const KernelCounters counters = launch.finish();
  EXPECT_EQ(counters.l1_hit_sectors, 0U);
  EXPECT_EQ(counters.l2_hit_sectors, 4U);
  EXPECT_EQ(counters.dram_read_bytes, 0U) << "L2 holds what was just stored";
  EXPECT_EQ(counters.dram_write_bytes, 128U);
}

TEST(L2Test, AStoreOfPartOfASectorIsCompletedFromDramWhenItIsRead) {
  Launch launch;
  launch.run(0, {one_lane(AccessKind::store, 4096), one_lane(AccessKind::load, 4096)});
  launch.run(1, {one_lane(AccessKind::load, 4104)});
  const KernelCounters counters = launch.finish();
  EXPECT_EQ(counters.dram_read_bytes, 32U);
  EXPECT_EQ(counters.dram_write_bytes, 32U);
}

TEST(L2Test, DirtySectorsAreWrittenOnceHoweverOftenTheyAreStored) {
  Launch launch;
  launch.run(0, {stores(0), stores(0), stores(0)});
  const KernelCounters counters = launch.finish();
  EXPECT_EQ(counters.l2_write_sectors, 12U);
  EXPECT_EQ(counters.l2_hit_sectors, 8U);
  EXPECT_EQ(counters.dram_write_bytes, 128U);
}

TEST(L2Test, WhatDoesNotFitIsReadAgain) {
  for (const bool fits : {false, true}) {
    Launch launch(1, fits ? 4 << 20 : 1 << 20);
    for (std::uint64_t block = 0; block < 2; ++block) {
      std::vector<TestAccess> accesses;
      for (std::uint64_t offset = 0; offset < (2 << 20); offset += 128) {
        accesses.push_back(loads(offset));
      }
      launch.run(block, accesses);
    }
    EXPECT_EQ(launch.finish().dram_read_bytes, fits ? 2U << 20 : 4U << 20);
  }
}

TEST(L2Test, AtomicsReadAndWriteInL2) {
  Launch launch;
  launch.run(0, {atomics(4096), atomics(4096)});
  const KernelCounters counters = launch.finish();
  EXPECT_EQ(counters.global_atomic_requests, 2U);
  EXPECT_EQ(counters.global_atomic_sectors, 2U);
  EXPECT_EQ(counters.dram_read_bytes, 32U);
  EXPECT_EQ(counters.dram_write_bytes, 32U);
}

TEST(L2Test, BlocksOfAWaveShareWhatTheyReadAtTheSameTime) {
  // Four blocks stream through the same 2 MiB with an L2 of 1 MiB: side by side they read it once,
  // one after another they read it four times.
  for (const std::uint64_t resident : {1U, 4U}) {
    Launch launch(resident, 1 << 20);
    for (std::uint64_t block = 0; block < 4; ++block) {
      std::vector<TestAccess> accesses;
      for (std::uint64_t offset = 0; offset < (2 << 20); offset += 128) {
        accesses.push_back(loads(offset));
      }
      launch.run(block, accesses);
    }
    EXPECT_EQ(launch.finish().dram_read_bytes, resident == 4 ? 2U << 20 : 8U << 20);
  }
}

TEST(BlockConflictTest, BlocksThatShareNothingWrittenDoNotConflict) {
  Launch launch(4);
  launch.run(0, {loads(0), stores(kBig)});
  launch.run(1, {loads(0), stores(kBig + 128)});
  launch.run(2, {loads(64), stores(kBig + 256)});
  EXPECT_FALSE(launch.conflict());
  EXPECT_TRUE(launch.findings().empty());
}

TEST(BlockConflictTest, WordsOfOneSectorMayBelongToDifferentBlocks) {
  Launch launch(4);
  for (std::uint64_t block = 0; block < 8; ++block) {
    launch.run(block, {one_lane(AccessKind::load, 4096 + 4 * block),
                       one_lane(AccessKind::store, 4096 + 4 * block)});
  }
  EXPECT_FALSE(launch.conflict());
  launch.run(8, {one_lane(AccessKind::load, 4096 + 12).by(2, 7)});
  EXPECT_TRUE(launch.conflict());
  const std::vector<RawFinding> findings = launch.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, Code("RL0304"));
  EXPECT_EQ(findings[0].address, at(4096 + 12));
  EXPECT_EQ(findings[0].block, 8U);
  EXPECT_EQ(findings[0].warp, 2U);
  EXPECT_EQ(findings[0].pc, 7U);
  EXPECT_EQ(findings[0].kind, AccessKind::load);
  EXPECT_EQ(findings[0].other_block, 3U);
  EXPECT_EQ(findings[0].other_kind, AccessKind::store);
}

TEST(BlockConflictTest, AReadBeforeAnotherBlocksStoreConflictsToo) {
  Launch launch(4);
  launch.run(0, {loads(0)});
  launch.run(1, {stores(0).by(0, 3)});
  EXPECT_TRUE(launch.conflict());
  const std::vector<RawFinding> findings = launch.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, AccessKind::store);
  EXPECT_EQ(findings[0].other_kind, AccessKind::load);
  EXPECT_EQ(findings[0].occurrences, 32U) << "counted by word, shown once";
}

/// Blocks that run one after the other, each with one store, and what they leave in memory.
class StoringBlocks {
 public:
  StoringBlocks() : base_(memory_.allocate(4096, "out").value()) {}

  void run(std::uint64_t block, std::uint64_t offset, const std::vector<std::uint8_t>& values) {
    const auto lanes = static_cast<unsigned>(values.size());
    TestAccess access(
        AccessKind::store, 1, [&](auto lane) { return base_ + offset + lane; }, (1U << lanes) - 1);
    memory_.write(base_ + offset, std::as_bytes(std::span(values)));
    BlockTraffic traffic(128 << 10);
    traffic.begin_block(block);
    traffic.global(access.get());
    launch_.retire(traffic.take(), knows_values_ ? &memory_ : nullptr);
  }
  void forget_values() { knows_values_ = false; }
  std::vector<RawFinding> findings() { return launch_.take_findings(); }

 private:
  DeviceMemory memory_{1 << 20};
  std::uint64_t base_;
  LaunchTraffic launch_{gpu_with_l2(40 << 20), 4};
  bool knows_values_ = true;
};

TEST(BlockConflictTest, BlocksThatLeaveTheSameValueDoNotConflict) {
  StoringBlocks blocks;
  blocks.run(0, 0, {1, 2, 3, 4, 5, 6, 7, 8});
  blocks.run(1, 4, {5, 6, 7, 8, 9});
  blocks.run(2, 3, {4, 5, 6});
  EXPECT_TRUE(blocks.findings().empty());
}

TEST(BlockConflictTest, OneByteThatDiffersIsAConflict) {
  StoringBlocks blocks;
  blocks.run(0, 0, {1, 2, 3, 4, 5, 6, 7, 8});
  blocks.run(1, 4, {5, 6, 0, 8});
  const std::vector<RawFinding> findings = blocks.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, Code("RL0304"));
  EXPECT_EQ(findings[0].kind, AccessKind::store);
}

TEST(BlockConflictTest, AThirdBlocksValueIsHeldAgainstTheFirstOnes) {
  StoringBlocks blocks;
  blocks.run(0, 0, {1});
  blocks.run(1, 0, {2});
  blocks.run(2, 0, {1});
  EXPECT_EQ(blocks.findings().at(0).occurrences, 1U);
}

TEST(BlockConflictTest, WhereNobodyKnowsTheValuesTheyCountAsDifferent) {
  StoringBlocks blocks;
  blocks.forget_values();
  blocks.run(0, 0, {1});
  blocks.run(1, 0, {1});
  EXPECT_EQ(blocks.findings().size(), 1U);
}

TEST(BlockConflictTest, AStoreToAWordThatAnotherBlockFoundInL1Conflicts) {
  Launch launch(4);
  launch.run(0, {one_lane(AccessKind::load, 0), one_lane(AccessKind::load, 8)});
  launch.run(1, {one_lane(AccessKind::store, 8)});
  EXPECT_TRUE(launch.conflict());
}

TEST(BlockConflictTest, TheLaneOfANeighbouringAccessIsFound) {
  Launch launch(4);
  launch.run(0, {stores(0).by(1, 5)});
  launch.run(1, {one_lane(AccessKind::load, 4 * 21).by(3, 6)});
  const std::vector<RawFinding> findings = launch.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].other_lane, 21U);
  EXPECT_EQ(findings[0].other_warp, 1U);
}

TEST(BlockConflictTest, AtomicsOnBothSidesAreFineAndAPlainStoreIsNot) {
  Launch launch(4);
  launch.run(0, {atomics(0)});
  launch.run(1, {atomics(0)});
  EXPECT_FALSE(launch.conflict());
  launch.run(2, {one_lane(AccessKind::store, 0)});
  EXPECT_TRUE(launch.conflict());
  const std::vector<RawFinding> findings = launch.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].other_kind, AccessKind::atomic);
}

TEST(BlockConflictTest, APlainLoadBesideAtomicsIsAFindingWhicheverComesFirst) {
  for (const bool load_first : {true, false}) {
    Launch launch(4);
    if (load_first) launch.run(0, {one_lane(AccessKind::load, 0)});
    launch.run(1, {atomics(0)});
    launch.run(2, {atomics(0)});
    if (!load_first) launch.run(3, {one_lane(AccessKind::load, 0)});
    EXPECT_FALSE(launch.conflict()) << "no plain store";
    const std::vector<RawFinding> findings = launch.findings();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].kind, load_first ? AccessKind::atomic : AccessKind::load);
    EXPECT_EQ(findings[0].other_kind, load_first ? AccessKind::load : AccessKind::atomic);
    EXPECT_FALSE(findings[0].lacks_fence);
  }
}

TEST(BlockConflictTest, WhatIsReadBehindTheLastAtomicNeedsAFenceBeforeIt) {
  // All add to a sum and count themselves; the last block reads the sum.
  for (const bool fenced : {true, false}) {
    Launch launch(4);
    for (std::uint64_t block = 0; block < 4; ++block) {
      std::vector<TestAccess> accesses = {atomics(4096), atomics(0)};
      if (block == 3) accesses.push_back(one_lane(AccessKind::load, 4096));
      launch.run(block, accesses, fenced ? 1 : Launch::kNoFence);
    }
    const std::vector<RawFinding> findings = launch.findings();
    ASSERT_EQ(findings.size(), fenced ? 0U : 1U);
    if (!fenced) {
      EXPECT_TRUE(findings[0].lacks_fence);
    }
  }
}

TEST(BlockConflictTest, RandomLoadsAndAtomicsAgreeWithTheirBytes) {
  std::mt19937 random(31);
  int races = 0;
  for (int round = 0; round < 3000; ++round) {
    Launch launch(4);
    const std::uint64_t range = 8U << random() % 6;
    std::map<std::uint64_t, std::set<std::uint64_t>> loaded, updated;  // blocks, by byte
    for (std::uint64_t block = 0; block < 4; ++block) {
      const bool updates = random() % 2 == 0;  // atomics would order a block's other accesses
      std::vector<TestAccess> accesses;
      for (int i = 0; i < 3; ++i) {
        const std::uint8_t bytes = updates ? 4 : static_cast<std::uint8_t>(1U << random() % 3);
        const std::uint64_t first = random() % range / bytes * bytes;
        accesses.push_back(TestAccess(
            updates ? AccessKind::atomic : AccessKind::load, bytes, [&](auto) { return at(first); },
            1U << random() % 32));
        for (std::uint64_t byte = first; byte < first + bytes; ++byte) {
          (updates ? updated : loaded)[byte].insert(block);
        }
      }
      launch.run(block, accesses);
    }
    const bool expected = std::any_of(loaded.begin(), loaded.end(), [&](const auto& each) {
      return !updated[each.first].empty();
    });
    races += expected ? 1 : 0;
    ASSERT_EQ(!launch.findings().empty(), expected) << "round " << round;
  }
  EXPECT_GT(races, 500);
  EXPECT_LT(races, 2900);
}

TEST(BlockConflictTest, HalvesOfOneWordMayBelongToDifferentBlocks) {
  Launch launch(4);
  launch.run(0, {one_lane(AccessKind::store, 0, 2)});
  launch.run(1, {one_lane(AccessKind::store, 2, 2)});
  EXPECT_TRUE(launch.findings().empty());
  EXPECT_TRUE(launch.conflict()) << "one word: to be on the safe side the launch runs serially";
}

TEST(BlockConflictTest, BytesOfOneWordThatOverlapAreAFinding) {
  Launch launch(4);
  launch.run(0, {one_lane(AccessKind::store, 2, 2)});
  launch.run(1, {one_lane(AccessKind::store, 3, 1)});
  const std::vector<RawFinding> findings = launch.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].address, at(3));
}

TEST(BlockConflictTest, BlocksMayReadAndStoreTheirOwnBytesOfOneWord) {
  for (const std::uint8_t bytes : std::vector<std::uint8_t>{1, 2}) {
    // Sampled blocks run in any order.
    for (const std::vector<std::uint64_t>& order :
         std::vector<std::vector<std::uint64_t>>{{0, 1}, {1, 0}}) {
      Launch launch(4);
      for (const std::uint64_t block : order) {
        const std::uint64_t own = 2 + bytes * block - (bytes == 2 ? 2 : 0);
        launch.run(block, {one_lane(AccessKind::load, own, bytes),
                           one_lane(AccessKind::store, own, bytes)});
      }
      EXPECT_TRUE(launch.findings().empty()) << int{bytes} << " bytes, block " << order[0];
      launch.run(2, {one_lane(AccessKind::load, 3, 1)});
      const std::vector<RawFinding> findings = launch.findings();
      ASSERT_EQ(findings.size(), 1U) << "the twin that reads what another block stored";
      EXPECT_EQ(findings[0].address, at(3));
      EXPECT_EQ(findings[0].other_block, 1U);
    }
  }
}

TEST(BlockConflictTest, BlocksMayMeetInTheMiddleOfAWord) {
  // 32 halves each, one half off a word's border.
  Launch launch(4);
  for (std::uint64_t block = 0; block < 4; ++block) {
    launch.run(block, {loads(2 + 64 * block, 2, 2), stores(2 + 64 * block, 2, 2)});
  }
  EXPECT_TRUE(launch.findings().empty());
}

TEST(BlockConflictTest, AReaderAmongManyThatStoresIsAFinding) {
  for (std::uint64_t writer = 0; writer < 5; ++writer) {
    Launch launch(4);
    for (std::uint64_t block = 0; block < 5; ++block) {
      std::vector<TestAccess> accesses = {one_lane(AccessKind::load, 1, 1),
                                          one_lane(AccessKind::load, 2, 1)};
      if (block == writer) accesses.push_back(one_lane(AccessKind::store, 2, 1));
      launch.run(block, accesses);
    }
    const std::vector<RawFinding> findings = launch.findings();
    ASSERT_FALSE(findings.empty()) << "block " << writer << " stores";
    for (const RawFinding& finding : findings) {
      EXPECT_EQ(finding.address, at(2));
      EXPECT_NE(finding.other_block, finding.block);
    }
  }
}

TEST(BlockConflictTest, TheReaderOfTheVeryByteIsNamed) {
  Launch launch(4);
  launch.run(0, {one_lane(AccessKind::load, 0, 2).by(0, 5)});
  launch.run(1, {loads(2, 2, 2).by(3, 6)});
  launch.run(2, {one_lane(AccessKind::store, 2, 2).by(0, 7)});
  std::vector<RawFinding> findings = launch.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].address, at(2));
  EXPECT_EQ(findings[0].other_block, 1U);
  EXPECT_EQ(findings[0].other_warp, 3U);
  EXPECT_EQ(findings[0].other_lane, 0U);
  EXPECT_EQ(findings[0].other_pc, 6U);
  EXPECT_EQ(findings[0].occurrences, 1U) << "both bytes are of one element";
  launch.run(3, {one_lane(AccessKind::store, 8, 2).by(0, 8)});
  findings = launch.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].other_lane, 3U);
}

TEST(BlockConflictTest, AByteThatWasReadAfterItsNeighbourCounts) {
  for (const std::uint8_t bytes : std::vector<std::uint8_t>{1, 4}) {
    Launch launch(4);
    launch.run(0, {one_lane(AccessKind::load, 0, 1), one_lane(AccessKind::load, 4 - bytes, bytes)});
    launch.run(1, {one_lane(AccessKind::store, 3, 1)});
    EXPECT_EQ(launch.findings().size(), 1U) << int{bytes} << " bytes";
  }
}

TEST(BlockConflictTest, TheLastBlockMayReadWhatOthersStoredBeforeAFenceAndTheirAtomic) {
  // Each block stores its partial sum, then counts itself; the last one reads all partial sums.
  for (const std::size_t fence_before : {std::size_t{1}, std::size_t{0}, Launch::kNoFence}) {
    Launch launch(4);
    for (std::uint64_t block = 0; block < 4; ++block) {
      std::vector<TestAccess> accesses = {one_lane(AccessKind::store, 4096 + 4 * block),
                                          atomics(0)};
      if (block == 3) accesses.push_back(loads(4096));
      launch.run(block, accesses, fence_before);
    }
    EXPECT_TRUE(launch.conflict()) << "its result depends on the order of blocks";
    const bool ordered = fence_before == 1;
    EXPECT_EQ(launch.findings().size(), ordered ? 0U : 1U) << "fence before " << fence_before;
  }
}

TEST(BlockConflictTest, WhatABlockReadsOnBothSidesOfASynchronisationIsKeptApart) {
  // As before and behind a grid.sync(): each block updates its own word, and block 0 then reads
  // all.
  Launch launch(4);
  for (std::uint64_t block = 0; block < 4; ++block) {
    std::vector<TestAccess> accesses = {one_lane(AccessKind::load, 4096 + 4 * block),
                                        one_lane(AccessKind::store, 4096 + 4 * block), atomics(0)};
    if (block == 0) accesses.push_back(loads(4096));
    launch.run(block, accesses, 2);
  }
  EXPECT_TRUE(launch.findings().empty());
}

TEST(BlockConflictTest, WhatABlockStoresOnBothSidesOfASynchronisationIsKeptApart) {
  Launch launch(4);
  launch.run(
      0, {one_lane(AccessKind::store, 4096), atomics(0), one_lane(AccessKind::store, 4096 + 4)}, 1);
  launch.run(1, {atomics(0), one_lane(AccessKind::load, 4096)}, 0);
  EXPECT_TRUE(launch.findings().empty());
  launch.run(2, {atomics(0), one_lane(AccessKind::load, 4096 + 4)}, 0);
  EXPECT_EQ(launch.findings().size(), 1U) << "the twin: nothing orders the second store";
}

TEST(BlockConflictTest, ReadingWithoutCountingIsAFinding) {
  Launch launch(4);
  for (std::uint64_t block = 0; block < 4; ++block) {
    std::vector<TestAccess> accesses = {one_lane(AccessKind::store, 4096 + 4 * block)};
    if (block == 3) accesses.push_back(loads(4096));
    launch.run(block, accesses);
  }
  EXPECT_EQ(launch.findings().size(), 1U);
}

/// Word by word, or byte by byte, with every block's accesses kept: the oracle for random launches.
class PlainConflicts {
 public:
  explicit PlainConflicts(std::uint64_t unit_bytes) : unit_bytes_(unit_bytes) {}

  void add(std::uint64_t block, const TestAccess& access) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((access.access.mask >> lane & 1U) == 0) continue;
      const std::uint64_t first = access.address[lane] / unit_bytes_;
      const std::uint64_t last = (access.address[lane] + access.access.bytes - 1) / unit_bytes_;
      for (std::uint64_t unit = first; unit <= last; ++unit) {
        (access.access.kind == AccessKind::store ? writers_ : others_)[unit].insert(block);
      }
    }
  }
  bool conflict() const {
    for (const auto& [unit, writers] : writers_) {
      std::set<std::uint64_t> all = writers;
      const auto others = others_.find(unit);
      if (others != others_.end()) all.insert(others->second.begin(), others->second.end());
      if (all.size() > 1) return true;
    }
    return false;
  }

 private:
  std::uint64_t unit_bytes_;
  std::map<std::uint64_t, std::set<std::uint64_t>> writers_, others_;
};

TEST(BlockConflictTest, RandomLaunchesAgreeWithABookOfEveryWordAndByte) {
  std::mt19937 random(11);
  int conflicts = 0;
  int races = 0;
  for (int round = 0; round < 6000; ++round) {
    Launch launch(4);
    PlainConflicts words(4);
    PlainConflicts bytes_alone(1);
    const std::uint64_t range = 8U << random() % 13;
    const unsigned widths = round % 2 == 0 ? 5 : 2;
    const bool atomics = round % 3 == 0;
    std::array<std::uint64_t, 4> order = {0, 1, 2, 3};  // sampled blocks run in any
    std::shuffle(order.begin(), order.end(), random);
    for (const std::uint64_t block : order) {
      std::vector<TestAccess> accesses;
      for (int i = 0; i < 3; ++i) {
        const auto bytes = static_cast<std::uint8_t>(1U << random() % widths);
        const bool atomic = atomics && random() % 8 == 0;
        const auto kind = atomic             ? AccessKind::atomic
                          : random() % 2 > 0 ? AccessKind::store
                                             : AccessKind::load;
        const std::uint64_t base = random() % range / bytes * bytes;
        const std::uint64_t stride = random() % 3 == 0 ? 0 : bytes * (random() % 3);
        accesses.emplace_back(
            kind, bytes, [&](auto lane) { return at(base + stride * lane); },
            random() % 4 == 0 ? 0xffffffffU : 1U << random() % 32);
      }
      for (const TestAccess& access : accesses) {
        words.add(block, access);
        bytes_alone.add(block, access);
      }
      launch.run(block, accesses);
    }
    conflicts += words.conflict() ? 1 : 0;
    ASSERT_EQ(launch.conflict(), words.conflict()) << "round " << round;
    if (atomics) continue;  // they order some of the pairs
    races += bytes_alone.conflict() ? 1 : 0;
    ASSERT_EQ(!launch.findings().empty(), bytes_alone.conflict()) << "round " << round;
  }
  EXPECT_GT(conflicts, 1000);
  EXPECT_LT(conflicts, 5000);
  EXPECT_GT(races, 1000);
  EXPECT_LT(races, 3000);
}

TEST(LinesUnderWayTest, NoOtherLineMakesOneForgotten) {
  constexpr std::uint64_t kLine = 1'000'000;
  LinesUnderWay lines(256);
  std::uint64_t number = 0;
  for (std::uint64_t distance = 1; distance < 20'000; ++distance) {
    lines.begin_block();
    lines.fetch(kLine, 0xf, {.warp = 3, .slots = 10, .time = 10, .number = ++number});
    lines.fetch(kLine + distance, 0xf, {.warp = 3, .slots = 11, .time = 11, .number = ++number});
    const LinesUnderWay::Request again{.warp = 3, .slots = 12, .time = 12, .number = ++number};
    ASSERT_TRUE(lines.has_asked(kLine, again)) << distance;
    ASSERT_EQ(lines.wait_for(kLine, 1, again), kCyclesBeyondL1 - 2) << distance;
    ASSERT_FALSE(lines.has_asked(kLine, {.warp = 4, .slots = 12, .time = 12, .number = ++number}));
  }
}

}  // namespace
}  // namespace simgpu::traffic_test
