#include "simgpu/counters/sector_cache.h"

#include <gmock/gmock.h>

#include <bit>
#include <list>
#include <random>
#include <vector>

namespace simgpu::sector_cache_test {
namespace {

/// The same cache, told plainly: each set is a list of lines, most recently used first.
class ListCache {
 public:
  ListCache(std::uint64_t sets, std::uint64_t ways) : sets_(sets), ways_(ways) {}

  SectorCache::Lookup touch(std::uint64_t line, std::uint32_t add, std::uint32_t dirty) {
    std::list<Line>& set = sets_[line % sets_.size()];
    SectorCache::Lookup result;
    auto found =
        std::find_if(set.begin(), set.end(), [&](const Line& l) { return l.number == line; });
    if (found == set.end()) {
      set.push_front({line, 0, 0});
      if (set.size() > ways_) {
        result.evicted_dirty = static_cast<std::uint32_t>(std::popcount(set.back().dirty));
        set.pop_back();
      }
    } else {
      set.splice(set.begin(), set, found);
    }
    Line& used = set.front();
    result.present = used.present;
    used.present |= add;
    used.dirty |= dirty;
    return result;
  }

  std::uint64_t dirty_sectors() const {
    std::uint64_t sum = 0;
    for (const auto& set : sets_) {
      for (const Line& line : set) sum += static_cast<std::uint64_t>(std::popcount(line.dirty));
    }
    return sum;
  }

 private:
  struct Line {
    std::uint64_t number;
    std::uint32_t present;
    std::uint32_t dirty;
  };
  std::vector<std::list<Line>> sets_;
  std::size_t ways_;
};

TEST(SectorCacheTest, HoldsAsMuchAsItsCapacity) {
  for (const std::uint64_t kib : {4, 48, 96, 192, 6 * 1024, 40 * 1024, 72 * 1024}) {
    const SectorCache cache(kib * 1024, 16);
    const auto held = static_cast<double>(cache.lines() * 128);
    EXPECT_LE(held, static_cast<double>(kib * 1024)) << kib << " KiB";
    EXPECT_GE(held, 0.95 * static_cast<double>(kib * 1024)) << kib << " KiB";
  }
}

TEST(SectorCacheTest, AgreesWithAListPerSetOnRandomTraffic) {
  SectorCache cache(16 * 1024, 4);
  ListCache expected(cache.sets(), cache.ways());
  std::mt19937 random(3);
  for (int round = 0; round < 50000; ++round) {
    // Neighbours, a hot region and far lines, so that hits, conflicts and evictions all happen.
    const std::uint64_t line = random() % 3 == 0 ? random() % 64 : random() % 4096;
    const std::uint32_t add = random();
    const std::uint32_t dirty = random() % 4 == 0 ? random() % 16 : 0;
    const SectorCache::Lookup actual = cache.touch(line, add, dirty);
    const SectorCache::Lookup wanted = expected.touch(line, add, dirty);
    ASSERT_EQ(actual.present, wanted.present) << "round " << round;
    ASSERT_EQ(actual.evicted_dirty, wanted.evicted_dirty) << "round " << round;
  }
  EXPECT_EQ(cache.dirty_sectors(), expected.dirty_sectors());
}

TEST(SectorCacheTest, LinesFarApartAreNotMistakenForEachOther) {
  SectorCache cache(40 << 20, 16);
  const std::uint64_t far = (std::uint64_t{1} << 40) / 128 - 1;
  cache.touch(far, 1, 0);
  for (std::uint64_t line = far; line >= cache.sets(); line -= cache.sets() * 1000003ULL) {
    if (line != far) {
      EXPECT_EQ(cache.probe(line, 0), 0U);
    }
    if (line < cache.sets() * 1000003ULL) break;
  }
  EXPECT_EQ(cache.probe(far, 0), 1U);
}

TEST(SectorCacheTest, ACleanedCacheIsEmpty) {
  SectorCache cache(4096, 4);
  for (std::uint64_t line = 0; line < 100; ++line) cache.touch(line, ~0U, 15);
  cache.clear();
  EXPECT_EQ(cache.dirty_sectors(), 0U);
  for (std::uint64_t line = 0; line < 100; ++line) EXPECT_EQ(cache.probe(line, 0), 0U);
  EXPECT_EQ(cache.touch(99, 1, 0).present, 0U);
}

TEST(SectorCacheTest, AClearedCacheIsAsGoodAsANewOne) {
  SectorCache used(16 * 1024, 4);
  std::mt19937 random(7);
  for (int life = 0; life < 5; ++life) {
    used.clear();
    SectorCache fresh(16 * 1024, 4);
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t line = random() % 400;
      const auto words = static_cast<std::uint32_t>(random());
      const auto dirty = static_cast<std::uint32_t>(random() % 16);
      const SectorCache::Lookup was = used.touch(line, words, dirty);
      const SectorCache::Lookup is = fresh.touch(line, words, dirty);
      ASSERT_EQ(was.present, is.present) << "life " << life << ", access " << i;
      ASSERT_EQ(was.evicted_dirty, is.evicted_dirty) << "life " << life << ", access " << i;
      ASSERT_EQ(used.dirty_sectors(), fresh.dirty_sectors()) << "life " << life << ", access " << i;
    }
    EXPECT_EQ(used.fills(), fresh.fills());
  }
}

}  // namespace
}  // namespace simgpu::sector_cache_test
