#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/tensors.h"

namespace rooflab {
namespace {

using ::testing::SizeIs;

std::unique_ptr<Oracle> oracle() { return oracle_registry().at("scaled_sum")(); }

TEST(ScaledSumOracleTest, AcceptsFloat32ArithmeticFusedOrNot) {
  const Problem problem = oracle()->make({{"n", std::int64_t{4099}}}, 7);
  const Expected expected = oracle()->expect(problem).at(0);
  const auto s = static_cast<float>(real(problem.parameters, "s"));
  const auto x = floats(tensor(problem, "x"));
  const auto y = floats(tensor(problem, "y"));
  ASSERT_THAT(expected.value, SizeIs(4099));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float product = s * x[i];
    for (const float got : {std::fma(s, x[i], y[i]), product + y[i]}) {
      ASSERT_LE(std::abs(got - expected.value[i]), expected.tolerance[i]) << i;
    }
  }
}

TEST(ScaledSumOracleTest, TellsAForgottenScaleFromTheRightResult) {
  const Problem problem = oracle()->make({{"n", std::int64_t{100}}}, 8);
  const Expected right = oracle()->expect(problem).at(0);
  ASSERT_THAT(oracle()->mistakes(problem), SizeIs(1));
  const KnownMistake mistake = oracle()->mistakes(problem).at(0);
  EXPECT_EQ(mistake.code, Code("RL0441"));
  for (std::size_t i = 0; i < right.value.size(); ++i) {
    const float wrong = floats(tensor(problem, "x"))[i] + floats(tensor(problem, "y"))[i];
    EXPECT_NEAR(mistake.outputs.at(0).value[i], wrong, mistake.outputs.at(0).tolerance[i]) << i;
    EXPECT_GT(std::abs(right.value[i] - wrong), right.tolerance[i]) << i;
  }
}

TEST(ScaledSumOracleTest, CountsTwoFlopsAndTwelveBytesForEachElement) {
  const Work work = oracle()->work({{"n", std::int64_t{10}}});
  EXPECT_EQ(work.flops.at("fp32"), 20);
  EXPECT_EQ(work.compulsory_bytes, 120);
}

}  // namespace
}  // namespace rooflab
