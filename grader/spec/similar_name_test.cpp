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

TEST(SimilarName, OfTwoThatAreEquallyCloseIsNone) {
  EXPECT_EQ(similar_name("RL0303", {"RL0301", "RL0302"}), "");
  EXPECT_EQ(did_you_mean("RL03011", {"RL0301", "RL0302"}), "; did you mean RL0301?");
  EXPECT_EQ(did_you_mean(std::string(100000, 'x'), {"RL0301"}), "");
}

}  // namespace
}  // namespace rooflab
