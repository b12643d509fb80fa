#include "simgpu/counters/traffic.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "simgpu/checkers/test_access.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {
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

  void run(std::uint64_t block, std::vector<TestAccess> accesses) {
    block_.begin_block(block);
    for (TestAccess& access : accesses) block_.global(access.get());
    launch_.retire(block_.take());
  }

  KernelCounters finish() {
    KernelCounters counters;
    launch_.finish(counters);
    return counters;
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
  EXPECT_STREQ(findings[0].code, "RL0304");
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

TEST(BlockConflictTest, TheLastBlockMayReadWhatOthersStoredBeforeTheirAtomic) {
  // Each block stores its partial sum, then counts itself; the last one reads all partial sums.
  Launch launch(4);
  for (std::uint64_t block = 0; block < 4; ++block) {
    std::vector<TestAccess> accesses = {one_lane(AccessKind::store, 4096 + 4 * block), atomics(0)};
    if (block == 3) accesses.push_back(loads(4096));
    launch.run(block, accesses);
  }
  EXPECT_TRUE(launch.conflict()) << "its result depends on the order of blocks";
  EXPECT_TRUE(launch.findings().empty()) << "but it is ordered by the atomics";
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

/// Word by word, with every block's accesses kept: the oracle for random launches.
class PlainConflicts {
 public:
  void add(std::uint64_t block, const TestAccess& access) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((access.access.mask >> lane & 1U) == 0) continue;
      const std::uint64_t first = access.address[lane] / 4;
      const std::uint64_t last = (access.address[lane] + access.access.bytes - 1) / 4;
      for (std::uint64_t word = first; word <= last; ++word) {
        (access.access.kind == AccessKind::store ? writers_ : others_)[word].insert(block);
      }
    }
  }
  bool conflict() const {
    for (const auto& [word, writers] : writers_) {
      std::set<std::uint64_t> all = writers;
      const auto others = others_.find(word);
      if (others != others_.end()) all.insert(others->second.begin(), others->second.end());
      if (all.size() > 1) return true;
    }
    return false;
  }

 private:
  std::map<std::uint64_t, std::set<std::uint64_t>> writers_, others_;
};

TEST(BlockConflictTest, RandomLaunchesAgreeWithABookOfEveryWord) {
  std::mt19937 random(11);
  int conflicts = 0;
  for (int round = 0; round < 3000; ++round) {
    Launch launch(4);
    PlainConflicts expected;
    const std::uint64_t range = 256U << random() % 8;
    for (std::uint64_t block = 0; block < 4; ++block) {
      std::vector<TestAccess> accesses;
      for (int i = 0; i < 3; ++i) {
        const auto bytes = static_cast<std::uint8_t>(1U << random() % 5);
        const auto kind = static_cast<AccessKind>(random() % 8 == 0 ? 1 : random() % 2 * 2);
        const std::uint64_t base = random() % range / bytes * bytes;
        const std::uint64_t stride = random() % 3 == 0 ? 0 : bytes * (random() % 3);
        accesses.emplace_back(
            kind, bytes, [&](auto lane) { return at(base + stride * lane); },
            random() % 2 == 0 ? 0xffffffffU : 1U << random() % 32);
      }
      for (const TestAccess& access : accesses) expected.add(block, access);
      launch.run(block, accesses);
    }
    conflicts += expected.conflict() ? 1 : 0;
    ASSERT_EQ(launch.conflict(), expected.conflict()) << "round " << round;
  }
  EXPECT_GT(conflicts, 100);
  EXPECT_LT(conflicts, 2900);
}

}  // namespace
}  // namespace simgpu
