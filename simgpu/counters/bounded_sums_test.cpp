#include "simgpu/counters/bounded_sums.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "simgpu/counters/atomic_contention.h"

namespace simgpu::bounded_sums_test {
namespace {

TEST(BoundedSums, AreExactAsLongAsThereIsRoom) {
  BoundedSums<SliceUse> sums(3);
  for (const std::uint64_t key : {7, 8, 7, 9, 7}) sums[key] += {2};
  EXPECT_EQ(sums.at(7).requests, 6U);
  EXPECT_EQ(sums.at(9).requests, 2U);
  EXPECT_EQ(sums.at(10).requests, 0U);
  EXPECT_EQ(sums.keys(), 3U);
}

TEST(BoundedSums, AreNeverTooSmallAndTooLargeByLittle) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    const std::size_t room = 8 + random() % 60;
    BoundedSums<SliceUse> sums(room);
    std::map<std::uint64_t, std::uint64_t> exact;
    std::uint64_t all = 0;
    for (int i = 0; i < 4000; ++i) {
      // Few keys often, and many once, in any order.
      const std::uint64_t key = random() % 4 == 0 ? random() % 5 : random() % 3000;
      const std::uint64_t more = 1 + random() % 3;
      sums[key] += {more};
      exact[key] += more;
      all += more;
    }
    for (const auto& [key, sum] : exact) {
      EXPECT_GE(sums.at(key).requests, sum) << "seed " << seed << ", key " << key;
      EXPECT_LE(sums.at(key).requests, sum + 2 * all / room + 3) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace simgpu::bounded_sums_test
