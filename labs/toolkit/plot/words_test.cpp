#include "labs/toolkit/plot/words.h"

#include <gtest/gtest.h>

namespace rooflab::plot {
namespace {

TEST(Words, ThreeDigitsAndAPrefixThatSuitsThem) {
  EXPECT_EQ(with_prefix(19.5e12, "FLOP/s"), "19.5 TFLOP/s");
  EXPECT_EQ(with_prefix(999.4, "B/s"), "999 B/s");
  EXPECT_EQ(with_prefix(999.6, "B/s"), "1.00 kB/s");
  EXPECT_EQ(with_prefix(0, "B/s"), "0 B/s");
  EXPECT_EQ(three_digits(0.08333), "0.0833");
  EXPECT_EQ(three_digits(1365.33), "1365");
  EXPECT_EQ(three_digits(1.2345e-9), "1.23e-09");
}

TEST(Words, TicksHaveNoTrailingZeros) {
  EXPECT_EQ(brief(0.01), "0.01");
  EXPECT_EQ(brief(5), "5");
  EXPECT_EQ(brief(10000), "10000");
  EXPECT_EQ(brief(2e7), "2e+07");
  EXPECT_EQ(brief_with_prefix(1e10), "10 G");
  EXPECT_EQ(brief_with_prefix(1), "1");
}

TEST(Words, ShortestReadsBackAsTheSameNumber) {
  for (const double value : {0.1 + 0.2, 1e-300, 19.5e12, 1.0 / 3}) {
    EXPECT_EQ(std::stod(shortest(value)), value);
  }
}

TEST(Words, RoundedKeepsNoZeros) {
  EXPECT_EQ(rounded(12.50, 1), "12.5");
  EXPECT_EQ(rounded(12.96, 1), "13");
  EXPECT_EQ(rounded(-0.04, 1), "0");
  EXPECT_EQ(rounded(100, 1), "100");
}

}  // namespace
}  // namespace rooflab::plot
