#include "simgpu/counters/byte_set.h"

#include <gtest/gtest.h>

namespace simgpu::byte_set_test {
namespace {

constexpr std::size_t kMany = 1000;

class ByteSetTest : public ::testing::Test {
 protected:
  ByteSet set_;
};

TEST_F(ByteSetTest, RangesThatOverlapOrTouchAreOne) {
  set_.add({kDeviceBase + 5, 20});
  set_.add({kDeviceBase + 10, 90'000});
  set_.add({kDeviceBase + 90'010, 22});
  const std::vector<ByteRange> one{{kDeviceBase + 5, 90'027}};
  EXPECT_EQ(set_.ranges(kMany), one);
}

TEST_F(ByteSetTest, RangesStayApartByAByte) {
  const std::vector<ByteRange> apart{{kDeviceBase + 3, 4},
                                     {kDeviceBase + 8, 23},
                                     {kDeviceBase + 32, 32},
                                     {kDeviceBase + 65, 4096},
                                     {kDeviceBase + 1'000'000, 1}};
  for (const ByteRange& range : apart) set_.add(range);
  EXPECT_EQ(set_.ranges(kMany), apart);
}

TEST_F(ByteSetTest, CountsBytesOfEachAllocationOnce) {
  DeviceMemory memory(1 << 20);
  const std::uint64_t one = memory.allocate(1000, "one").value();
  const std::uint64_t other = memory.allocate(5000, "other").value();
  set_.add({one, 100});
  set_.add({one + 50, 150});
  set_.add({other + 4000, 1000});
  const std::vector<ByteRange> counted{{one, 200}, {other, 1000}};
  EXPECT_EQ(set_.by_allocation(memory), counted);
}

TEST_F(ByteSetTest, CountsOfALargeRangeWhatLiesInAllocations) {
  DeviceMemory memory(64 << 20);
  constexpr std::uint64_t kBytes = 5'000'032;
  const std::uint64_t one = memory.allocate(kBytes, "one").value();
  const std::uint64_t other = memory.allocate(kBytes, "other").value();
  ASSERT_GT(other, one + kBytes + 64);  // a gap
  const std::uint64_t all = other + kBytes - one;
  set_.add({one, all / 2});
  set_.add({one + all / 2, all - all / 2});
  set_.add({one + 77, 1'000'000});
  const std::vector<ByteRange> range{{one, all}};
  EXPECT_EQ(set_.ranges(kMany), range);
  const std::vector<ByteRange> counted{{one, kBytes}, {other, kBytes}};
  EXPECT_EQ(set_.by_allocation(memory), counted);
}

TEST_F(ByteSetTest, TakesTheWordsAndBytesOfALog) {
  TrafficLog log;
  TrafficEntry words{.count = 2, .words = 0x0f, .kind = TrafficEntry::Kind::store};
  TrafficEntry halves{.words = 0x01, .kind = TrafficEntry::Kind::store};
  halves.set_sector(10);
  TrafficEntry narrow{.kind = TrafficEntry::Kind::bytes};
  narrow.sector_low = 0x6;
  log.entries = {words, halves, narrow, {.sector_low = 99, .kind = TrafficEntry::Kind::load}};
  set_.add(log, is_plain_store);
  const std::vector<ByteRange> touched{
      {kDeviceBase, 16}, {kDeviceBase + 32, 16}, {kDeviceBase + 321, 2}};
  EXPECT_EQ(set_.ranges(kMany), touched);
}

TEST_F(ByteSetTest, IsNotCompleteWhereItHasTooMuch) {
  set_.add({kDeviceBase, 1});
  set_.add({kDeviceBase + 2, 1});
  EXPECT_TRUE(set_.is_complete());
  set_.ranges(1);
  EXPECT_FALSE(set_.is_complete());
  ByteSet large;
  for (std::uint64_t at = 0; at <= 2 * ByteSet::kMostMemory; at += 1 << 16) {
    large.add({kDeviceBase + at, 1});
    if (!large.is_complete()) break;
  }
  EXPECT_FALSE(large.is_complete());
}

}  // namespace
}  // namespace simgpu::byte_set_test
