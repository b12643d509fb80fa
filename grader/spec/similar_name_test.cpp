#include "grader/spec/similar_name.h"

#include <gtest/gtest.h>

namespace rooflab {
namespace {

TEST(SimilarName, IsTheOneAFewLettersAway) {
  const std::vector<std::string> tasks = {"gemv", "gemm_naive", "gemm_tiled", "counters"};
  EXPECT_EQ(similar_name("gmev", tasks), "gemv");
  EXPECT_EQ(similar_name("gemm_tield", tasks), "gemm_tiled");
  EXPECT_EQ(similar_name("counter", tasks), "counters");
  EXPECT_EQ(similar_name("attention", tasks), "");
  EXPECT_EQ(similar_name("", tasks), "");
}

TEST(SimilarName, IsFoundAmongKeysOfAFile) {
  const std::vector<std::string> keys = {"due", "extension", "grace_minutes", "step"};
  EXPECT_EQ(similar_name("grace_minuts", keys), "grace_minutes");
  EXPECT_EQ(similar_name("extention", keys), "extension");
  EXPECT_EQ(similar_name("steps", keys), "step");
  EXPECT_EQ(similar_name("duo", keys), "due");
  EXPECT_EQ(similar_name("pionts", {"hints", "points"}), "points") << "a swap is one change";
  EXPECT_EQ(similar_name("penalty", keys), "");
  EXPECT_EQ(similar_name("", keys), "");
  EXPECT_EQ(similar_name("x", {}), "");
  EXPECT_EQ(similar_name(std::string(1'000'000, 'd'), keys), "");
}

TEST(SimilarName, OfTwoThatAreEquallyCloseIsNone) {
  EXPECT_EQ(similar_name("RL0303", {"RL0301", "RL0302"}), "");
  EXPECT_EQ(did_you_mean("RL03011", {"RL0301", "RL0302"}), "; did you mean RL0301?");
  EXPECT_EQ(did_you_mean(std::string(100000, 'x'), {"RL0301"}), "");
}

}  // namespace
}  // namespace rooflab
