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
  const auto lines = slice_of(Code(kKernel), 8).unrelated;
  for (const std::uint32_t apart : {4u, 9u, 12u}) EXPECT_THAT(lines, Contains(apart));
}

TEST(Slice, KeepsWhatTheIndexIsComputedFromAndWhatDecides) {
  const auto lines = slice_of(Code(kKernel), 8).unrelated;
  for (const std::uint32_t related : {2u, 3u, 5u, 6u, 7u, 8u}) {
    EXPECT_THAT(lines, Not(Contains(related)));
  }
}

TEST(Slice, KeepsLaunchesWithTheirGridsAndBarriers) {
  const auto lines = slice_of(Code(kKernel), 8).unrelated;
  for (const std::uint32_t related : {13u, 17u, 19u}) EXPECT_THAT(lines, Not(Contains(related)));
  EXPECT_THAT(lines, Contains(18u));
}

TEST(Slice, KeepsTheConditionAroundWhatItKeeps) {
  const Code code(
      "void f(int n, int m, int* out) {\nif (n > 3) {\nint at = n;\nout[at] = 1;\n}\n"
      "if (m > 3) {\nint other = m;\n}\n}");
  EXPECT_THAT(slice_of(code, 4).unrelated, ::testing::ElementsAre(6u, 7u));
}

TEST(Slice, DoesNotRelateTwoCallsOfOneFunction) {
  const Code code(
      "void f(float* a, float* b, int n) {\nCHECK(copy(a, n));\nCHECK(clear(b));\n"
      "CHECK(copy(b, 4));\n}");
  EXPECT_THAT(slice_of(code, 4).unrelated, ::testing::ElementsAre(2u));
}

TEST(Slice, TellsHowManyStepsALineIsAway) {
  const auto related = slice_of(Code(kKernel), 8).related;
  EXPECT_EQ(related.at(8), 0u);
  EXPECT_EQ(related.at(5), 1u) << "at";
  EXPECT_EQ(related.at(6), 2u) << "the loop around it";
  EXPECT_EQ(related.at(2), 2u) << "row, of which at is made";
}

TEST(Slice, CountsWhatAnArrayHoldsAsFurtherAwayThanWhereItLies) {
  const Code code(
      "void f(const float* in, int n) {\nint at = n;\ntable[n] = 3;\nsum += table[at] * "
      "in[at];\n}");
  const auto related = slice_of(code, 4).related;
  EXPECT_EQ(related.at(2), 1u);
  EXPECT_GT(related.at(3), related.at(2));
}

TEST(Slice, OfALineWithoutNamesLeavesOutNothing) {
  EXPECT_THAT(slice_of(Code(kKernel), 99).unrelated, IsEmpty());
  EXPECT_THAT(slice_of(Code(""), 1).unrelated, IsEmpty());
  EXPECT_THAT(slice_of(Code("= = ] ) ++"), 1).unrelated, IsEmpty());
}

}  // namespace
}  // namespace rooflab::mutation
