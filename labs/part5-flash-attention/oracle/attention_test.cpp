#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::unique_ptr<Oracle> oracle(const std::string& name) { return oracle_registry().at(name)(); }

/// 2 sequences, 4 query heads, 2 key/value heads of 16 elements.
Values sizes(std::int64_t queries, std::int64_t keys, bool causal, std::int64_t window = 0,
             const std::string& type = "float") {
  return {{"batch", std::int64_t{2}},
          {"query_heads", std::int64_t{4}},
          {"key_value_heads", std::int64_t{2}},
          {"query_length", queries},
          {"key_length", keys},
          {"head_dim", std::int64_t{16}},
          {"causal", std::int64_t{causal}},
          {"window", window},
          {"type", type}};
}

Values with(Values values, const std::string& name, Value value) {
  values[name] = std::move(value);
  return values;
}

/// The codes of the known mistakes that show in a case.
std::set<std::string> codes(const std::string& name, const Values& values) {
  std::set<std::string> found;
  const Problem problem = oracle(name)->make(values, 21);
  for (const KnownMistake& mistake : oracle(name)->mistakes(problem))
    found.insert(mistake.code.text());
  return found;
}

/// Attention by another algorithm than the oracle's, in a wider type or a narrower one: online, key
/// after key, over all keys with minus infinity where the mask is.
template <typename Real>
struct OnlineAttention {
  std::vector<Real> out, log_sum_exp;

  explicit OnlineAttention(const Problem& problem) {
    const auto size = [&](const char* name) {
      return std::get<std::int64_t>(problem.parameters.at(name));
    };
    const std::int64_t queries = size("query_length"), keys = size("key_length");
    const std::int64_t window = size("window");
    const auto scale = static_cast<Real>(std::get<double>(problem.parameters.at("scale")));
    const Numbers q = widened(problem, "q"), k = widened(problem, "k"), v = widened(problem, "v");
    for (std::int64_t row = 0; row < 2 * 4 * queries; ++row) {
      const std::int64_t position = row % queries + keys - queries;
      const std::int64_t first_key = row / (2 * queries) * keys;  // two query heads share keys
      Real maximum = -std::numeric_limits<Real>::infinity();
      Real sum = 0;
      std::vector<Real> values(16);
      for (std::int64_t j = 0; j < keys; ++j) {
        const bool in_window = window == 0 || j > position - window;
        if (size("causal") != 0 && (j > position || !in_window)) continue;
        Real score = 0;
        for (std::int64_t i = 0; i < 16; ++i) {
          score +=
              static_cast<Real>(q[row * 16 + i]) * static_cast<Real>(k[(first_key + j) * 16 + i]);
        }
        score *= scale;
        const Real larger = std::max(maximum, score);
        const Real rescale = std::exp(maximum - larger);
        const Real weight = std::exp(score - larger);
        maximum = larger;
        sum = sum * rescale + weight;
        for (std::int64_t i = 0; i < 16; ++i) {
          values[i] = values[i] * rescale + weight * static_cast<Real>(v[(first_key + j) * 16 + i]);
        }
      }
      for (const Real value : values) out.push_back(sum > 0 ? value / sum : 0);
      log_sum_exp.push_back(maximum + std::log(sum));
    }
  }
};

template <typename Real>
void expect_near(const std::vector<Real>& got, const Expected& expected, double share) {
  ASSERT_EQ(got.size(), expected.value.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto value = static_cast<double>(got[i]);
    if (value == expected.value[i]) continue;  // infinities
    EXPECT_LE(std::abs(value - expected.value[i]), share * expected.tolerance[i]) << i;
  }
}

const std::vector<Values>& several_cases() {
  static const std::vector<Values> cases = {sizes(1, 1, false),
                                            sizes(1, 70, true),
                                            sizes(13, 13, false),
                                            sizes(13, 37, true),
                                            sizes(19, 7, true),
                                            sizes(21, 21, true, 1),
                                            sizes(21, 30, true, 9),
                                            sizes(30, 21, true, 9),
                                            sizes(150, 150, false),
                                            with(sizes(9, 40, false), "score_spread", 3000.0),
                                            with(sizes(9, 40, true), "score_mean", -400.0)};
  return cases;
}

TEST(AttentionOracleTest, AgreesWithOnlineAttentionInAWiderType) {
  for (const Values& values : several_cases()) {
    SCOPED_TRACE(text_of(values));
    const Problem problem = oracle("flash_forward")->make(values, 3);
    const std::vector<Expected> expected = oracle("flash_forward")->expect(problem);
    const OnlineAttention<long double> wider(problem);
    // fp64's own rounding is 2^-29 of fp32's.
    expect_near(wider.out, expected.at(0), 1e-6);
    expect_near(wider.log_sum_exp, expected.at(1), 1e-6);
    EXPECT_EQ(oracle("sdpa")->expect(problem).at(0).value, expected.at(0).value);
  }
}

TEST(AttentionOracleTest, ToleratesOnlineAttentionInFp32) {
  for (const Values& values : several_cases()) {
    SCOPED_TRACE(text_of(values));
    const Problem problem = oracle("flash_forward")->make(values, 5);
    const std::vector<Expected> expected = oracle("flash_forward")->expect(problem);
    const OnlineAttention<float> narrower(problem);
    expect_near(narrower.out, expected.at(0), 1);
    expect_near(narrower.log_sum_exp, expected.at(1), 1);
  }
}

TEST(AttentionOracleTest, DoesNotTolerateOneKeyMoreOrLessOrHalfPrecision) {
  for (const char* type : {"float", "half", "bf16"}) {
    const Values values = sizes(40, 40, true, 12, type);
    EXPECT_THAT(codes("flash_forward", values), IsSupersetOf({"RL0476", "RL0478"})) << type;
  }
  const Problem problem = oracle("flash_forward")->make(sizes(9, 60, false), 5);
  const Expected out = oracle("flash_forward")->expect(problem).at(0);
  std::size_t off = 0;
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    off += std::abs(rounded(ElementType::float16, out.value[i]) - out.value[i]) > out.tolerance[i];
  }
  EXPECT_GT(off, out.value.size() / 4);
}

TEST(AttentionOracleTest, DefinesRowsThatSeeNoKey) {
  const Problem problem = oracle("flash_forward")->make(sizes(19, 7, true), 3);
  const std::vector<Expected> expected = oracle("flash_forward")->expect(problem);
  EXPECT_EQ(expected[1].value[11], -kInfinity);
  EXPECT_TRUE(std::isfinite(expected[1].value[12]));
  for (std::size_t i = 0; i < 12 * 16; ++i) EXPECT_EQ(expected[0].value[i], 0);
}

TEST(AttentionOracleTest, KnowsItsMistakes) {
  for (const char* type : {"float", "half", "bf16"}) {
    SCOPED_TRACE(type);
    const auto known = codes("flash_forward", sizes(50, 70, true, 9, type));
    EXPECT_THAT(known, IsSupersetOf({"RL0473", "RL0474", "RL0475", "RL0476", "RL0477", "RL0478",
                                     "RL0479", "RL0480", "RL0482", "RL0520", "RL0521", "RL0523",
                                     "RL0524", "RL0525", "RL0528", "RL0532", "RL0534"}));
    EXPECT_THAT(codes("flash_forward", sizes(50, 70, false, 0, type)), Contains("RL0522"));
    EXPECT_THAT(codes("sdpa", sizes(50, 70, true, 9, type)), Not(Contains("RL0524")));
  }
  EXPECT_THAT(codes("sdpa", with(sizes(9, 40, false), "score_spread", 3000.0)), Contains("RL0481"));
  EXPECT_THAT(codes("sdpa", with(sizes(9, 40, false), "score_mean", -400.0)), Contains("RL0533"));
  EXPECT_THAT(codes("sdpa", sizes(13, 13, true)), Not(Contains("RL0479")));
}

TEST(AttentionOracleTest, KnowsHowPartsAreWronglyCombined) {
  EXPECT_THAT(codes("flash_decode", with(sizes(1, 70, true), "splits", std::int64_t{4})),
              Contains("RL0526"));
  EXPECT_THAT(codes("flash_decode", with(sizes(1, 70, true), "splits", std::int64_t{1})),
              Not(Contains("RL0526")));
}

TEST(AttentionOracleTest, CountsPairsAndTheKeysThatAreSeen) {
  const auto work = [](const Values& values) { return oracle("flash_forward")->work(values); };
  // 8 heads of 5 queries; head h of 2 sequences and 2 key/value heads has 9 keys.
  EXPECT_EQ(work(sizes(5, 9, false)).flops.at("fp32"), 4.0 * 16 * 8 * 45);
  EXPECT_EQ(work(sizes(5, 9, false)).compulsory_bytes, 4.0 * (2 * 16 * (40 + 4 * 9) + 40));
  EXPECT_EQ(work(sizes(5, 9, true)).flops.at("fp32"), 4.0 * 16 * 8 * (5 + 6 + 7 + 8 + 9));
  EXPECT_EQ(work(sizes(9, 5, true)).flops.at("fp32"), 4.0 * 16 * 8 * 15);
  const Work local = work(sizes(5, 9, true, 2, "half"));
  EXPECT_EQ(local.flops.at("fp16_tensor"), 4.0 * 16 * 8 * 10);
  EXPECT_EQ(local.compulsory_bytes, 2.0 * 2 * 16 * (40 + 4 * 6) + 4 * 40);
}

/// Of a call that took `extra` bytes beside its arrays, and whose kernels stored so many.
CallEvidence evidence_of(const Problem& problem, std::uint64_t extra, std::uint64_t stored) {
  CallEvidence evidence{.results = {}, .activity = {}, .keeps_records = true};
  evidence.activity.peak_allocated = extra;
  for (const Tensor& tensor : problem.tensors) evidence.activity.peak_allocated += tensor.bytes();
  evidence.activity.kernels.resize(1);
  evidence.activity.kernels[0].counters.global_store_bytes = stored;
  return evidence;
}

/// The codes of what an oracle says of it.
std::string complaints_of_memory(const char* name, const Problem& problem, std::uint64_t extra,
                                 std::uint64_t stored = 0) {
  std::string found;
  for (const Complaint& complaint :
       oracle(name)->judge(problem, evidence_of(problem, extra, stored))) {
    found += complaint.code.text();
  }
  return found;
}

TEST(AttentionOracleTest, JudgesMemoryWhereACaseAsksForIt) {
  const Values parameters =
      with(sizes(40, 30, false, 0, "half"), "judges_structure", std::int64_t{1});
  const auto complaints = [&](const char* name, std::uint64_t extra, std::uint64_t stored = 0) {
    return complaints_of_memory(name, oracle(name)->make(parameters, 3), extra, stored);
  };
  constexpr std::uint64_t kScores = 8 * 40 * 30;
  EXPECT_EQ(complaints("sdpa", 6 * kScores, 2 * kScores), "");
  EXPECT_EQ(complaints("sdpa", 6 * kScores, 2 * kScores - 1), "RL0530") << "memory for nothing";
  EXPECT_EQ(complaints("sdpa", 2 * kScores, 2 * kScores), "RL0530");
  EXPECT_EQ(complaints("sdpa", 8 * kScores, 2 * kScores), "RL0531");
  EXPECT_EQ(complaints("flash_forward", 0), "");
  EXPECT_EQ(complaints("flash_forward", kLibrarySlack), "");
  EXPECT_EQ(complaints("flash_forward", kLibrarySlack + 1), "RL0529");
}

TEST(AttentionOracleTest, WantsScoresTakenAndGivenBackOnTheStream) {
  const Problem problem = oracle("sdpa")->make(
      with(sizes(40, 30, false, 0, "half"), "judges_structure", std::int64_t{1}), 3);
  constexpr std::uint64_t kScores = 8 * 40 * 30;
  CallEvidence evidence = evidence_of(problem, 6 * kScores, 2 * kScores);
  evidence.activity.api_calls = {{"cudaMallocAsync", 2}, {"cudaFreeAsync", 2}};
  EXPECT_TRUE(oracle("sdpa")->judge(problem, evidence).empty());
  evidence.activity.api_calls["cudaFree"] = 1;
  const std::vector<Complaint> complaints = oracle("sdpa")->judge(problem, evidence);
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_EQ(complaints[0].code, Code("RL0539"));
}

TEST(AttentionOracleTest, TakesARightResultOfAnyStructureInOtherCases) {
  const Problem problem = oracle("sdpa")->make(sizes(40, 30, false, 0, "half"), 3);
  EXPECT_EQ(complaints_of_memory("sdpa", problem, 0), "");
  EXPECT_EQ(complaints_of_memory("flash_forward", problem, 1 << 20), "");
  const Problem decode =
      oracle("flash_decode")->make(with(sizes(1, 70, true), "splits", std::int64_t{4}), 3);
  EXPECT_EQ(complaints_of_memory("flash_decode", decode, 1 << 20), "");
  const Problem asked = oracle("flash_decode")
                            ->make(with(with(sizes(1, 70, true), "splits", std::int64_t{4}),
                                        "judges_structure", std::int64_t{1}),
                                   3);
  EXPECT_EQ(complaints_of_memory("flash_decode", asked, 1 << 20), "RL0529");
}

TEST(AttentionOracleTest, JudgesASampleOfALargeCaseWithBothEnds) {
  const Problem problem =
      oracle("flash_forward")
          ->make(with(sizes(3000, 3000, false), "head_dim", std::int64_t{64}), 3);
  const std::vector<Expected> expected = oracle("flash_forward")->expect(problem);
  ASSERT_EQ(expected[1].index.size(), expected[1].value.size());
  EXPECT_LT(expected[1].index.size(), 24000u);
  EXPECT_GE(expected[1].index.size(), 64u);
  EXPECT_EQ(expected[0].index.size(), 64 * expected[1].index.size());
  EXPECT_EQ(expected[1].index.front(), 0u);
  EXPECT_EQ(expected[1].index.back(), 23999u);
  EXPECT_TRUE(std::ranges::is_sorted(expected[0].index));
}

TEST(AttentionOracleTest, RefusesParametersThatDoNotFit) {
  EXPECT_THROW(oracle("sdpa")->make(sizes(5, 5, false, 3), 1), std::invalid_argument);
  EXPECT_THROW(oracle("sdpa")->make(with(sizes(5, 5, true), "query_heads", std::int64_t{3}), 1),
               std::invalid_argument);
  EXPECT_THROW(oracle("flash_decode")->make(sizes(1, 5, true), 1), std::invalid_argument);
  EXPECT_THROW(oracle("flash_decode")->make(with(sizes(2, 5, true), "splits", std::int64_t{2}), 1),
               std::invalid_argument);
}

}  // namespace
}  // namespace rooflab
