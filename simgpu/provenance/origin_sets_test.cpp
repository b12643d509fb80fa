#include "simgpu/provenance/origin_sets.h"

#include <gtest/gtest.h>

#include "simgpu/provenance/byte_origins.h"

namespace simgpu {
namespace {

class Sets : public ::testing::Test {
 protected:
  /// A load of `bytes`, as it is.
  OriginSet load(unsigned bytes = 4) {
    return sets_.raw({sets_.add({.address = next_ += 16}).value(), 0, bytes});
  }
  OriginSet used_load() { return sets_.used(load()); }
  std::size_t size(OriginSet set) { return sets_.list(set, 100, 10'000).loads.size(); }

  OriginSets sets_;
  ByteOrigins values_{sets_};
  std::uint64_t next_ = 0;
};

TEST_F(Sets, HaveEachLoadOnce) {
  const OriginSet a = used_load(), b = used_load(), c = used_load();
  const OriginSet one = sets_.unite(sets_.unite(a, b), c),
                  other = sets_.unite(b, sets_.unite(c, a));
  EXPECT_EQ(size(sets_.unite(one, other)), 3U);
  EXPECT_EQ(sets_.unite(one, OriginSets::kNone), one);
  EXPECT_EQ(sets_.unite(one, one), one);
}

TEST_F(Sets, OfTheSamePartsAreKeptOnce) {
  const OriginSet a = used_load(), b = used_load();
  EXPECT_EQ(sets_.unite(a, b), sets_.unite(b, a));
  const std::size_t before = sets_.nodes();
  EXPECT_EQ(sets_.unite(sets_.unite(a, b), b), sets_.unite(a, b));
  EXPECT_EQ(sets_.nodes(), before);
}

TEST_F(Sets, OfLongSumsTakeAPairForEachTerm) {
  OriginSet sum = OriginSets::kNone;
  for (int i = 0; i < 1000; ++i) sum = sets_.unite(sum, used_load());
  EXPECT_LT(sets_.nodes(), 3100U);
  EXPECT_EQ(sets_.list(sum, 5000, 100'000).loads.size(), 1000U);
}

TEST_F(Sets, SayWhenSomethingIsLeftOut) {
  OriginSet sum = OriginSets::kNone;
  for (int i = 0; i < 10; ++i) sum = sets_.unite(sum, used_load());
  EXPECT_TRUE(sets_.list(sum, 10, 1000).complete);
  EXPECT_FALSE(sets_.list(sum, 9, 1000).complete);
  EXPECT_FALSE(sets_.list(sum, 10, 5).complete);
  EXPECT_FALSE(sets_.list(sets_.unite(sum, OriginSets::kUnknown), 10, 1000).complete);
}

TEST_F(Sets, ThatHaveNoRoomAreUnknown) {
  OriginSets few(8);
  OriginSet sum = OriginSets::kNone;
  for (int i = 0; i < 10; ++i) {
    const auto event = few.add({});
    sum = few.unite(sum, event ? few.used(few.raw({*event, 0, 4})) : OriginSets::kUnknown);
  }
  EXPECT_FALSE(few.list(sum, 100, 1000).complete);
}

TEST_F(Sets, PartsOfALoadAreItsBytesUntilSomethingIsComputed) {
  const OriginSet word = load();
  const ValueOrigins upper = values_.part(word, 2, 2);
  const auto listed = sets_.list(values_.used(upper), 10, 100).loads;
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].first, 2U);
  EXPECT_EQ(listed[0].count, 2U);
  EXPECT_EQ(values_.part(sets_.used(word), 2, 2), sets_.used(word));
}

TEST_F(Sets, WhatIsTakenApartComesTogetherAgain) {
  const OriginSet eight = load(8);
  const ValueOrigins low = values_.part(eight, 0, 4), high = values_.part(eight, 4, 4);
  EXPECT_EQ(values_.join(low, high), eight);
  EXPECT_NE(values_.join(high, low), eight);
  EXPECT_EQ(size(values_.used(values_.join(high, low))), 1U) << "the two halves of one load";
}

TEST_F(Sets, NarrowLoadsAreZeroAboveTheirBytes) {
  const OriginSet byte = load(1);
  EXPECT_EQ(values_.part(byte, 1, 1), OriginSets::kNone);
  EXPECT_EQ(values_.part(byte, 0, 1), byte);
}

}  // namespace
}  // namespace simgpu
