// Holds the oracles of the steps to `mlp`, of score_rows and of run_mlp against the same computed
// in fp32, as a GPU does, and against reports that are made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/tensors.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::unique_ptr<Oracle> oracle_of(const char* name) { return oracle_registry().at(name)(); }

Values sizes(std::int64_t tokens, std::int64_t hidden, std::int64_t intermediate) {
  return {{"tokens", tokens}, {"hidden", hidden}, {"intermediate", intermediate}};
}

float number(const Problem& problem, const char* name, std::int64_t i) {
  return static_cast<float>(widened(tensor(problem, name), {static_cast<std::size_t>(i)})[0]);
}

/// x (rows, in) times weight (out, in)^T in fp32, as doubles.
std::vector<double> projected(const Problem& problem, const char* x, const char* weight,
                              std::int64_t in) {
  const std::vector<double> values = widened(problem, x), weights = widened(problem, weight);
  std::vector<double> y;
  const auto width = static_cast<std::size_t>(in);
  for (std::size_t row = 0; row < values.size(); row += width) {
    for (std::size_t feature = 0; feature < weights.size(); feature += width) {
      float sum = 0;
      for (std::size_t k = 0; k < width; ++k) {
        sum += static_cast<float>(values[row + k]) * static_cast<float>(weights[feature + k]);
      }
      y.push_back(sum);
    }
  }
  return y;
}

void expect_accepted(const std::vector<double>& values, const Expected& expected) {
  ASSERT_EQ(values.size(), expected.value.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_LE(std::abs(values[i] - expected.value[i]), expected.tolerance[i]) << i;
  }
}

TEST(GatedProductOracleTest, AcceptsWhatAGpuComputes) {
  for (const char* name : {"gated_product_float", "gated_product_half"}) {
    const Problem problem = oracle_of(name)->make(sizes(5, 77, 40), 3);
    const ElementType type = storage_type(problem.parameters);
    const std::vector<double> gate = projected(problem, "x", "gate_proj", 77);
    const std::vector<double> up = projected(problem, "x", "up_proj", 77);
    std::vector<double> product;
    for (std::size_t i = 0; i < gate.size(); ++i) {
      const auto g = static_cast<float>(gate[i]);
      const float gelu = 0.5F * g * (1 + std::tanh(0.7978845608F * (g + 0.044715F * g * g * g)));
      product.push_back(rounded(type, gelu * static_cast<float>(up[i])));
    }
    expect_accepted(product, oracle_of(name)->expect(problem).at(0));
  }
}

TEST(GatedProductOracleTest, RefusesLoadsOfAKernelWithoutTilesWhereACaseAsksForIt) {
  Values parameters = sizes(64, 32, 96);
  parameters["judges_structure"] = std::int64_t{1};
  const Problem problem = oracle_of("gated_product_float")->make(parameters, 3);
  const auto complaints = [&](std::uint64_t loads_of_each) {
    CallEvidence evidence;
    evidence.keeps_records = true;
    evidence.activity.kernels.resize(1);
    evidence.activity.kernels[0].counters.global_load_bytes = 4 * loads_of_each * 64 * 32 * 96 / 32;
    return oracle_of("gated_product_float")->judge(problem, evidence);
  };
  EXPECT_THAT(complaints(3), IsEmpty()) << "x, gate and up, a tile each";
  EXPECT_THAT(complaints(3 * 32), SizeIs(1)) << "each thread for itself";
}

TEST(GatedProductOracleTest, RefusesProductsBesideTensorCoresWhereACaseAsksForThem) {
  Values parameters = sizes(32, 48, 64);
  parameters["judges_structure"] = std::int64_t{1};
  const Problem problem = oracle_of("gated_product_half")->make(parameters, 3);
  const auto complaints = [&](const char* type, std::uint64_t products) {
    CallEvidence evidence;
    evidence.keeps_records = true;
    evidence.activity.kernels.resize(1);
    evidence.activity.kernels[0].counters.flops[type] = products * 2 * 32 * 48 * 64;
    return oracle_of("gated_product_half")->judge(problem, evidence);
  };
  EXPECT_THAT(complaints("fp16_tensor", 2), IsEmpty());
  EXPECT_THAT(complaints("fp16_tensor", 1), SizeIs(1)) << "up is computed beside them";
  EXPECT_THAT(complaints("fp16", 2), SizeIs(1));
}

TEST(ScoreRowsOracleTest, AcceptsWhatAGpuComputes) {
  const Problem problem = oracle_of("score_rows")
                              ->make({{"rows", std::int64_t{9}},
                                      {"hidden", std::int64_t{50}},
                                      {"width", std::int64_t{301}}},
                                     3);
  const std::vector<double> matrix = projected(problem, "x", "weight", 50);
  std::vector<double> scores;
  for (std::int64_t row = 0; row < 9; ++row) {
    float sum = 0;
    for (std::int64_t i = row * 301; i < (row + 1) * 301; ++i) {
      sum +=
          static_cast<float>(matrix[static_cast<std::size_t>(i)]) * number(problem, "reference", i);
    }
    scores.push_back(std::tanh(sum / 301));
  }
  expect_accepted(scores, oracle_of("score_rows")->expect(problem).at(0));
}

TEST(ScoreRowsOracleTest, RefusesTheProgramThatIsHandedOut) {
  constexpr std::uint64_t kRows = 64, kWidth = 256;
  const Problem problem = oracle_of("score_rows")
                              ->make({{"rows", std::int64_t{kRows}},
                                      {"hidden", std::int64_t{8}},
                                      {"width", std::int64_t{kWidth}}},
                                     3);
  const auto complaints = [&](const std::vector<std::uint64_t>& stored_numbers) {
    CallEvidence evidence;
    evidence.keeps_records = true;
    for (const std::uint64_t numbers : stored_numbers) {
      simgpu::KernelRecord kernel;
      kernel.counters.global_store_bytes = 4 * numbers;
      evidence.activity.kernels.push_back(kernel);
    }
    return oracle_of("score_rows")->judge(problem, evidence);
  };
  EXPECT_THAT(complaints({kRows * kWidth, kRows * kWidth, kRows, kRows}), SizeIs(1));
  EXPECT_THAT(complaints({kRows * kWidth, kRows * kWidth, kRows}), SizeIs(1)) << "the other pair";
  EXPECT_THAT(complaints({kRows * kWidth, kRows, kRows, kRows}), SizeIs(1)) << "four kernels";
  EXPECT_THAT(complaints({kRows * kWidth, kRows, kRows}), IsEmpty());
  EXPECT_THAT(complaints({kRows * kWidth, kRows}), IsEmpty());
}

/// A report of the MLP whose every part is right on a GPU of round numbers.
CallEvidence right_report() {
  CallEvidence evidence;
  evidence.results = {{"flops_per_second", 1e14}, {"bytes_per_second", 1e12}};
  const double whole = 1e6 * 2 * (3 * 64.0 * 128 + 2 * 4 * 64) / 1e12;
  const double apart = 1e6 * 2 * (3 * (64.0 * 128 + 4 * 64 + 4 * 128) + 3 * 4 * 128) / 1e12;
  evidence.results["estimate_us"] = whole;
  evidence.results["intermediates_us"] = apart - whole;
  evidence.results["idle_us"] = 0.5;
  evidence.results["rest_us"] = 2.0;
  evidence.results["mean_us"] = apart + 2.5;
  evidence.results["deviation_us"] = 0.1;
  return evidence;
}

std::string refusal_of(const CallEvidence& evidence) {
  Values parameters = sizes(4, 64, 128);
  parameters["function"] = std::string("run_mlp");
  const auto complaints =
      oracle_of("run_mlp")->judge(oracle_of("run_mlp")->make(parameters, 1), evidence);
  return complaints.empty() ? "" : complaints[0].message.text;
}

TEST(RunMlpOracleTest, TakesAReportWhosePartsAddUp) {
  EXPECT_EQ(refusal_of(right_report()), "");
  CallEvidence wrong = right_report();
  wrong.results["rest_us"] = 3.0;
  EXPECT_THAT(refusal_of(wrong), HasSubstr("do not add up"));
  wrong = right_report();
  wrong.results["estimate_us"] = 1.0;
  EXPECT_THAT(refusal_of(wrong), HasSubstr("estimate_us should be"));
  EXPECT_THAT(refusal_of({}), HasSubstr("estimate_us")) << "nothing was returned";
}

TEST(RunMlpOracleTest, KnowsTheDeviationOfAWholeFromThatOfASample) {
  const auto refusal = [](double deviation) {
    CallEvidence evidence;
    evidence.results = {{"mean", 2.0}, {"deviation", deviation}};
    const auto complaints = oracle_of("run_mlp")->judge(
        {{{"function", std::string("spread_of")}, {"numbers", std::string("1 2 3")}}, {}},
        evidence);
    return complaints.empty() ? std::string() : complaints[0].message.text;
  };
  EXPECT_EQ(refusal(1.0), "");
  EXPECT_THAT(refusal(std::sqrt(2.0 / 3)), HasSubstr("divided by the count"));
}

constexpr const char* kEmptyTrace = R"({"traceEvents": []})";

std::string refusal_of_trace(const std::string& text) {
  CallEvidence evidence;
  evidence.results = {{"trace.json", text}};
  const auto complaints =
      oracle_of("trace")->judge({{{"function", std::string("export_trace")}}, {}}, evidence);
  return complaints.empty() ? "" : complaints[0].message.text;
}

TEST(TraceFileTest, IsRefusedWhereItIsNoTraceWhateverItHolds) {
  EXPECT_THAT(refusal_of_trace(""), HasSubstr("no trace"));
  EXPECT_THAT(refusal_of_trace("{"), HasSubstr("no Chrome trace"));
  EXPECT_THAT(refusal_of_trace(std::string(100'000, '[')), HasSubstr("no Chrome trace"));
  EXPECT_THAT(refusal_of_trace(R"([1, null, {"ph": 3}, {"ph": "X", "cat": "kernel"}])"),
              HasSubstr("no start"));
  EXPECT_THAT(refusal_of_trace(R"([{"ph": "X", "cat": "kernel", "ts": 0, "dur": 1, "tid": 1e99}])"),
              HasSubstr("does not hold"));
  EXPECT_THAT(refusal_of_trace(kEmptyTrace), HasSubstr("does not hold"));
}

TEST(NeighboursTest, AreOfOneStreamWithNothingBetween) {
  const auto complaints = [](std::int64_t times, double total_us) {
    CallEvidence evidence;
    evidence.results = {{"pairs", std::int64_t{1}},
                        {"first 0", std::string("a")},
                        {"second 0", std::string("b")},
                        {"times 0", times},
                        {"total_us 0", total_us}};
    const std::string events =
        "kernel 0 2 0 1 a\nkernel 1 9 1 2 c\nkernel 3 4 0 3 b\ncopy 8 1 0 4 Memcpy\n"
        "kernel 10 2 0 5 b\n";
    return oracle_of("trace")->judge(
        {{{"function", std::string("neighbours")}, {"events", events}}, {}}, evidence);
  };
  EXPECT_THAT(complaints(1, 6), IsEmpty());
  EXPECT_THAT(complaints(1, 4), SizeIs(1));
  EXPECT_THAT(complaints(2, 6), SizeIs(1));
}

}  // namespace
}  // namespace rooflab
