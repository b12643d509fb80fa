#include "simgpu/counters/bank_conflicts.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "simgpu/checkers/test_access.h"

namespace simgpu::bank_conflicts_test {
namespace {

/// Whether lanes that differ in one bit of their number read the same place.
bool share_places(const WarpAccess& access, unsigned bit) {
  std::map<unsigned, std::set<std::uint64_t>>
      places;  // of the lanes that are alike without the bit
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((access.mask >> lane & 1U) != 0) places[lane & ~bit].insert((*access.address)[lane]);
  }
  return std::ranges::all_of(places,
                             [](const auto& of_pair) { return of_pair.second.size() == 1; });
}

/// Serves one phase at a time, cycle by cycle: in each cycle every bank gives out one of the words
/// still asked of it. Counts cycles.
SharedWavefronts simulate_banks(const WarpAccess& access) {
  SharedWavefronts sum;
  unsigned width = access.bytes <= 4 ? 32 : access.bytes == 8 ? 16 : 8;
  const bool is_wide_load = access.bytes > 4 && access.kind == AccessKind::load;
  if (is_wide_load && (share_places(access, 1) || share_places(access, 2))) width *= 2;
  for (unsigned first = 0; first < 32; first += width) {
    std::map<std::uint64_t, std::set<std::uint64_t>> asked;  // bank -> words
    for (unsigned lane = first; lane < first + width; ++lane) {
      if ((access.mask >> lane & 1U) == 0) continue;
      for (unsigned byte = 0; byte < access.bytes; ++byte) {
        const std::uint64_t word = ((*access.address)[lane] + byte) / 4;
        asked[word % 32].insert(word);
      }
    }
    if (!asked.empty()) ++sum.ideal;
    while (!asked.empty()) {
      ++sum.wavefronts;
      for (auto bank = asked.begin(); bank != asked.end();) {
        bank->second.erase(bank->second.begin());
        bank = bank->second.empty() ? asked.erase(bank) : std::next(bank);
      }
    }
  }
  return sum;
}

SharedWavefronts of(TestAccess access) { return shared_wavefronts(access.get()); }

TEST(BankConflictsTest, NeighbouringWordsTakeOneWavefront) {
  const auto result = of({AccessKind::load, 4, [](auto lane) { return 4 * lane; }});
  EXPECT_EQ(result.wavefronts, 1U);
  EXPECT_EQ(result.ideal, 1U);
}

TEST(BankConflictsTest, OneWordForAllLanesIsABroadcast) {
  EXPECT_EQ(of({AccessKind::load, 4, [](auto) { return 64; }}).wavefronts, 1U);
}

TEST(BankConflictsTest, AColumnOfA32WideTileIsServedLaneByLane) {
  EXPECT_EQ(of({AccessKind::load, 4, [](auto lane) { return 4 * 32 * lane; }}).wavefronts, 32U);
}

TEST(BankConflictsTest, AColumnOfAPaddedTileHasNoConflict) {
  EXPECT_EQ(of({AccessKind::load, 4, [](auto lane) { return 4 * 33 * lane; }}).wavefronts, 1U);
}

TEST(BankConflictsTest, WideAccessesAreServedInHalfAndQuarterWarps) {
  const auto pairs = of({AccessKind::load, 8, [](auto lane) { return 8 * lane; }});
  EXPECT_EQ(pairs.wavefronts, 2U);
  EXPECT_EQ(pairs.ideal, 2U);
  const auto quads = of({AccessKind::store, 16, [](auto lane) { return 16 * lane; }});
  EXPECT_EQ(quads.wavefronts, 4U);
  EXPECT_EQ(quads.ideal, 4U);
}

TEST(BankConflictsTest, WideLoadsOfPairsOfLanesTakeHalfAsManyPhases) {
  EXPECT_EQ(of({AccessKind::load, 16, [](auto) { return 64; }}).wavefronts, 2U);
  EXPECT_EQ(of({AccessKind::load, 8, [](auto) { return 64; }}).wavefronts, 1U);
  EXPECT_EQ(of({AccessKind::load, 16, [](auto lane) { return lane / 2 * 16; }}).wavefronts, 4U / 2);
  EXPECT_EQ(of({AccessKind::load, 16, [](auto lane) { return lane % 2 * 16; }}).wavefronts, 2U);
  EXPECT_EQ(of({AccessKind::load, 16, [](auto lane) { return lane % 4 * 16; }}).wavefronts, 4U)
      << "lanes i and i ^ 4 share a place, which does not help";
  EXPECT_EQ(of({AccessKind::store, 16, [](auto) { return 64; }}).wavefronts, 4U);
}

TEST(BankConflictsTest, TheTwoOperandsOfARegisterTileTakeAsMuchAsAnH200Counts) {
  // 16 lanes share a row of A, the others the next but seven; 16 columns of B lie 32 bytes apart.
  const auto rows = of({AccessKind::load, 16, [](auto lane) { return lane / 16 * 32; }});
  const auto columns = of({AccessKind::load, 16, [](auto lane) { return lane % 16 * 32; }});
  EXPECT_EQ(rows.wavefronts + columns.wavefronts, 10U);
  EXPECT_EQ(rows.wavefronts - rows.ideal + columns.wavefronts - columns.ideal, 4U);
}

TEST(BankConflictsTest, AnEmptyMaskTakesNothing) {
  EXPECT_EQ(of({AccessKind::load, 4, [](auto lane) { return lane; }, 0}).wavefronts, 0U);
}

TEST(BankConflictsTest, EveryStrideAgreesWithASimulationOfTheBanks) {
  for (const unsigned bytes : {1U, 2U, 4U, 8U, 16U}) {
    for (std::uint64_t stride = 0; stride <= 160; stride += bytes) {
      for (const std::uint64_t base : {0U, 16U, 48U}) {
        TestAccess access(AccessKind::load, static_cast<std::uint8_t>(bytes),
                          [&](auto lane) { return base + stride * lane; });
        const SharedWavefronts expected = simulate_banks(access.get());
        const SharedWavefronts actual = shared_wavefronts(access.get());
        ASSERT_EQ(actual.wavefronts, expected.wavefronts) << bytes << " bytes, stride " << stride;
        ASSERT_EQ(actual.ideal, expected.ideal) << bytes << " bytes, stride " << stride;
      }
    }
  }
}

TEST(BankConflictsTest, DescendingLanesAgreeWithASimulationOfTheBanks) {
  for (std::uint64_t stride = 0; stride <= 256; stride += 4) {
    TestAccess access(AccessKind::load, 4, [&](auto lane) { return 8192 - stride * lane; });
    ASSERT_EQ(shared_wavefronts(access.get()).wavefronts, simulate_banks(access.get()).wavefronts)
        << "stride -" << stride;
  }
}

TEST(BankConflictsTest, RandomAccessesAgreeWithASimulationOfTheBanks) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const auto bytes = static_cast<std::uint8_t>(1U << random() % 5);
    const std::uint64_t range = std::uint64_t{bytes} << random() % 10;
    TestAccess access(
        AccessKind::load, bytes, [&](auto) { return random() % range / bytes * bytes; }, random());
    const SharedWavefronts expected = simulate_banks(access.get());
    const SharedWavefronts actual = shared_wavefronts(access.get());
    ASSERT_EQ(actual.wavefronts, expected.wavefronts) << "round " << round;
    ASSERT_EQ(actual.ideal, expected.ideal) << "round " << round;
  }
}

}  // namespace
}  // namespace simgpu::bank_conflicts_test
