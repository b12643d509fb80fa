#include <gmock/gmock.h>

#include <bit>
#include <random>
#include <set>
#include <utility>

#include "simgpu/counters/constant_words.h"
#include "simgpu/counters/local_memory.h"

namespace simgpu::own_words_test {
namespace {

using Offsets = std::array<std::uint64_t, kWarpSize>;
using Request = LocalMemoryUse::Request;
constexpr std::uint32_t kAll = 0xffffffff;

Offsets apart_by(std::uint64_t step, std::uint64_t first = 0) {
  Offsets offsets;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) offsets[lane] = first + lane * step;
  return offsets;
}

TEST(LocalMemoryUse, LanesAtOneOffsetShareALineOfFourSectors) {
  LocalMemoryUse use(2, 256);
  EXPECT_EQ(use.access(0, kAll, apart_by(0, 8), 4), (Request{4, 1, 4}));
  EXPECT_EQ(use.access(0, kAll, apart_by(0, 8), 4), (Request{4, 1, 0})) << "touched before";
  EXPECT_EQ(use.access(0, kAll, apart_by(0, 16), 16), (Request{16, 4, 16}));
  EXPECT_EQ(use.access(0, kAll, apart_by(0, 9), 1), (Request{4, 1, 0})) << "a byte of that word";
  EXPECT_EQ(use.access(0, 0x100, apart_by(0, 40), 4), (Request{1, 1, 1}));
}

TEST(LocalMemoryUse, LanesAtDifferentOffsetsTouchALineEach) {
  LocalMemoryUse use(1, 256);
  EXPECT_EQ(use.access(0, kAll, apart_by(4), 4), (Request{32, 32, 32}));
  EXPECT_EQ(use.access(0, kAll, apart_by(1), 1), (Request{8, 8, 6})) << "four lanes a word";
}

TEST(LocalMemoryUse, WarpsAndBlocksTouchMemoryOfTheirOwn) {
  LocalMemoryUse use(2, 64);
  EXPECT_EQ(use.access(0, kAll, apart_by(0), 4).new_sectors, 4U);
  EXPECT_EQ(use.access(1, kAll, apart_by(0), 4).new_sectors, 4U);
  EXPECT_EQ(use.access(1, kAll, apart_by(0), 4).new_sectors, 0U);
  use.begin_block();
  EXPECT_EQ(use.access(1, kAll, apart_by(0), 4).new_sectors, 4U);
}

TEST(LocalMemoryUse, AnyRequestTouchesTheSectorsOfItsBytes) {
  std::mt19937 random(1);
  LocalMemoryUse use(1, 128);
  std::set<std::pair<std::uint64_t, unsigned>> ever;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t bytes = 1U << random() % 5;
    const std::uint32_t mask = random() | 1U << random() % 32;
    const bool together = random() % 4 == 0;
    Offsets offsets = apart_by(0);
    for (std::uint64_t& offset : offsets) offset = random() % (128 / bytes) * bytes;
    if (together) offsets.fill(offsets[0]);
    std::set<std::uint64_t> lines;
    std::set<std::pair<std::uint64_t, unsigned>> sectors;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if ((mask >> lane & 1U) == 0) continue;
      for (std::uint32_t byte = 0; byte < bytes; ++byte) {
        const std::uint64_t word = (offsets[lane] + byte) / 4;
        lines.insert(word);
        sectors.emplace(word, lane / 8);
      }
    }
    const std::size_t before = ever.size();
    ever.insert(sectors.begin(), sectors.end());
    const Request expected{static_cast<std::uint32_t>(sectors.size()),
                           static_cast<std::uint32_t>(lines.size()),
                           static_cast<std::uint32_t>(ever.size() - before)};
    EXPECT_EQ(use.access(0, mask, offsets, bytes), expected);
  }
}

TEST(ConstantWords, AreTheDistinctOnesThatLanesReadTogether) {
  EXPECT_EQ(constant_words(kAll, apart_by(0, 100), 4), 1U);
  EXPECT_EQ(constant_words(kAll, apart_by(4), 4), 32U);
  EXPECT_EQ(constant_words(0xf0, apart_by(4), 4), 4U);
  EXPECT_EQ(constant_words(kAll, apart_by(1), 1), 8U) << "four bytes of a word come together";
  EXPECT_EQ(constant_words(kAll, apart_by(1, 2), 1), 9U) << "from the middle of a word";
  EXPECT_EQ(constant_words(kAll, apart_by(16), 16), 32U);
  EXPECT_EQ(constant_words(kAll, apart_by(0), 16), 1U);
}

}  // namespace
}  // namespace simgpu::own_words_test
