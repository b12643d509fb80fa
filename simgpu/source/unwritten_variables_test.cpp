#include "simgpu/source/unwritten_variables.h"

#include <gtest/gtest.h>

namespace simgpu {
namespace {

/// The object of a finding at the line with `HERE` in a comment.
std::string named(const std::string& body) {
  const std::string text =
      "template <int kTile>\n__global__ void k(const float* a, float* out, int n) {\n" + body +
      "\n}\n";
  Finding finding;
  finding.code = "RL0211";
  finding.where.file = "k.cu";
  finding.where.line =
      1 + static_cast<std::uint32_t>(std::count(
              text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("HERE")), '\n'));
  std::vector<Finding> findings{finding};
  name_unwritten_variables(findings,
                           [&](const std::string&) -> std::optional<std::string> { return text; });
  return findings.front().object;
}

TEST(UnwrittenVariables, AreNamedWithTheLineOfTheirDeclaration) {
  EXPECT_EQ(named("  float sum;\n  for (int i = 0; i < n; ++i) sum += a[i];  // HERE"),
            "variable sum, declared without a value in line 3");
}

TEST(UnwrittenVariables, MayBeArraysAndMembersOfAList) {
  EXPECT_EQ(named("  float sums[4][kTile];\n  sums[1][2] += a[n];  // HERE"),
            "variable sums, declared without a value in line 3");
  EXPECT_EQ(named("  int row = 1, best;\n  out[0] = best;  // HERE"),
            "variable best, declared without a value in line 3");
  EXPECT_EQ(
      named("  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;\n  f(acc);  // HERE"),
      "variable acc, declared without a value in line 3");
}

TEST(UnwrittenVariables, WithAValueAreNotNamed) {
  EXPECT_EQ(named("  float sum = 0;\n  sum += a[n];  // HERE"), "");
  EXPECT_EQ(named("  float sum{};\n  sum += a[n];  // HERE"), "");
  EXPECT_EQ(named("  __shared__ float tile[32];\n  out[0] = tile[n];  // HERE"), "");
}

TEST(UnwrittenVariables, OfAnotherFunctionAreNotNamed) {
  EXPECT_EQ(named("  float x;\n}\n__global__ void other(float x) {\n  out[0] = x;  // HERE"), "");
}

TEST(UnwrittenVariables, ThatNothingAssignsToComeFirst) {
  EXPECT_EQ(named("  float scale, sum;\n  scale = a[0];\n  sum += scale * a[1];  // HERE"),
            "variable sum, declared without a value in line 3");
  EXPECT_EQ(named("  float x, y;\n  out[0] = x + y;  // HERE"),
            "variable x or y, declared without a value in line 3 or 3");
}

TEST(UnwrittenVariables, AreLookedForWhereAFunctionIsCalled) {
  const std::string text =
      "float add(float a, float b) {\n  return a + b;\n}\nvoid k(float* o) {\n"
      "  float sum;\n  *o = add(sum, 1);\n}\n";
  Finding finding;
  finding.code = "RL0211";
  finding.where.file = "k.cu";
  finding.where.line = 2;
  finding.where.inlined_at.push_back({"add", "k.cu", 6, 1});
  std::vector<Finding> findings{finding};
  name_unwritten_variables(findings,
                           [&](const std::string&) -> std::optional<std::string> { return text; });
  EXPECT_EQ(findings.front().object, "variable sum, declared without a value in line 5");
}

}  // namespace
}  // namespace simgpu
