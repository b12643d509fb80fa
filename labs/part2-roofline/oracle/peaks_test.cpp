#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <span>

#include "grader/contract/oracle.h"
#include "labs/part2-roofline/oracle/inputs.h"

namespace rooflab {
namespace {

TEST(Inputs, OfALargeInputHardlyTwoNumbersAreTheSame) {
  Random random(3);
  constexpr std::int64_t kCount = 1 << 18;
  const Tensor input = drawn_input("in", kCount, random, [&] { return uniform(random, -4, 4); });
  const std::span<const float> values = floats(input);
  const std::set<float> different(values.begin(), values.end());
  EXPECT_GT(different.size(), kCount * 9 / 10);
  EXPECT_GE(*different.begin(), -4.01F);
  EXPECT_LE(*different.rbegin(), 4.01F);
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / kCount, 0, 0.05);
}

using ::testing::Contains;
using ::testing::SizeIs;

std::unique_ptr<Oracle> peaks() { return oracle_registry().at("peaks")(); }

constexpr float kA = 0.998F;
constexpr float kB = 0.001F;

Values fma(std::int64_t n, std::int64_t steps) {
  return {{"function", std::string("fma_peak")},
          {"n", n},
          {"steps", steps},
          {"a", double{kA}},
          {"b", double{kB}}};
}

Values sum(std::int64_t n) { return {{"function", std::string("sum_chunks")}, {"n", n}}; }

/// A fused multiply-add by another way than std::fma: exact in 113 bits, then rounded once.
float fused(float a, float x, float b) {
  return static_cast<float>(static_cast<_Float128>(a) * x + b);
}

float chain(float x, std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) x = fused(kA, x, kB);
  return x;
}

TEST(PeaksOracleTest, ExpectsEachChainToTheLastBit) {
  const Problem problem = peaks()->make(fma(300, 77), 5);
  const std::span<const float> in = floats(problem.tensors.at(0));
  const Expected out = peaks()->expect(problem).at(0);
  EXPECT_EQ(out.tensor, "out");
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(out.value[i], chain(in[i], 77));
    EXPECT_EQ(out.tolerance[i], 0);
  }
}

TEST(PeaksOracleTest, KnowsWrongChains) {
  const Problem problem = peaks()->make(fma(50, 77), 5);
  const std::span<const float> in = floats(problem.tensors.at(0));
  const auto codes = [&](const std::function<float(float)>& wrong) {
    std::set<std::string> found;
    for (const KnownMistake& mistake : peaks()->mistakes(problem)) {
      bool same = true;
      for (std::size_t i = 0; i < in.size(); ++i) {
        same = same && mistake.outputs.at(0).value[i] == wrong(in[i]);
      }
      if (same) found.insert(mistake.code.text());
    }
    return found;
  };
  EXPECT_THAT(codes([](float) { return chain(1, 77); }), Contains("RL0447"));
  EXPECT_THAT(codes([](float x) { return x; }), Contains("RL0447"));
  EXPECT_THAT(codes([](float x) { return chain(x, 76); }), Contains("RL0448"));
  EXPECT_THAT(codes([](float x) { return chain(x, 64); }), Contains("RL0448"));
  EXPECT_THAT(codes([](float x) {
                for (int i = 0; i < 77; ++i) {
                  x = static_cast<float>(static_cast<double>(kA) * x) + kB;
                }
                return x;
              }),
              Contains("RL0449"));
  EXPECT_THAT(codes([](float x) {
                for (int i = 0; i < 77; ++i) x = kA * (x + kB);
                return x;
              }),
              Contains("RL0449"));
  EXPECT_THAT(codes([](float x) { return chain(x, 77); }), testing::IsEmpty());
}

TEST(PeaksOracleTest, SumsChunksInAnyOrderAndMissesNoElement) {
  const std::int64_t n = 2 * 4096 + 17;
  const Problem problem = peaks()->make(sum(n), 5);
  const std::span<const float> in = floats(problem.tensors.at(0));
  const Expected sums = peaks()->expect(problem).at(0);
  ASSERT_THAT(sums.value, SizeIs(3));
  for (std::size_t chunk = 0; chunk < 3; ++chunk) {
    const std::size_t first = chunk * 4096;
    const std::size_t last = std::min(first + 4096, in.size());
    float forwards = 0;
    for (std::size_t i = first; i < last; ++i) forwards += in[i];
    float backwards = 0;
    for (std::size_t i = last; i > first; --i) backwards += in[i - 1];
    EXPECT_NEAR(forwards, sums.value[chunk], sums.tolerance[chunk]);
    EXPECT_NEAR(backwards, sums.value[chunk], sums.tolerance[chunk]);
    EXPECT_LT(sums.tolerance[chunk], 1) << "elements lie in (-4, 4)";
  }
}

TEST(PeaksOracleTest, AcceptsEverySumInFloatOfThousandsOfChunks) {
  const Problem problem = peaks()->make(sum(std::int64_t{3000} * 4096), 5);
  const std::span<const float> in = floats(problem.tensors.at(0));
  const Expected sums = peaks()->expect(problem).at(0);
  for (std::size_t chunk = 0; chunk < sums.value.size(); ++chunk) {
    float sum = 0;
    for (std::size_t i = 0; i < 4096; ++i) sum += in[chunk * 4096 + i];
    EXPECT_NEAR(sum, sums.value[chunk], sums.tolerance[chunk]);
  }
}

TEST(PeaksOracleTest, KnowsSumsOfTheFirstWarpAlone) {
  const Problem problem = peaks()->make(sum(4096), 5);
  const std::span<const float> in = floats(problem.tensors.at(0));
  double first_warp = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i / 4 % 256 < 32) first_warp += in[i];
  }
  std::set<std::string> codes;
  for (const KnownMistake& mistake : peaks()->mistakes(problem)) {
    if (std::abs(mistake.outputs.at(0).value.at(0) - first_warp) < 1e-9)
      codes.insert(mistake.code.text());
  }
  EXPECT_THAT(codes, Contains("RL0418"));
}

TEST(PeaksOracleTest, CountsTwoFlopsForEachStepAndOneForEachAddition) {
  EXPECT_EQ(peaks()->work(fma(100, 7)).flops.at("fp32"), 1400);
  EXPECT_EQ(peaks()->work(fma(100, 7)).compulsory_bytes, 800);
  EXPECT_EQ(peaks()->work(sum(8192)).flops.at("fp32"), 8190);
  EXPECT_EQ(peaks()->work(sum(8192)).compulsory_bytes, 4 * 8194);
}

}  // namespace
}  // namespace rooflab
