#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "labs/part3-decoder/oracle/operations.h"
#include "labs/part3-decoder/oracle/tensors.h"
#include "labs/part3-decoder/oracle/testing/operations.h"

/// Each operation against its definition, computed another way, and against what right and wrong
/// implementations in float give.
namespace rooflab {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

using testing::attention_values;
using testing::codes;
using testing::expect_accepted;
using testing::expect_same;
using testing::oracle;
using testing::with_type;

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
  const auto epsilon = static_cast<float>(real(problem.parameters, "epsilon"));
  std::vector<long double> y;
  std::vector<float> in_float;
  for (std::size_t row = 0; row < x.size(); row += weight.size()) {
    long double sum = 0;
    float float_sum = 0;
    for (std::size_t i = weight.size(); i-- > 0;) sum += powl(x[row + i], 2) / weight.size();
    for (std::size_t i = 0; i < weight.size(); ++i) {
      float_sum += static_cast<float>(x[row + i]) * static_cast<float>(x[row + i]);
    }
    const float scale = 1 / std::sqrt(float_sum / static_cast<float>(weight.size()) + epsilon);
    for (std::size_t i = 0; i < weight.size(); ++i) {
      y.push_back((x[row + i] + static_cast<long double>(x[row + i]) * weight[i]) /
                  sqrtl(sum + epsilon));
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
  const auto epsilon = static_cast<float>(real(problem.parameters, "epsilon"));
  const auto bf16 = [](float value) {
    return static_cast<float>(rounded(ElementType::bfloat16, value));
  };
  std::vector<double> got;
  for (std::size_t row = 0; row < x.size(); row += weight.size()) {
    float sum = 0;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      sum += static_cast<float>(x[row + i] * x[row + i]);
    }
    const float scale = 1 / std::sqrt(sum / static_cast<float>(weight.size()) + epsilon);
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
    const Numbers positions = widened(problem, "positions");
    std::vector<long double> turned(x.size());
    std::vector<float> in_float(x.size());
    for (std::size_t row = 0; row < x.size() / 16; ++row) {
      const auto position = static_cast<int>(positions[row / 2 % 3]);
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
  EXPECT_THAT(refusal("geglu", with_type(kGeglu, "double")),
              HasSubstr("\"float\", \"half\" or \"bf16\""));
  EXPECT_THAT(refusal("attention", with_type(attention_values(4, 30, 8, 6), "float")),
              HasSubstr("9 keys: `capacity`"));
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
