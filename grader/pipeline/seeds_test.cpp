#include "grader/pipeline/seeds.h"

#include <gtest/gtest.h>

#include <set>

namespace rooflab {
namespace {

TEST(SeedsTest, AreTheSameForTheSameCase) {
  EXPECT_EQ(case_seeds(8812, 1, "gemm", "odd"), case_seeds(8812, 1, "gemm", "odd"));
}

TEST(SeedsTest, DifferInEverythingThatNamesACase) {
  std::set<std::uint64_t> seeds;
  for (const CaseSeeds& of_case :
       {case_seeds(8812, 1, "gemm", "odd"), case_seeds(8813, 1, "gemm", "odd"),
        case_seeds({1, 8812}, 1, "gemm", "odd"), case_seeds(8812, 2, "gemm", "odd"),
        case_seeds(8812, 1, "gemv", "odd"), case_seeds(8812, 1, "gemm", "tall"),
        case_seeds(8812, 1, "gemmo", "dd"), case_seeds(8812, 1, "gemm 3", "odd")}) {
    seeds.insert(of_case.inputs);
    seeds.insert(of_case.selection);
    seeds.insert(of_case.blocks);
  }
  EXPECT_EQ(seeds.size(), 24U);
}

TEST(SeedsTest, FreshOnesDifferInBothHalves) {
  std::set<std::uint64_t> halves;
  for (int i = 0; i < 8; ++i) {
    const Seed seed = fresh_seed();
    halves.insert(seed.high);
    halves.insert(seed.low);
  }
  EXPECT_EQ(halves.size(), 16U);
}

TEST(SeedsTest, OfASourceDependOnTheClassAndTheSource) {
  EXPECT_EQ(seed_of_source(7, "abc"), seed_of_source(7, "abc"));
  EXPECT_NE(seed_of_source(7, "abc"), seed_of_source(8, "abc"));
  EXPECT_NE(seed_of_source(7, "abc"), seed_of_source(7, "abd"));
  EXPECT_NE(seed_of_source(7, "abc"), Seed(7));
}

}  // namespace
}  // namespace rooflab
