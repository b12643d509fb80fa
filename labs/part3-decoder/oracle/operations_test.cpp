#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <set>

#include "labs/part3-decoder/oracle/operations.h"
#include "labs/part3-decoder/oracle/tensors.h"

/// Each operation against its definition, computed another way, and against what right and wrong
/// implementations in float give.
namespace rooflab {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::unique_ptr<Oracle> oracle(const std::string& name) { return oracle_registry().at(name)(); }

Values with_type(Values values, const std::string& type) {
  values["type"] = type;
  return values;
}

const Values kNorm{{"rows", std::int64_t{9}}, {"width", std::int64_t{257}}};
const Values kRope{{"batch", std::int64_t{2}},
                   {"length", std::int64_t{3}},
                   {"heads", std::int64_t{2}},
                   {"head_dim", std::int64_t{16}},
                   {"first_position", std::int64_t{700}},
                   {"theta", 50000.0}};
const Values kGeglu{{"count", std::int64_t{3000}}};
const Values kCache{{"batch", std::int64_t{2}},    {"length", std::int64_t{9}},
                    {"heads", std::int64_t{3}},    {"head_dim", std::int64_t{4}},
                    {"capacity", std::int64_t{5}}, {"first_position", std::int64_t{3}}};

Values attention_values(std::int64_t queries, std::int64_t keys, std::int64_t capacity,
                        std::int64_t window) {
  return {{"batch", std::int64_t{2}},
          {"query_length", queries},
          {"key_length", keys},
          {"query_heads", std::int64_t{4}},
          {"key_value_heads", std::int64_t{2}},
          {"head_dim", std::int64_t{16}},
          {"capacity", capacity},
          {"window", window}};
}

std::set<std::string> codes(const std::string& name, const Values& values) {
  std::set<std::string> found;
  const Problem problem = oracle(name)->make(values, 21);
  for (const KnownMistake& mistake : oracle(name)->mistakes(problem)) found.insert(mistake.code);
  return found;
}

/// Right values must be the same to fp64's precision.
void expect_same(const std::vector<double>& got, const std::vector<long double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-12 * (1 + std::abs(expected[i]))) << i;
  }
}

/// What a GPU stores when it computes `values` in float must pass.
void expect_accepted(const std::vector<float>& values, const Expected& expected, ElementType type) {
  ASSERT_EQ(values.size(), expected.value.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_LE(std::abs(rounded(type, values[i]) - expected.value[i]), expected.tolerance[i]) << i;
  }
}

TEST(RoundingTest, RoundsToTheNearestBfloat16AndTiesToEven) {
  constexpr ElementType kType = ElementType::bfloat16;
  EXPECT_EQ(rounded(kType, 1 + 0x1p-8), 1);
  EXPECT_EQ(rounded(kType, 1 + 0x1.8p-7), 1 + 0x1p-6);
  EXPECT_EQ(rounded(kType, -(1 + 0x1.01p-8)), -(1 + 0x1p-7));
  EXPECT_EQ(half_ulp(kType, 1), 0x1p-8);
  EXPECT_EQ(half_ulp(ElementType::float32, -2), 0x1p-23);
  const Numbers values{1 + 0x1p-8, 1 + 0x1.8p-7, 3.14159, -1e-30, 0};
  const Problem problem{{}, {filled("x", kType, Role::input, {5}, values)}};
  const Numbers stored_values = widened(problem, "x");
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(stored_values[i], rounded(kType, values[i]));
  }
}

TEST(RmsNormOracleTest, ExpectsWhatTheDefinitionGives) {
  const Problem problem = oracle("rmsnorm")->make(with_type(kNorm, "float"), 3);
  const Numbers x = widened(problem, "x");
  const Numbers weight = widened(problem, "weight");
  std::vector<long double> y;
  std::vector<float> in_float;
  for (std::size_t row = 0; row < x.size(); row += weight.size()) {
    long double sum = 0;
    float float_sum = 0;
    for (std::size_t i = weight.size(); i-- > 0;) sum += powl(x[row + i], 2) / weight.size();
    for (std::size_t i = 0; i < weight.size(); ++i) {
      float_sum += static_cast<float>(x[row + i]) * static_cast<float>(x[row + i]);
    }
    const float scale = 1 / std::sqrt(float_sum / static_cast<float>(weight.size()) + 1e-6F);
    for (std::size_t i = 0; i < weight.size(); ++i) {
      y.push_back((x[row + i] + static_cast<long double>(x[row + i]) * weight[i]) /
                  sqrtl(sum + 1e-6L));
      in_float.push_back(static_cast<float>(x[row + i]) * scale *
                         (1 + static_cast<float>(weight[i])));
    }
  }
  const Expected expected = oracle("rmsnorm")->expect(problem).at(0);
  expect_same(expected.value, y);
  expect_accepted(in_float, expected, ElementType::float32);
}

TEST(RmsNormOracleTest, KnowsItsMistakesAndEarlyCastsOnlyWhereThereAreCasts) {
  EXPECT_THAT(codes("rmsnorm", with_type(kNorm, "float")),
              IsSupersetOf({"RL0460", "RL0461", "RL0462"}));
  EXPECT_THAT(codes("rmsnorm", with_type(kNorm, "float")), Not(Contains("RL0463")));
  EXPECT_THAT(codes("rmsnorm", with_type(kNorm, "bf16")),
              IsSupersetOf({"RL0460", "RL0461", "RL0462", "RL0463"}));
}

TEST(RmsNormOracleTest, RecognisesEarlyCastsAsFloatCodeMakesThem) {
  const Problem problem = oracle("rmsnorm")->make(with_type(kNorm, "bf16"), 5);
  const Numbers x = widened(problem, "x");
  const Numbers weight = widened(problem, "weight");
  const auto bf16 = [](float value) {
    return static_cast<float>(rounded(ElementType::bfloat16, value));
  };
  std::vector<double> got;
  for (std::size_t row = 0; row < x.size(); row += weight.size()) {
    float sum = 0;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      sum += static_cast<float>(x[row + i] * x[row + i]);
    }
    const float scale = 1 / std::sqrt(sum / static_cast<float>(weight.size()) + 1e-6F);
    for (std::size_t i = 0; i < weight.size(); ++i) {
      got.push_back(
          bf16(bf16(static_cast<float>(x[row + i]) * scale) * (1 + static_cast<float>(weight[i]))));
    }
  }
  bool known = false;
  for (const KnownMistake& mistake : oracle("rmsnorm")->mistakes(problem)) {
    if (mistake.code != "RL0463") continue;
    const Expected& output = mistake.outputs.at(0);
    bool same = true;
    for (std::size_t i = 0; i < got.size(); ++i) {
      same &= std::abs(got[i] - output.value[i]) <= output.tolerance[i];
    }
    known |= same;
  }
  EXPECT_TRUE(known);
}

TEST(RopeOracleTest, ExpectsARotationInTheComplexPlane) {
  for (const char* type : {"float", "bf16"}) {
    const Problem problem = oracle("rope")->make(with_type(kRope, type), 3);
    const Numbers x = widened(problem, "x");
    std::vector<long double> turned(x.size());
    std::vector<float> in_float(x.size());
    for (std::size_t row = 0; row < x.size() / 16; ++row) {
      const int position = 700 + static_cast<int>(row) / 2 % 3;
      for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t at = row * 16 + i;
        const long double angle = position / powl(50000.0L, static_cast<long double>(i) / 8);
        const auto pair =
            std::complex<long double>(x[at], x[at + 8]) * std::polar<long double>(1, angle);
        turned[at] = pair.real();
        turned[at + 8] = pair.imag();
        const float a = static_cast<float>(position) *
                        std::pow(50000.0F, -2.0F * static_cast<float>(i) / 16.0F);
        const auto first = static_cast<float>(x[at]);
        const auto second = static_cast<float>(x[at + 8]);
        in_float[at] = first * std::cos(a) - second * std::sin(a);
        in_float[at + 8] = second * std::cos(a) + first * std::sin(a);
      }
    }
    const Expected expected = oracle("rope")->expect(problem).at(0);
    expect_same(expected.value, turned);
    expect_accepted(in_float, expected, storage_type(problem.parameters));
  }
}

TEST(RopeOracleTest, KnowsItsMistakes) {
  for (const char* type : {"float", "bf16"}) {
    EXPECT_THAT(codes("rope", with_type(kRope, type)),
                IsSupersetOf({"RL0464", "RL0465", "RL0466", "RL0467", "RL0468"}));
  }
}

TEST(GegluOracleTest, ExpectsTheTanhFormWhichIsALogisticFunction) {
  for (const char* type : {"float", "bf16"}) {
    const Problem problem = oracle("geglu")->make(with_type(kGeglu, type), 3);
    const Numbers gate = widened(problem, "gate");
    const Numbers up = widened(problem, "up");
    std::vector<long double> out;
    std::vector<float> in_float;
    for (std::size_t i = 0; i < gate.size(); ++i) {
      const long double g = gate[i];
      const long double inner = sqrtl(8 / acosl(-1)) * (g + 0.044715L * g * g * g);
      out.push_back(g / (1 + expl(-inner)) * up[i]);
      const auto h = static_cast<float>(g);
      const float tanh = std::tanh(0.7978845608F * (h + 0.044715F * h * h * h));
      in_float.push_back(0.5F * h * (1 + tanh) * static_cast<float>(up[i]));
    }
    const Expected expected = oracle("geglu")->expect(problem).at(0);
    expect_same(expected.value, out);
    expect_accepted(in_float, expected, storage_type(problem.parameters));
    EXPECT_THAT(codes("geglu", with_type(kGeglu, type)), IsSupersetOf({"RL0469", "RL0470"}));
  }
}

TEST(GegluOracleTest, KnowsTheSlopeOfGelu) {
  for (const double x : {-3.0, -0.7, 0.0, 0.4, 2.5}) {
    EXPECT_NEAR(gelu_tanh_slope(x), (gelu_tanh(x + 1e-6) - gelu_tanh(x - 1e-6)) / 2e-6, 1e-8);
  }
}

TEST(KvCacheOracleTest, KeepsTheLastTokensEachInTheSlotOfItsPosition) {
  const Problem problem = oracle("kv_cache")->make(with_type(kCache, "bf16"), 3);
  const std::vector<Expected> expected = oracle("kv_cache")->expect(problem);
  const Numbers k = widened(problem, "k");
  for (int b = 0; b < 2; ++b) {
    for (int h = 0; h < 3; ++h) {
      for (int slot = 0; slot < 5; ++slot) {
        // Positions 3 … 11: the last five are 7 … 11.
        const int position = slot < 2 ? 10 + slot : 5 + slot;
        for (int i = 0; i < 4; ++i) {
          EXPECT_EQ(expected.at(0).value.at(((b * 3 + h) * 5 + slot) * 4 + i),
                    k.at(((b * 9 + position - 3) * 3 + h) * 4 + i));
        }
      }
    }
  }
  for (const double tolerance : expected.at(1).tolerance) EXPECT_EQ(tolerance, 0);
}

TEST(KvCacheOracleTest, LeavesOtherSlotsAsTheyAre) {
  Values values = with_type(kCache, "float");
  values["length"] = std::int64_t{2};
  const Problem problem = oracle("kv_cache")->make(values, 3);
  const Numbers before = widened(problem, "value_cache");
  const Numbers after = oracle("kv_cache")->expect(problem).at(1).value;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t slot = i / 4 % 5;
    EXPECT_EQ(before[i] == after[i], slot != 3 && slot != 4) << i;
  }
}

TEST(KvCacheOracleTest, KnowsItsMistakes) {
  EXPECT_THAT(codes("kv_cache", with_type(kCache, "bf16")),
              IsSupersetOf({"RL0471", "RL0472", "RL0473", "RL0474"}));
}

/// Softmax over every position of the text, with minus infinity where the mask is.
std::vector<long double> masked_attention(const Problem& problem) {
  const auto size = [&](const char* name) {
    return static_cast<int>(integer(problem.parameters, name, 0));
  };
  const int queries = size("query_length");
  const int keys = size("key_length");
  const int window = size("window");
  const int capacity = size("capacity");
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
      weights.push_back(visible ? expl(score / 4) : 0);
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
      scores.push_back(score / 4);
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

TEST(OracleTest, SaysWhichParameterACaseLacksOrCannotHave) {
  const auto refusal = [](const std::string& name, const Values& values) -> std::string {
    try {
      oracle(name)->make(values, 1);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing refused";
  };
  EXPECT_THAT(refusal("rmsnorm", with_type({{"rows", std::int64_t{1}}}, "float")),
              HasSubstr("`width`"));
  EXPECT_THAT(refusal("geglu", with_type(kGeglu, "half")), HasSubstr("\"float\" or \"bf16\""));
  EXPECT_THAT(refusal("attention", with_type(attention_values(4, 30, 8, 6), "float")),
              HasSubstr("at least 9"));
  EXPECT_THAT(refusal("attention", with_type(attention_values(4, 3, 8, 6), "float")),
              HasSubstr("`key_length`"));
}

TEST(OracleTest, MakesTheSameProblemFromTheSameSeedAndAnotherFromAnother) {
  const Values values = with_type(kNorm, "bf16");
  EXPECT_EQ(oracle("rmsnorm")->make(values, 7).tensors[0].data,
            oracle("rmsnorm")->make(values, 7).tensors[0].data);
  EXPECT_NE(oracle("rmsnorm")->make(values, 7).tensors[0].data,
            oracle("rmsnorm")->make(values, 8).tensors[0].data);
}

}  // namespace
}  // namespace rooflab
