#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "labs/oracle_support/tensors.h"
#include "labs/part5-flash-attention/oracle/attention_oracle.h"

namespace rooflab {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::unique_ptr<Oracle> step_oracle(const std::string& name) {
  return oracle_registry().at(name)();
}

std::set<std::string> codes_of_step(const std::string& name, const Values& parameters) {
  std::set<std::string> found;
  const Problem problem = step_oracle(name)->make(parameters, 21);
  for (const KnownMistake& mistake : step_oracle(name)->mistakes(problem)) {
    found.insert(mistake.code.text());
  }
  return found;
}

/// What the first mistake of this cause makes of the problem.
const Expected& out_of(const std::vector<KnownMistake>& mistakes, const std::string& cause) {
  for (const KnownMistake& mistake : mistakes) {
    if (mistake.cause.find(cause) != std::string::npos) return mistake.outputs.at(0);
  }
  throw std::out_of_range(cause);
}

TEST(ScoresOracleTest, AgreesWithLoopsInAWiderTypeAndInFp32) {
  const Problem problem = step_oracle("flash_scores")->make({}, 3);
  const Expected scores = step_oracle("flash_scores")->expect(problem).at(0);
  const std::span<const float> q = floats(tensor(problem, "q")), k = floats(tensor(problem, "k"));
  const double scale = std::get<double>(problem.parameters.at("scale"));
  ASSERT_EQ(scores.value.size(), 32u * 32u);
  for (std::size_t i = 0; i < 32; ++i) {
    for (std::size_t j = 0; j < 32; ++j) {
      long double exact = 0;
      float in_fp32 = 0;
      for (std::size_t d = 64; d-- > 0;) {
        exact += static_cast<long double>(q[i * 64 + d]) * k[j * 64 + d];
        in_fp32 += q[i * 64 + d] * k[j * 64 + d];
      }
      const std::size_t at = i * 32 + j;
      EXPECT_NEAR(scores.value[at], static_cast<double>(exact * scale),
                  1e-6 * scores.tolerance[at]);
      EXPECT_NEAR(scores.value[at], static_cast<float>(scale) * in_fp32, scores.tolerance[at]);
      EXPECT_LT(scores.tolerance[at], 1e-4);
    }
  }
}

TEST(ScoresOracleTest, KnowsItsMistakes) {
  EXPECT_THAT(codes_of_step("flash_scores", {}),
              IsSupersetOf({"RL0412", "RL0414", "RL0417", "RL0475"}));
}

TEST(ScoresOracleTest, WantsEachElementToBeLoadedOnceWhereACaseAsksForIt) {
  const auto complaints = [](const Values& parameters, std::uint64_t values) {
    CallEvidence evidence{.results = {}, .activity = {}, .keeps_records = true};
    simgpu::KernelRecord& kernel = evidence.activity.kernels.emplace_back();
    kernel.counters.global_load_bytes = sizeof(float) * values;
    const Problem problem = step_oracle("flash_scores")->make(parameters, 3);
    return step_oracle("flash_scores")->judge(problem, evidence).size();
  };
  const Values asks = {{"judges_structure", std::int64_t{1}}};
  EXPECT_EQ(complaints(asks, 2 * 32 * 64), 0u);
  EXPECT_EQ(complaints(asks, 2 * 32 * 64 * 32), 1u);
  EXPECT_EQ(complaints({}, 2 * 32 * 64 * 32), 0u);
}

TEST(ScoresOracleTest, InHalfPrecisionKnowsFragmentsThatAreNotTransposed) {
  const Problem problem = step_oracle("flash_mma_scores")->make({}, 21);
  const std::vector<double> q = widened(problem, "q"), k = widened(problem, "k");
  const Expected& wrong =
      out_of(step_oracle("flash_mma_scores")->mistakes(problem), "not transposed");
  const double scale = std::get<double>(problem.parameters.at("scale"));
  // What load_b in place of load_b_transposed multiplies: column n of a fragment is column n of the
  // tile, of keys 16 block ... 16 block + 15.
  double sum = 0;
  const std::size_t row = 5, key = 16 + 3;
  for (std::size_t d = 0; d < 64; ++d) {
    sum += q[row * 64 + d] * k[(16 + d % 16) * 64 + d / 16 * 16 + key % 16];
  }
  EXPECT_NEAR(wrong.value[row * 32 + key], scale * sum, 1e-9 * std::abs(sum) + 1e-12);
  EXPECT_THAT(codes_of_step("flash_mma_scores", {}),
              IsSupersetOf({"RL0412", "RL0414", "RL0417", "RL0475"}));
  EXPECT_EQ(step_oracle("flash_mma_scores")->work({}).flops.at("fp16_tensor"), 2.0 * 32 * 32 * 64);
}

TEST(ScoresOracleTest, InHalfPrecisionWantsAllProductsOnTensorCoresWhereACaseAsksForIt) {
  const auto complaints = [](const char* name, const Values& parameters, const char* peak,
                             std::uint64_t flops) {
    CallEvidence evidence{.results = {}, .activity = {}, .keeps_records = true};
    evidence.activity.kernels.emplace_back().counters.flops[peak] = flops;
    const Problem problem = step_oracle(name)->make(parameters, 3);
    return step_oracle(name)->judge(problem, evidence).size();
  };
  const Values asks = {{"judges_structure", std::int64_t{1}}};
  constexpr std::uint64_t kScores = 2 * 32 * 32 * 64;
  EXPECT_EQ(complaints("flash_mma_scores", asks, "fp16_tensor", kScores), 0u);
  EXPECT_EQ(complaints("flash_mma_scores", asks, "fp16_tensor", kScores - 1), 1u);
  EXPECT_EQ(complaints("flash_mma_scores", asks, "fp32", kScores), 1u);
  EXPECT_EQ(complaints("flash_mma_scores", {}, "fp32", kScores), 0u);
  Values softmax = asks;
  softmax["query_length"] = std::int64_t{32};
  EXPECT_EQ(complaints("flash_mma_step", softmax, "fp16_tensor", 2 * kScores), 0u);
  EXPECT_EQ(complaints("flash_mma_step", softmax, "fp16_tensor", kScores), 1u);
}

TEST(StepOracleTest, KnowsTheSlipsOfFragments) {
  const Values parameters = {{"query_length", std::int64_t{32}}};
  const Problem problem = step_oracle("flash_mma_step")->make(parameters, 21);
  const std::vector<KnownMistake> mistakes = step_oracle("flash_mma_step")->mistakes(problem);
  const Expected right = step_oracle("flash_mma_step")->expect(problem).at(0);
  const Expected& first_sums = out_of(mistakes, "both rows of a lane");
  // Rows 0 to 7 are right, rows 8 to 15 are off by one factor each.
  EXPECT_EQ(first_sums.value[7 * 64], right.value[7 * 64]);
  const double factor = first_sums.value[9 * 64] / right.value[9 * 64];
  EXPECT_GT(std::abs(factor - 1), 1e-3);
  EXPECT_NEAR(first_sums.value[9 * 64 + 5], factor * right.value[9 * 64 + 5],
              1e-9 * std::abs(right.value[9 * 64 + 5] * factor));
  EXPECT_THAT(codes_of_step("flash_mma_step", parameters), IsSupersetOf({"RL0412", "RL0482"}));
}

TEST(StepOracleTest, IsFlashAttentionOfOneHead) {
  const Values named = {{"query_length", std::int64_t{64}}, {"key_length", std::int64_t{96}}};
  Values all = named;
  for (const char* one : {"batch", "query_heads", "key_value_heads"}) all[one] = std::int64_t{1};
  all["head_dim"] = std::int64_t{64};
  all["causal"] = std::int64_t{0};
  all["type"] = std::string("float");
  const Problem step = step_oracle("flash_step")->make(named, 3);
  const Problem whole = step_oracle("flash_forward")->make(all, 3);
  const std::vector<Expected> of_step = step_oracle("flash_step")->expect(step);
  const std::vector<Expected> of_whole = step_oracle("flash_forward")->expect(whole);
  EXPECT_EQ(of_step.at(0).value, of_whole.at(0).value);
  EXPECT_EQ(of_step.at(1).value, of_whole.at(1).value);
  EXPECT_EQ(step_oracle("flash_step")->work(named).flops.at("fp32"), 4.0 * 64 * 64 * 96);
  EXPECT_EQ(step_oracle("flash_step")->work({{"query_length", std::int64_t{32}}}).flops.at("fp32"),
            4.0 * 64 * 32 * 32);
}

TEST(StepOracleTest, KnowsTheSumOfOneLaneAndTheMaximumOfOneTile) {
  const Values one_tile = {{"query_length", std::int64_t{32}}};
  EXPECT_THAT(codes_of_step("flash_step", one_tile), Contains("RL0482"));
  Values tiles = {{"query_length", std::int64_t{64}}, {"key_length", std::int64_t{128}}};
  EXPECT_THAT(codes_of_step("flash_step", tiles),
              IsSupersetOf({"RL0482", "RL0520", "RL0521", "RL0534"}));
  // Of scores that are not far apart, the maximum of each tile does as well as that of all.
  EXPECT_THAT(codes_of_step("flash_step", tiles), Not(Contains("RL0481")));
  tiles["score_spread"] = 3000.0;
  EXPECT_THAT(codes_of_step("flash_step", tiles), Contains("RL0481"));
}

TEST(StepOracleTest, KnowsWaysToRescaleWrongly) {
  const Problem problem =
      step_oracle("flash_step")
          ->make({{"query_length", std::int64_t{64}}, {"key_length", std::int64_t{128}}}, 21);
  std::string causes;
  for (const KnownMistake& mistake : step_oracle("flash_step")->mistakes(problem)) {
    causes += mistake.cause + "\n";
  }
  for (const char* cause : {"each of the tiles of 32 keys has a maximum of its own",
                            "rescaled before each key instead of once for each tile",
                            "divided after each tile instead of once at the end"}) {
    EXPECT_THAT(causes, ::testing::HasSubstr(cause));
  }
}

TEST(StepOracleTest, KnowsALoopThatEndsWithTheFirstQueryOfABlock) {
  const Problem problem = step_oracle("flash_step")
                              ->make({{"query_length", std::int64_t{40}},
                                      {"key_length", std::int64_t{77}},
                                      {"causal", std::int64_t{1}}},
                                     21);
  const Expected right = step_oracle("flash_step")->expect(problem).at(0);
  const std::vector<KnownMistake> mistakes = step_oracle("flash_step")->mistakes(problem);
  const Expected& wrong = out_of(mistakes, "tiles of 32 keys ends where the first query");
  // The first of 32 queries sees keys up to 37, the tile's last is 63: query 27 misses key 64.
  for (std::size_t row = 0; row < 40; ++row) {
    const double off = std::abs(wrong.value[row * 64] - right.value[row * 64]);
    EXPECT_EQ(off > 0, row >= 27 && row < 32) << row;
  }
}

TEST(StepOracleTest, DividesByTheSumOfTheLaneThatStoresTheColumn) {
  const Problem problem = step_oracle("flash_step")->make({{"query_length", std::int64_t{32}}}, 3);
  const std::vector<KnownMistake> mistakes = step_oracle("flash_step")->mistakes(problem);
  const Expected& wrong = out_of(mistakes, "each lane of a warp");
  const Expected out = step_oracle("flash_step")->expect(problem).at(0);
  const std::span<const float> q = floats(tensor(problem, "q")), k = floats(tensor(problem, "k"));
  const double scale = std::get<double>(problem.parameters.at("scale"));
  double sum = 0, largest = -std::numeric_limits<double>::infinity();
  std::vector<double> scores(32);
  for (std::size_t j = 0; j < 32; ++j) {
    for (std::size_t d = 0; d < 64; ++d) scores[j] += scale * q[d] * k[j * 64 + d];
    largest = std::max(largest, scores[j]);
  }
  for (const double score : scores) sum += std::exp(score - largest);
  for (std::size_t column = 0; column < 64; ++column) {
    const double own = std::exp(scores[column % 32] - largest);
    EXPECT_NEAR(wrong.value[column], out.value[column] * sum / own,
                1e-9 * std::abs(wrong.value[column]));
  }
}

}  // namespace
}  // namespace rooflab
