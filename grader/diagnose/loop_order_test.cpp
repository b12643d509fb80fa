#include "grader/diagnose/loop_order.h"

#include <gtest/gtest.h>

namespace rooflab {
namespace {

/// Lines 3 to 8; store and read are lines 4 and 6.
std::string loop(const std::string& between, const std::string& behind = "") {
  return "__global__ void kernel(float* y) {\n"
         "  __shared__ float tile[32];\n"
         "  for (int k = 0; k < 4; ++k) {\n"
         "    if (k < 3) { tile[threadIdx.x] = y[k]; }\n" +
         between +
         "\n"
         "    for (int i = 0; i < 32; ++i) sum += tile[i];\n" +
         behind + "\n  }\n}\n";
}

std::optional<std::uint32_t> told(const std::string& source) {
  return loop_without_last_barrier(source, 4, 6, "__syncthreads");
}

TEST(LoopOrderTest, ABarrierBetweenStoreAndReadLeavesTheEndOfTheLoop) {
  EXPECT_EQ(told(loop("    __syncthreads();  // loaded")), 3U);
  EXPECT_EQ(told(loop("    __syncthreads();", "    y[k] = sum;")), 3U);
}

TEST(LoopOrderTest, NothingIsSaidWhereNoBarrierStandsBetweenForEveryThread) {
  EXPECT_EQ(told(loop("    // __syncthreads();")), std::nullopt);
  EXPECT_EQ(told(loop("    if (k > 0) __syncthreads();")), std::nullopt);
  EXPECT_EQ(told(loop("    if (k > 0) { __syncthreads(); }")), std::nullopt);
  EXPECT_EQ(told(loop("    __syncwarp();")), std::nullopt);
}

TEST(LoopOrderTest, NothingIsSaidWhereTheLoopEndsWithABarrier) {
  EXPECT_EQ(told(loop("    __syncthreads();", "    __syncthreads();")), std::nullopt);
}

TEST(LoopOrderTest, NothingIsSaidOutsideLoops) {
  EXPECT_EQ(told("void f() {\n  {\n\n    tile[x] = 1;\n    __syncthreads();\n    y = tile[0];\n}}"),
            std::nullopt);
  EXPECT_EQ(told(""), std::nullopt);
  EXPECT_EQ(loop_without_last_barrier(loop("__syncthreads();"), 6, 4, "__syncthreads"),
            std::nullopt);
}

}  // namespace
}  // namespace rooflab
