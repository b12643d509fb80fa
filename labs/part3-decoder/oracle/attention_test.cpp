#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "labs/part3-decoder/oracle/operations.h"
#include "labs/part3-decoder/oracle/tensors.h"
#include "labs/part3-decoder/oracle/testing/operations.h"

namespace rooflab {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

using testing::attention_values;
using testing::codes;
using testing::expect_same;
using testing::oracle;
using testing::with_type;

/// Softmax over every position of the text, with minus infinity where the mask is.
std::vector<long double> masked_attention(const Problem& problem) {
  const auto size = [&](const char* name) {
    return static_cast<int>(integer(problem.parameters, name, 0));
  };
  const int queries = size("query_length");
  const int keys = size("key_length");
  const int window = size("window");
  const int capacity = size("capacity");
  const double scale = real(problem.parameters, "scale");
  const Numbers q = widened(problem, "q");
  const Numbers k = widened(problem, "keys");
  const Numbers v = widened(problem, "values");
  std::vector<long double> out;
  for (int row = 0; row < 2 * queries * 4; ++row) {
    const int cache = (row / (4 * queries) * 2 + row % 4 / 2) * capacity;
    const int position = keys - queries + row / 4 % queries;
    std::vector<long double> weights;
    long double sum = 0;
    for (int j = 0; j < keys; ++j) {
      long double score = 0;
      for (int i = 0; i < 16; ++i) score += q[row * 16 + i] * k[(cache + j % capacity) * 16 + i];
      const bool visible = j <= position && (window == 0 || j > position - window);
      weights.push_back(visible ? expl(score * scale) : 0);
      sum += weights.back();
    }
    for (int i = 0; i < 16; ++i) {
      long double total = 0;
      for (int j = 0; j < keys; ++j) {
        if (weights[j] > 0) total += weights[j] * v[(cache + j % capacity) * 16 + i];
      }
      out.push_back(total / sum);
    }
  }
  return out;
}

TEST(AttentionOracleTest, ExpectsASoftmaxOverWhatTheMaskLeaves) {
  for (const Values& values : {attention_values(13, 13, 13, 0), attention_values(13, 13, 20, 5),
                               attention_values(1, 30, 31, 0), attention_values(1, 30, 6, 6),
                               attention_values(4, 30, 9, 6), attention_values(4, 11, 11, 0),
                               attention_values(1, 1, 3, 2)}) {
    SCOPED_TRACE(text_of(values));
    const Problem problem = oracle("attention")->make(with_type(values, "float"), 3);
    expect_same(oracle("attention")->expect(problem).at(0).value, masked_attention(problem));
  }
}

TEST(AttentionOracleTest, ToleratesProbabilitiesThatAreRoundedOnTheirWayToTensorCores) {
  const Problem problem =
      oracle("attention")->make(with_type(attention_values(1, 200, 200, 0), "bf16"), 3);
  const Expected expected = oracle("attention")->expect(problem).at(0);
  const double scale = real(problem.parameters, "scale");
  const Numbers q = widened(problem, "q");
  const Numbers k = widened(problem, "keys");
  const Numbers v = widened(problem, "values");
  for (int row = 0; row < 8; ++row) {
    const int cache = (row / 4 * 2 + row % 4 / 2) * 200;
    std::vector<float> scores;
    for (int j = 0; j < 200; ++j) {
      float score = 0;
      for (int i = 0; i < 16; ++i) {
        score += static_cast<float>(q[row * 16 + i]) * static_cast<float>(k[(cache + j) * 16 + i]);
      }
      scores.push_back(score * static_cast<float>(scale));
    }
    const float greatest = *std::ranges::max_element(scores);
    std::vector<float> out(16);
    float sum = 0;
    for (int j = 0; j < 200; ++j) {
      const float weight = std::exp(scores[j] - greatest);
      sum += weight;
      for (int i = 0; i < 16; ++i) {
        out[i] += static_cast<float>(rounded(ElementType::bfloat16, weight)) *
                  static_cast<float>(v[(cache + j) * 16 + i]);
      }
    }
    for (int i = 0; i < 16; ++i) {
      EXPECT_LE(
          std::abs(rounded(ElementType::bfloat16, out[i] / sum) - expected.value[row * 16 + i]),
          expected.tolerance[row * 16 + i]);
    }
  }
}

TEST(AttentionOracleTest, PutsNoNumbersWhereNoTokenEverWas) {
  const Problem problem =
      oracle("attention")->make(with_type(attention_values(4, 30, 40, 6), "bf16"), 3);
  const Numbers keys = widened(problem, "keys");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(std::isnan(keys[i]), i / 16 % 40 >= 30);
  }
}

TEST(AttentionOracleTest, KnowsItsMistakes) {
  for (const char* type : {"float", "bf16"}) {
    SCOPED_TRACE(type);
    EXPECT_THAT(codes("attention", with_type(attention_values(4, 30, 30, 6), type)),
                IsSupersetOf({"RL0473", "RL0474", "RL0475", "RL0476", "RL0477", "RL0478", "RL0479",
                              "RL0480", "RL0482"}));
    EXPECT_THAT(codes("attention", with_type(attention_values(1, 30, 7, 6), type)),
                IsSupersetOf({"RL0475", "RL0476", "RL0477", "RL0480"}));
    Values large = with_type(attention_values(4, 30, 30, 0), type);
    large["score_spread"] = 60.0;
    EXPECT_THAT(codes("attention", large), Contains("RL0481"));
  }
  EXPECT_THAT(codes("attention", with_type(attention_values(13, 13, 13, 0), "float")),
              Not(Contains("RL0479")));
}

TEST(AttentionOracleTest, ComputesAMistakeThatSeesAllKeysForAFewQueriesOfMany) {
  Values values = with_type(attention_values(20'001, 20'001, 20'001, 2), "float");
  values["batch"] = std::int64_t{1};
  const Problem problem = oracle("attention")->make(values, 3);
  EXPECT_TRUE(oracle("attention")->expect(problem).at(0).index.empty()) << "all are compared";
  const auto mistakes = oracle("attention")->mistakes(problem);
  ASSERT_FALSE(mistakes.empty());
  for (const KnownMistake& mistake : mistakes) {
    const std::size_t compared = mistake.outputs.at(0).index.size();
    EXPECT_GT(compared, 0U) << mistake.cause;
    EXPECT_LT(compared, problem.tensors.at(0).bytes() / sizeof(float) / 10) << mistake.cause;
  }
}

TEST(AttentionOracleTest, CountsPairsOfQueriesAndKeys) {
  Values values = with_type(attention_values(2048, 2048, 2048, 0), "bf16");
  values["batch"] = std::int64_t{1};
  values["head_dim"] = std::int64_t{256};
  values["key_value_heads"] = std::int64_t{1};
  EXPECT_NEAR(oracle("attention")->work(values).flops.at("bf16_tensor"), 8.59e9, 0.01e9);
  values["window"] = std::int64_t{512};
  EXPECT_NEAR(oracle("attention")->work(values).flops.at("bf16_tensor"), 3.76e9, 0.01e9);
  values["query_length"] = std::int64_t{1};
  const Work decode = oracle("attention")->work(values);
  EXPECT_EQ(decode.flops.at("fp32"), 4.0 * 1024 * 512);
  EXPECT_EQ(decode.compulsory_bytes, 2.0 * (2 * 1024 + 2 * 512 * 256) + 4);
}

TEST(AttentionOracleTest, JudgesASampleOfALargeCaseWithBothEnds) {
  Values values = with_type(attention_values(700, 700, 700, 0), "bf16");
  values["head_dim"] = std::int64_t{256};
  const Problem problem = oracle("attention")->make(values, 3);
  const Expected expected = oracle("attention")->expect(problem).at(0);
  const std::size_t row = 4 * 256;
  ASSERT_EQ(expected.index.size(), expected.value.size());
  EXPECT_LT(expected.index.size(), 1400 * row);
  EXPECT_GE(expected.index.size(), 64 * row);
  EXPECT_TRUE(std::ranges::is_sorted(expected.index));
  EXPECT_EQ(expected.index.front(), 0U);
  EXPECT_EQ(expected.index.back(), 1400 * row - 1);
  EXPECT_EQ(std::set<std::size_t>(expected.index.begin(), expected.index.end()).size(),
            expected.index.size());
}

}  // namespace
}  // namespace rooflab
