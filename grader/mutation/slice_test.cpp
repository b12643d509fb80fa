#include "grader/mutation/slice.h"

#include <gmock/gmock.h>

#include <string>

namespace rooflab::mutation {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kKernel = R"(__global__ void f(const float* in, float* out, int rows, int width) {
  const int row = blockIdx.x;
  const int column = threadIdx.x;
  float sum = 0;
  int at = row * width;
  for (int i = column; i < width;
       i += 32) {
    const float value = in[at + i];
    sum += value * value;
    if (value > 3.0f) sum = 3.0f;
  }
  float other = sqrtf(sum);
  __syncthreads();
  out[row] = other;
}
void host(const float* in, float* out, int n) {
  int blocks = n / 32;
  int unused = n * 7;
  f<<<blocks, 32>>>(in, out, n, 4);
})";

TEST(Slice, LeavesOutWhatAnAccessDoesNotDependOn) {
  const auto lines = unrelated_lines(Code(kKernel), 8);
  for (const std::uint32_t apart : {4u, 9u, 12u}) EXPECT_THAT(lines, Contains(apart));
}

TEST(Slice, KeepsWhatTheIndexIsComputedFromAndWhatDecides) {
  const auto lines = unrelated_lines(Code(kKernel), 8);
  for (const std::uint32_t related : {2u, 3u, 5u, 6u, 7u, 8u}) {
    EXPECT_THAT(lines, Not(Contains(related)));
  }
}

TEST(Slice, KeepsLaunchesWithTheirGridsAndBarriers) {
  const auto lines = unrelated_lines(Code(kKernel), 8);
  for (const std::uint32_t related : {13u, 17u, 19u}) EXPECT_THAT(lines, Not(Contains(related)));
  EXPECT_THAT(lines, Contains(18u));
}

TEST(Slice, KeepsTheConditionAroundWhatItKeeps) {
  const Code code(
      "void f(int n, int m, int* out) {\nif (n > 3) {\nint at = n;\nout[at] = 1;\n}\n"
      "if (m > 3) {\nint other = m;\n}\n}");
  EXPECT_THAT(unrelated_lines(code, 4), ::testing::ElementsAre(6u, 7u));
}

TEST(Slice, OfALineWithoutNamesLeavesOutNothing) {
  EXPECT_THAT(unrelated_lines(Code(kKernel), 99), IsEmpty());
  EXPECT_THAT(unrelated_lines(Code(""), 1), IsEmpty());
  EXPECT_THAT(unrelated_lines(Code("= = ] ) ++"), 1), IsEmpty());
}

}  // namespace
}  // namespace rooflab::mutation
