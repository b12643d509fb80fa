#include "simgpu/counters/word_conflicts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "simgpu/counters/block_conflicts.h"

namespace simgpu::word_conflicts_test {
namespace {

using Kind = TrafficEntry::Kind;

TrafficEntry entry(std::uint64_t sector, std::uint8_t count, std::uint8_t words, Kind kind) {
  TrafficEntry made;
  made.set_sector(sector);
  made.count = count;
  made.words = words;
  made.kind = kind;
  return made;
}

/// The definition, word by word.
class EachWord {
 public:
  bool add(const TrafficLog& log) {
    for (const TrafficEntry& each : log.entries) {
      for (std::uint64_t i = 0; i < kWordsPerSector * each.count; ++i) {
        if ((each.words >> (i % kWordsPerSector) & 1U) == 0) continue;
        const std::uint64_t word = each.sector() * kWordsPerSector + i;
        (each.kind == Kind::store ? stored_ : loaded_)[word].insert(log.block);
      }
    }
    for (const auto& [word, blocks] : stored_) {
      std::set<std::uint64_t> all = blocks;
      all.insert(loaded_[word].begin(), loaded_[word].end());
      if (all.size() > 1) return true;
    }
    return false;
  }

 private:
  std::map<std::uint64_t, std::set<std::uint64_t>> stored_, loaded_;
};

TEST(WordConflicts, AreThoseOfSingleWords) {
  std::mt19937 random(20);
  int conflicts = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto below = [&](std::uint32_t end) {
      return static_cast<std::uint32_t>(random() % end);
    };
    WordConflicts quick;
    BlockConflicts thorough;
    EachWord each;
    const std::uint32_t masks = below(3);  // whole sectors, or words
    const bool stores_mostly_own = below(2) == 0;
    for (std::uint64_t block = 0; block < 6; ++block) {
      TrafficLog log;
      log.block = block;
      for (std::uint32_t i = below(6); i > 0; --i) {
        const auto words = static_cast<std::uint8_t>(masks == 0 ? 0xff : 1U + below(255));
        const Kind kinds[] = {Kind::load, Kind::touch, Kind::store, Kind::atomic,
                              Kind::strong_load};
        const Kind kind = kinds[below(5)];
        const bool own = kind == Kind::store && stores_mostly_own;
        // A block's own sectors, or one word in each of them.
        const std::uint64_t sector = own && masks == 0 ? 1000 + block : 1000 + below(9);
        log.entries.push_back(
            entry(sector, static_cast<std::uint8_t>(own ? 1 : 1 + below(5)),
                  own && masks != 0 ? static_cast<std::uint8_t>(1U << block) : words, kind));
      }
      quick.add(log);
      thorough.add(log);
      const bool expected = each.add(log);
      ASSERT_EQ(quick.any(), expected) << "round " << round << ", block " << block;
      ASSERT_EQ(thorough.any(), expected) << "round " << round << ", block " << block;
      if (expected) break;
    }
    conflicts += quick.any() ? 1 : 0;
  }
  EXPECT_GT(conflicts, 300);
  EXPECT_LT(conflicts, 2900);
}

TEST(WordConflicts, CannotBeRuledOutWhereALogIsIncomplete) {
  WordConflicts conflicts;
  TrafficLog log;
  log.unlogged_reads = 1;
  conflicts.add(log);
  EXPECT_TRUE(conflicts.any());
}

TEST(TouchedSectors, TellTheBytesOfNarrowStoresWhicheverBlockMadeThem) {
  const auto log_of = [](std::uint64_t block, std::uint32_t bytes) {
    TrafficLog log;
    log.block = block;
    TrafficEntry narrow;
    narrow.kind = Kind::bytes;
    narrow.sector_low = bytes;
    log.entries = {entry(7, 1, 0x02, Kind::store), narrow};
    return log;
  };
  BlockConflicts conflicts;
  conflicts.add(log_of(0, 0x30));
  EXPECT_EQ(conflicts.touched().at(0).written, 0x30U);
  conflicts.add(log_of(1, 0xc0));
  EXPECT_EQ(conflicts.touched().at(0).written, 0xf0U);
  EXPECT_EQ(conflicts.touched().at(0).changed, 0xf0U);
  EXPECT_EQ(conflicts.touched().at(0).read, 0U);
}

TEST(TouchedSectors, TellWhatAtomicsAndStrongStoresMayHaveChanged) {
  const auto touched = [](Kind kind) {
    TrafficLog log;
    log.entries = {entry(7, 1, 0x0f, Kind::load), entry(7, 1, 0x03, kind)};
    BlockConflicts conflicts;
    conflicts.add(log);
    return conflicts.touched().at(0);
  };
  EXPECT_EQ(touched(Kind::store).changed, 0xffU);
  EXPECT_EQ(touched(Kind::store).written, 0xffU);
  for (const Kind kind : {Kind::atomic, Kind::strong_store}) {
    EXPECT_EQ(touched(kind).changed, 0xffU);
    EXPECT_EQ(touched(kind).written, 0U) << "neither races with its like";
  }
  for (const Kind kind : {Kind::load, Kind::touch, Kind::strong_load}) {
    EXPECT_EQ(touched(kind).changed, 0U);
  }
}

}  // namespace
}  // namespace simgpu::word_conflicts_test
