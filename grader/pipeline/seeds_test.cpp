#include "grader/pipeline/seeds.h"

#include <gtest/gtest.h>

#include <set>

namespace rooflab {
namespace {

TEST(SeedsTest, AreTheSameForTheSameCase) {
  EXPECT_EQ(case_seed(8812, 1, "gemm", "odd"), case_seed(8812, 1, "gemm", "odd"));
}

TEST(SeedsTest, DifferInEverythingThatNamesACase) {
  const std::set<std::uint64_t> seeds = {
      case_seed(8812, 1, "gemm", "odd"),  case_seed(8813, 1, "gemm", "odd"),
      case_seed(8812, 2, "gemm", "odd"),  case_seed(8812, 1, "gemv", "odd"),
      case_seed(8812, 1, "gemm", "tall"), case_seed(8812, 1, "gemmo", "dd")};
  EXPECT_EQ(seeds.size(), 6U);
}

TEST(SeedsTest, FreshOnesDifferAndCanBeTyped) {
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 8; ++i) {
    seeds.insert(fresh_seed());
    EXPECT_LT(*seeds.rbegin(), std::uint64_t{1} << 32);
  }
  EXPECT_GT(seeds.size(), 6U);
}

}  // namespace
}  // namespace rooflab
