#include "grader/spec/seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace rooflab {
namespace {

TEST(SeedTest, IsReadAsItWasWritten) {
  for (const Seed& seed :
       {Seed(), Seed(8812), Seed(~0U), Seed(~std::uint64_t{0}), Seed(1, 0),
        Seed(0x0123456789abcdefU, 0xfedcba9876543210U), Seed(~std::uint64_t{0}, 15)}) {
    EXPECT_EQ(seed_of(text_of(seed)), seed) << text_of(seed);
  }
}

TEST(SeedTest, OfSixtyFourBitsIsWrittenInDecimal) {
  EXPECT_EQ(text_of(Seed(8812)), "8812");
  EXPECT_EQ(text_of(Seed(1, 2)), "0x00000000000000010000000000000002");
}

TEST(SeedTest, MayHaveFewerHexadecimalDigits) {
  EXPECT_EQ(seed_of("0xff"), Seed(255));
  EXPECT_EQ(seed_of("0x10000000000000002"), Seed(1, 2));
}

TEST(SeedTest, RefusesWhatIsNoSeedOrDoesNotFit) {
  for (const char* text :
       {"", "-1", "+1", " 1", "1 ", "1.5", "0x", "0xg", "0x-1", "1e3", "x", "18446744073709551616",
        "99999999999999999999999", "0x123456789012345678901234567890123"}) {
    EXPECT_THROW(seed_of(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace rooflab
