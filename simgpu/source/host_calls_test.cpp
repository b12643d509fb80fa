#include "simgpu/source/host_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simgpu {
namespace {

using testing::ElementsAre;

TEST(HostCalls, ReadsLaunchesWithTheirTemplatesAndConfigurations) {
  const auto calls = host_calls(
      "void run() {\n"
      "  scale<float, 4><<<dim3(grid, 2), kThreads, 0, stream>>>(x, y);\n"
      "  clear <<< (n + 255) / 256,\n"
      "            256 >>> (y);\n"
      "}\n");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].name, "scale");
  EXPECT_EQ(calls[0].line, 2U);
  EXPECT_TRUE(calls[0].is_launch);
  EXPECT_THAT(calls[0].arguments, ElementsAre("dim3(grid,2)", "kThreads", "0", "stream"));
  EXPECT_FALSE(is_on_default_stream(calls[0]));
  EXPECT_EQ(calls[1].name, "clear");
  EXPECT_EQ(calls[1].line, 3U);
  EXPECT_THAT(calls[1].arguments, ElementsAre("(n+255)/256", "256"));
  EXPECT_TRUE(is_on_default_stream(calls[1]));
}

TEST(HostCalls, KnowsWhichCopiesAndFillsNameAStream) {
  const auto on_default = [](const char* source) {
    const auto calls = host_calls(source);
    return calls.size() == 1 && is_on_default_stream(calls[0]);
  };
  EXPECT_TRUE(on_default("cudaMemcpy(a, b, n, cudaMemcpyDeviceToHost);"));
  EXPECT_TRUE(on_default("cudaMemsetAsync(a, 0, n);"));
  EXPECT_TRUE(on_default("cudaMemsetAsync(a, 0, n, nullptr);"));
  EXPECT_FALSE(on_default("cudaMemsetAsync(a, 0, n, context.stream);"));
  EXPECT_FALSE(on_default("cudaMemcpyAsync(a, b, f(n, 2), kind, stream);"));
  EXPECT_TRUE(on_default("kernel<<<1, 2, 0, 0>>>();"));
  EXPECT_TRUE(on_default("kernel<<<1, 2, 0, cudaStreamPerThread>>>();"));
  EXPECT_FALSE(on_default("cublasSetStream(handle, stream);"));
}

TEST(HostCalls, TakesComparisonsAndShiftsForWhatTheyAre) {
  EXPECT_TRUE(host_calls("if (a < b && c > d) x = y << 3 >> 2;").empty());
  EXPECT_TRUE(host_calls("// kernel<<<1, 2>>>(x)\n").empty());
}

}  // namespace
}  // namespace simgpu
