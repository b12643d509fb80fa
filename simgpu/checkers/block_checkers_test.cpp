#include "simgpu/checkers/block_checkers.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <set>

#include "simgpu/checkers/test_access.h"

namespace simgpu {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint32_t kSharedBytes = 4096;
constexpr std::uint32_t kWarps = 4;

/// One block whose shared memory has been written before the interval that is looked at.
class SharedRaceTest : public testing::Test {
 protected:
  SharedRaceTest() { begin(); }

  void begin(bool initialised = true) {
    checkers_.begin_block(5, kSharedBytes, kWarps, 0);
    if (!initialised) return;
    for (std::uint64_t offset = 0; offset < kSharedBytes; offset += 128) {
      store(0, 100, [=](auto lane) { return offset + 4 * lane; });
    }
    checkers_.block_barrier();
    checkers_.take_findings();
  }

  using AddressOf = std::function<std::uint64_t(std::uint64_t)>;
  void load(std::uint16_t warp, std::uint32_t pc, const AddressOf& address,
            std::uint32_t mask = ~0U, std::uint8_t bytes = 4) {
    TestAccess access(AccessKind::load, bytes, address, mask);
    checkers_.shared(access.by(warp, pc).get());
  }
  void store(std::uint16_t warp, std::uint32_t pc, const AddressOf& address,
             std::uint32_t mask = ~0U, std::uint8_t bytes = 4) {
    TestAccess access(AccessKind::store, bytes, address, mask);
    checkers_.shared(access.by(warp, pc).get());
  }
  void store_value(std::uint16_t warp, std::uint32_t pc, const AddressOf& address,
                   const std::function<std::uint32_t(std::uint32_t)>& value,
                   std::uint32_t mask = ~0U) {
    std::array<std::uint32_t, 32> values{};
    for (std::uint32_t lane = 0; lane < 32; ++lane) values[lane] = value(lane);
    std::array<std::uint8_t, 128> bytes{};
    std::memcpy(bytes.data(), values.data(), bytes.size());
    TestAccess access(AccessKind::store, 4, address, mask);
    access.access.values = bytes.data();
    checkers_.shared(access.by(warp, pc).get());
  }
  void atomic(std::uint16_t warp, std::uint32_t pc, const AddressOf& address,
              std::uint32_t mask = ~0U) {
    TestAccess access(AccessKind::atomic, 4, address, mask);
    checkers_.shared(access.by(warp, pc).get());
  }

  std::vector<RawFinding> findings() { return checkers_.take_findings(); }
  std::multiset<std::string> codes() {
    std::multiset<std::string> all;
    for (const RawFinding& finding : findings()) all.insert(finding.code.text());
    return all;
  }

  static std::uint64_t own(std::uint64_t lane) { return 4 * lane; }
  static std::uint64_t next(std::uint64_t lane) { return 4 * (lane + 1); }
  static std::uint64_t first(std::uint64_t) { return 0; }

  DeviceMemory memory_{1 << 20};
  BlockCheckers checkers_{memory_};
};

TEST_F(SharedRaceTest, ReadingWhatAnotherWarpWroteNeedsABarrier) {
  store(0, 1, own);
  load(1, 2, own);
  const std::vector<RawFinding> found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, Code("RL0302"));
  EXPECT_EQ(found[0].block, 5U);
  EXPECT_EQ(found[0].pc, 2U);
  EXPECT_EQ(found[0].warp, 1U);
  EXPECT_EQ(found[0].lane, 0U);
  EXPECT_EQ(found[0].other_pc, 1U);
  EXPECT_EQ(found[0].other_warp, 0U);
  EXPECT_EQ(found[0].other_lane, 0U);
  EXPECT_EQ(found[0].other_kind, AccessKind::store);
  EXPECT_EQ(found[0].occurrences, 32U);

  checkers_.block_barrier();
  store(0, 1, own);
  checkers_.block_barrier();
  load(1, 2, own);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(SharedRaceTest, OverwritingWhatAnotherWarpReadNeedsABarrier) {
  load(0, 1, own);
  store(1, 2, own);
  const std::vector<RawFinding> found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, Code("RL0301"));
  EXPECT_EQ(found[0].other_kind, AccessKind::load);
  EXPECT_EQ(found[0].other_warp, 0U);

  checkers_.block_barrier();
  load(0, 1, own);
  checkers_.block_barrier();
  store(1, 2, own);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(SharedRaceTest, TheTiledProductNeedsBothItsBarriers) {
  // Each warp stores its row of the tile; every warp reads all of it; the next tile overwrites it.
  for (const bool second_barrier : {true, false}) {
    begin();
    for (int tile = 0; tile < 3; ++tile) {
      for (std::uint16_t warp = 0; warp < kWarps; ++warp) {
        store(warp, 1, [=](auto lane) { return 128U * warp + 4 * lane; });
      }
      checkers_.block_barrier();
      for (std::uint16_t warp = 0; warp < kWarps; ++warp) {
        for (std::uint64_t k = 0; k < kWarps; ++k) {
          load(warp, 2, [=](auto) { return 128U * warp + 4 * k; });
          load(warp, 3, [=](auto lane) { return 128U * k + 4 * lane; });
        }
      }
      if (second_barrier) checkers_.block_barrier();
    }
    if (second_barrier) {
      EXPECT_THAT(findings(), IsEmpty());
    } else {
      EXPECT_THAT(codes(), testing::Contains("RL0301"));
    }
  }
}

TEST_F(SharedRaceTest, TwoStoresRaceUnlessTheyStoreTheSame) {
  store_value(0, 1, first, [](auto) { return 7U; });
  store_value(1, 2, first, [](auto) { return 7U; });
  EXPECT_THAT(findings(), IsEmpty());
  store_value(
      2, 3, first, [](auto) { return 8U; }, 1U);
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0303"});
}

TEST_F(SharedRaceTest, LanesOfOneInstructionThatStoreDifferentValuesRace) {
  store_value(0, 1, first, [](auto lane) { return lane; });
  const std::vector<RawFinding> found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, Code("RL0303"));
  EXPECT_EQ(found[0].lane, 1U);
  EXPECT_EQ(found[0].other_lane, 0U);
}

TEST_F(SharedRaceTest, AThreadMayUseItsOwnWordsFreely) {
  for (int i = 0; i < 3; ++i) {
    load(0, 1, own);
    store(0, 2, own);
  }
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(SharedRaceTest, LanesOfAWarpAreOrderedOnlyByAWarpBarrier) {
  // s[i] += s[i + 1] without __syncwarp: lane i reads what lane i + 1 is about to overwrite.
  load(0, 1, next);
  store(0, 2, own);
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0301"});

  checkers_.block_barrier();
  load(0, 1, next);
  checkers_.warp_barrier(0, ~0U);
  store(0, 2, own);
  checkers_.warp_barrier(0, ~0U);
  load(0, 3, next);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(SharedRaceTest, APairOfTwoWarpsIsToldRatherThanOneWithinAWarp) {
  const auto own = [](std::uint64_t lane) { return 4 * lane; };
  const auto reversed = [](std::uint64_t lane) { return 4 * (31 - lane); };
  store(0, 1, own);
  load(0, 2, reversed);
  load(1, 2, reversed);
  const std::vector<RawFinding> found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].warp, 1U);
  EXPECT_EQ(found[0].other_warp, 0U);
}

TEST_F(SharedRaceTest, AReaderOfAnotherWarpIsToldRatherThanTheFirstOne) {
  const auto own = [](std::uint64_t lane) { return 4 * lane; };
  const auto reversed = [](std::uint64_t lane) { return 4 * (31 - lane); };
  load(0, 1, reversed);
  load(1, 1, reversed);
  store(0, 2, own);
  const std::vector<RawFinding> found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].warp, 0U);
  EXPECT_EQ(found[0].other_warp, 1U);
}

TEST_F(SharedRaceTest, AWarpBarrierOrdersOnlyItsLanes) {
  const auto store_lane_1_then_read_by_lane_0 = [&](std::uint32_t barrier) {
    checkers_.block_barrier();
    store(
        0, 1, [](auto) { return 64; }, 2U);
    checkers_.warp_barrier(0, barrier);
    load(
        0, 2, [](auto) { return 64; }, 1U);
  };
  store_lane_1_then_read_by_lane_0(0x3U);
  EXPECT_THAT(findings(), IsEmpty());
  store_lane_1_then_read_by_lane_0(0xcU);
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0302"});
  store_lane_1_then_read_by_lane_0(0x5U);
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0302"});
}

TEST_F(SharedRaceTest, OrderPassesFromLaneToLane) {
  store(
      0, 1, [](auto) { return 64; }, 1U);
  checkers_.warp_barrier(0, 0x3U);  // lanes 0 and 1
  checkers_.warp_barrier(0, 0x6U);  // lanes 1 and 2
  load(
      0, 2, [](auto) { return 64; }, 4U);
  EXPECT_THAT(findings(), IsEmpty());
  load(
      0, 2, [](auto) { return 64; }, 8U);
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0302"});
}

TEST_F(SharedRaceTest, AWarpBarrierDoesNotOrderOtherWarps) {
  store(0, 1, own);
  checkers_.warp_barrier(0, ~0U);
  checkers_.warp_barrier(1, ~0U);
  load(1, 2, own);
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0302"});
}

TEST_F(SharedRaceTest, ABarrierOfSomeWarpsOrdersThoseWarps) {
  store(0, 1, own);
  checkers_.partial_barrier({true, true, false, false});
  load(1, 2, own);
  EXPECT_THAT(findings(), IsEmpty());
  load(2, 3, own);
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0302"});
  checkers_.partial_barrier({false, true, false, true});
  load(3, 4, own);
  EXPECT_THAT(findings(), IsEmpty()) << "warp 3 learned of warp 0 through warp 1";
}

TEST_F(SharedRaceTest, AnMbarrierOrdersThoseWhoWaitForItsPhase) {
  constexpr std::uint32_t kFull = 64, kEmpty = 72;
  const auto own = [](auto lane) { return 512 + 4 * lane; };
  const auto arrive_all = [&](std::uint32_t place) {
    checkers_.arrive_at(0, place);
    checkers_.arrive_at(1, place);
    checkers_.end_phase(place);
  };
  store(0, 1, own);
  arrive_all(kFull);
  checkers_.wait_for_phase(1, kFull);
  load(1, 2, own);
  EXPECT_THAT(checkers_.take_findings(), IsEmpty());
  checkers_.arrive_at(1, kEmpty);
  checkers_.wait_for_phase(0, kEmpty);
  store(0, 3, own);
  EXPECT_THAT(checkers_.take_findings(), SizeIs(1)) << "the phase had not ended";
  load(1, 4, own);
  EXPECT_THAT(checkers_.take_findings(), SizeIs(1));
  arrive_all(kEmpty);
  checkers_.wait_for_phase(0, kFull);
  store(0, 5, own);
  EXPECT_THAT(checkers_.take_findings(), SizeIs(1)) << "it is another mbarrier's phase";
  checkers_.wait_for_phase(0, kEmpty);
  load(1, 6, own);
  checkers_.take_findings();
  arrive_all(kEmpty);
  checkers_.wait_for_phase(0, kEmpty);
  store(0, 7, own);
  EXPECT_THAT(checkers_.take_findings(), IsEmpty());
}

TEST_F(SharedRaceTest, AtomicsDoNotRaceWithEachOtherButWithStores) {
  atomic(0, 1, first);
  atomic(1, 2, first);
  EXPECT_THAT(findings(), IsEmpty());
  store(3, 4, first, 1U);
  const std::vector<RawFinding> found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, Code("RL0301"));
  EXPECT_EQ(found[0].other_kind, AccessKind::atomic);
}

TEST_F(SharedRaceTest, APlainLoadRacesWithAtomicsWhicheverComesFirst) {
  atomic(0, 1, first, 1U);
  load(1, 2, first, 1U);
  std::vector<RawFinding> found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, Code("RL0302"));
  EXPECT_EQ(found[0].other_kind, AccessKind::atomic);
  checkers_.block_barrier();
  load(1, 3, first, 1U);
  atomic(0, 4, first, 1U);
  found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, Code("RL0301"));
  EXPECT_EQ(found[0].kind, AccessKind::atomic);
  EXPECT_EQ(found[0].other_kind, AccessKind::load);
}

TEST_F(SharedRaceTest, APlainLoadMayMeetAtomicsOfItsOwnThreadAndOrderedOnes) {
  load(0, 1, first, 1U);
  atomic(0, 2, first, 1U);
  load(0, 3, first, 1U);
  checkers_.block_barrier();
  atomic(1, 4, first, 2U);
  checkers_.warp_barrier(1, ~0U);
  load(1, 5, first, 4U);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(SharedRaceTest, AnAtomicIsSeenBehindManyOthersAndALoadBehindManyLoads) {
  for (std::uint16_t warp = 0; warp < kWarps; ++warp) atomic(warp, 1, first);
  load(0, 2, first, 1U);
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0302"});
  checkers_.block_barrier();
  for (std::uint16_t warp = 0; warp < kWarps; ++warp) load(warp, 3, first);
  atomic(0, 4, first, 1U);
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0301"});
}

TEST(ArrayTest, AnAddressOfAnArrayThatLeavesItIsOutOfBounds) {
  DeviceMemory memory(1 << 20);
  BlockCheckers checkers(
      memory, {{}, {.array_begin = 128, .array_end = 256}, {.array_begin = 0, .array_end = 128}});
  checkers.begin_block(0, 384, 1, 0);
  const auto touch = [&](std::uint32_t pc, std::uint64_t first, std::uint64_t step) {
    TestAccess access(AccessKind::store, 4, [&](auto lane) { return first + step * lane; });
    checkers.shared(access.by(0, pc).get());
    return checkers.take_findings();
  };
  EXPECT_THAT(touch(1, 128, 4), IsEmpty());
  EXPECT_THAT(touch(2, 0, 4), IsEmpty());
  checkers.block_barrier();
  EXPECT_THAT(touch(0, 132, 4), IsEmpty()) << "of an address that comes from no known array";
  const std::vector<RawFinding> behind = touch(1, 132, 4);
  ASSERT_THAT(behind, SizeIs(1));
  EXPECT_EQ(behind[0].code, Code("RL0202"));
  EXPECT_EQ(behind[0].lane, 31U);
  EXPECT_EQ(behind[0].address, 256U);
  EXPECT_EQ(behind[0].occurrences, 1U);
  checkers.block_barrier();
  const std::vector<RawFinding> before = touch(1, 120, 4);
  ASSERT_THAT(before, SizeIs(1));
  EXPECT_EQ(before[0].address, 120U);
  EXPECT_EQ(before[0].occurrences, 2U);
}

TEST_F(SharedRaceTest, AnAtomicOnWhatWasJustStoredRaces) {
  store(0, 1, first, 1U);
  atomic(1, 2, first);
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0302"});
}

TEST_F(SharedRaceTest, NeighbouringBytesAndHalvesDoNotRace) {
  for (std::uint16_t warp = 0; warp < kWarps; ++warp) {
    store(
        warp, 1, [=](auto lane) { return 4 * lane + warp; }, ~0U, 1);
  }
  EXPECT_THAT(findings(), IsEmpty());
  checkers_.block_barrier();
  load(
      0, 2, [](auto lane) { return 4 * lane; }, ~0U, 2);
  store(
      1, 3, [](auto lane) { return 4 * lane + 2; }, ~0U, 2);
  EXPECT_THAT(findings(), IsEmpty());
  load(2, 4, [](auto lane) { return 4 * lane; });
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0302"})
      << "the word holds the bytes just stored";
}

TEST_F(SharedRaceTest, WarpsMayReadAndStoreTheirOwnBytesOfOneWord) {
  const auto own_byte = [](std::uint16_t warp) {
    return [=](std::uint64_t lane) { return 4 * lane + warp; };
  };
  for (std::uint16_t warp = 0; warp < kWarps; ++warp) {
    load(warp, 1, own_byte(warp), ~0U, 1);
    store(warp, 2, own_byte(warp), ~0U, 1);
  }
  EXPECT_THAT(findings(), IsEmpty());
  load(1, 3, own_byte(0), 1U, 1);
  EXPECT_EQ(codes(), std::multiset<std::string>{"RL0302"});
}

TEST_F(SharedRaceTest, AWideLoadMeetsANarrowStoreInItsMiddle) {
  store(
      0, 1, [](auto) { return 40; }, 1U);
  load(
      1, 2, [](auto) { return 32; }, 1U, 16);
  const std::vector<RawFinding> found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].address, 40U);
  EXPECT_EQ(found[0].bytes, 16U);
}

TEST_F(SharedRaceTest, NothingIsCarriedOverToTheNextBlock) {
  store(0, 1, own);
  begin();
  load(1, 2, own);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(SharedRaceTest, ManyReadersDoNotHideTheOneThatRaces) {
  // All warps read; the thread that stores is itself one of the readers.
  for (std::uint16_t reader = 0; reader < kWarps; ++reader) {
    for (std::uint16_t writer = 0; writer < kWarps; ++writer) {
      begin();
      for (std::uint16_t i = 0; i <= reader; ++i) load(i, 1, first);
      store(writer, 2, first, 1U);
      EXPECT_THAT(findings(), SizeIs(1))
          << "read by warps 0 to " << reader << ", stored by " << writer;
    }
  }
}

TEST_F(SharedRaceTest, UninitialisedSharedMemoryIsReportedUntilItIsWritten) {
  begin(false);
  load(0, 1, own);
  const std::vector<RawFinding> found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, Code("RL0206"));
  EXPECT_EQ(found[0].occurrences, 32U);
  store(0, 2, own);
  load(0, 3, own);
  EXPECT_THAT(findings(), IsEmpty());
  load(0, 4, next);
  const std::vector<RawFinding> edge = findings();
  ASSERT_THAT(edge, testing::Not(IsEmpty()));
  bool edge_found = false;
  for (const RawFinding& finding : edge) {
    if (finding.code != "RL0206") continue;
    edge_found = true;
    EXPECT_EQ(finding.lane, 31U);
    EXPECT_EQ(finding.address, 128U);
  }
  EXPECT_TRUE(edge_found);
}

TEST(GlobalInitialisationTest, OnlyWhatWasWrittenMayBeRead) {
  DeviceMemory memory(1 << 20);
  const std::uint64_t base = memory.allocate(4096, "a").value();
  BlockCheckers checkers(memory);
  checkers.begin_block(0, 0, 1, 0);
  ASSERT_TRUE(memory.fill(base, 0, 100));
  TestAccess load(AccessKind::load, 4, [&](auto lane) { return base + 4 * lane; });
  checkers.global(load.by(0, 9).get());
  const std::vector<RawFinding> found = checkers.take_findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, Code("RL0205"));
  EXPECT_EQ(found[0].lane, 25U);
  EXPECT_EQ(found[0].address, base + 100);
  EXPECT_EQ(found[0].occurrences, 7U);

  TestAccess store(AccessKind::store, 4, [&](auto lane) { return base + 4 * lane; });
  checkers.global(store.get());
  checkers.global(load.get());
  EXPECT_THAT(checkers.take_findings(), IsEmpty());
}

TEST(GlobalInitialisationTest, AnAtomicReadsWhatItUpdates) {
  DeviceMemory memory(1 << 20);
  const std::uint64_t base = memory.allocate(4, "counter").value();
  BlockCheckers checkers(memory);
  checkers.begin_block(0, 0, 1, 0);
  TestAccess add(
      AccessKind::atomic, 4, [&](auto) { return base; }, 1U);
  checkers.global(add.get());
  EXPECT_THAT(checkers.take_findings(), SizeIs(1));
  checkers.global(add.get());
  EXPECT_THAT(checkers.take_findings(), IsEmpty()) << "said once: afterwards it holds something";
}

TEST(GlobalRacesOfABlockTest, WhatTheRecordsHadNoRoomForIsToldOnce) {
  constexpr std::uint64_t kApart = 4096, kPlaces = 500;
  DeviceMemory memory(1 << 22);
  const std::uint64_t base = memory.allocate(kApart * kPlaces, "a").value();
  BlockCheckers checkers(memory, {}, 1 << 14);
  const auto store_to = [&](std::uint64_t places) {
    checkers.begin_block(0, 0, kWarps, 0);
    for (std::uint64_t place = 0; place < places; ++place) {
      TestAccess store(AccessKind::store, 1,
                       [&](auto lane) { return base + place * kApart + lane; });
      checkers.global(store.by(0, static_cast<std::uint32_t>(place % 3)).get());
    }
    return checkers.take_findings();
  };
  const std::vector<RawFinding> found = store_to(kPlaces);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, Code("RL0615"));
  EXPECT_GT(found[0].occurrences, kPlaces / 2);
  EXPECT_LE(found[0].occurrences, kPlaces);
  EXPECT_THAT(store_to(4), IsEmpty()) << "another block's";
}

TEST(LocalInitialisationTest, EveryThreadHasItsOwn) {
  DeviceMemory memory(1 << 20);
  BlockCheckers checkers(memory);
  checkers.begin_block(0, 0, 2, 64);
  TestAccess store(
      AccessKind::store, 4, [](auto) { return 60; }, 0xffffU);
  TestAccess load(AccessKind::load, 4, [](auto) { return 60; });
  checkers.local(store.by(1, 1).get());
  checkers.local(load.by(1, 2).get());
  const std::vector<RawFinding> found = checkers.take_findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, Code("RL0208"));
  EXPECT_EQ(found[0].lane, 16U);
  EXPECT_EQ(found[0].occurrences, 16U);
  checkers.local(load.by(0, 2).get());
  EXPECT_EQ(checkers.take_findings()[0].occurrences, 32U);
  checkers.begin_block(1, 0, 2, 64);
  checkers.local(load.by(1, 2).get());
  EXPECT_EQ(checkers.take_findings()[0].occurrences, 32U) << "a new block has written nothing";
}

TEST(PaddingTest, ACopiedStructMayHaveUnwrittenBytesButNotAllOfThem) {
  DeviceMemory memory(1 << 20);
  const std::uint64_t base = memory.allocate(512, "structs").value();
  // The load at 0 computes, the one at 1 copies.
  BlockCheckers checkers(memory, {{.used_bytes = 0xFF}, {.used_bytes = 0}});
  checkers.begin_block(0, 0, 1, 0);
  const auto struct_at = [&](auto lane) { return base + 8 * lane; };
  TestAccess kind(AccessKind::store, 1, struct_at, 0xffffU);
  TestAccess whole(AccessKind::load, 8, struct_at);
  checkers.global(kind.by(0, 2).get());
  checkers.global(whole.by(0, 1).get());
  const std::vector<RawFinding> copied = checkers.take_findings();
  ASSERT_THAT(copied, SizeIs(1));
  EXPECT_EQ(copied[0].lane, 16U);
  EXPECT_EQ(copied[0].occurrences, 16U) << "of the lanes whose struct has no byte written";
  checkers.global(whole.by(0, 0).get());
  EXPECT_EQ(checkers.take_findings()[0].occurrences, 32U);
}

}  // namespace
}  // namespace simgpu
