#include "labs/oracle_support/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace rooflab {
namespace {

using ::testing::ElementsAre;

/// The length of the shortest linear recurrence over GF(2) that makes these bits (Berlekamp and
/// Massey, 1969). Of bits that nothing foretells it is half their number.
template <typename Generator>
std::size_t linear_complexity(Generator& generator, std::size_t count) {
  const std::size_t words = count / 64 + 2;
  using Bits = std::vector<std::uint64_t>;
  const auto add_shifted = [&](Bits& to, const Bits& from, std::size_t by) {
    for (std::size_t i = words; i-- > by / 64;) {
      const std::size_t at = i - by / 64;
      to[i] ^= from[at] << (by % 64);
      if (by % 64 != 0 && at > 0) to[i] ^= from[at - 1] >> (64 - by % 64);
    }
  };
  Bits recurrence(words), before(words), latest(words);  // the newest bit is bit 0 of latest
  recurrence[0] = before[0] = 1;
  std::size_t length = 0, since = 1;
  for (std::size_t n = 0; n < count; ++n, ++since) {
    for (std::size_t i = words; i-- > 1;) latest[i] = latest[i] << 1 | latest[i - 1] >> 63;
    latest[0] = latest[0] << 1 | generator() >> 63;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i <= length / 64; ++i) sum ^= recurrence[i] & latest[i];
    if (__builtin_parityll(sum) == 0) continue;
    const Bits kept = recurrence;
    add_shifted(recurrence, before, since);
    if (2 * length > n) continue;
    length = n + 1 - length;
    before = kept;
    since = 0;
  }
  return length;
}

TEST(RandomTest, ItsNumbersFollowFromNoLinearRecurrence) {
  constexpr std::size_t kBits = 44'000;
  std::mt19937_64 linear(1);
  EXPECT_EQ(linear_complexity(linear, kBits), 19937U) << "the Mersenne Twister's state";
  Random random(1);
  EXPECT_NEAR(static_cast<double>(linear_complexity(random, kBits)), kBits / 2.0, 40);
}

TEST(RandomTest, MakesTheStreamOfChaCha) {
  // RFC 8439, 2.3.2.
  const std::array<std::uint32_t, 8> key{0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
                                         0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c};
  const std::array<std::uint32_t, 3> nonce{0x09000000, 0x4a000000, 0};
  EXPECT_THAT(chacha_block(key, 1, nonce, 20),
              ElementsAre(0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3, 0xc7f4d1c7, 0x0368c033,
                          0x9aaa2204, 0x4e6cd4c3, 0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                          0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2));
  // Eight rounds, a key of zeros: 3e00ef2f895f40d6… (draft-strombergson-chacha-test-vectors, TC1).
  Random random(0);
  EXPECT_EQ(random(), 0xd6405f892fef003e);
}

TEST(RandomTest, GivesTheSameNumbersWhereverABlockEnds) {
  const std::uint64_t seed = 0x0123456789abcdef;
  Random random(seed);
  const std::array<std::uint32_t, 8> key{0x89abcdef, 0x01234567};
  for (std::uint32_t block = 0; block < 20; ++block) {
    const auto words = chacha_block(key, block, std::array<std::uint32_t, 3>{}, 8);
    for (std::size_t i = 0; i < words.size(); i += 2) {
      EXPECT_EQ(random(), words[i] | std::uint64_t{words[i + 1]} << 32);
    }
  }
  EXPECT_NE(Random(seed)(), Random(seed + 1)());
}

}  // namespace
}  // namespace rooflab
