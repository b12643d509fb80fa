#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "grader/contract/elements.h"
#include "grader/contract/oracle.h"
#include "labs/part1-metrics/oracle/tensors.h"

namespace rooflab {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::unique_ptr<Oracle> oracle(const std::string& name) { return oracle_registry().at(name)(); }

Values sizes(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {{"m", m}, {"n", n}, {"k", k}};
}

/// The definition of the matrix product, in long double, with A and B read by `index_a`, `index_b`.
template <typename IndexA, typename IndexB>
std::vector<long double> product(const Problem& problem, std::int64_t m, std::int64_t n,
                                 std::int64_t k, IndexA index_a, IndexB index_b) {
  const std::vector<double> a = widened(problem.tensors.at(0));
  const std::vector<double> b = widened(problem.tensors.at(1));
  std::vector<long double> c(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t l = k - 1; l >= 0; --l) {
        c[i * n + j] += static_cast<long double>(a.at(index_a(i, l))) * b.at(index_b(l, j));
      }
    }
  }
  return c;
}

std::vector<long double> right_product(const Problem& problem, std::int64_t m, std::int64_t n,
                                       std::int64_t k) {
  return product(
      problem, m, n, k, [=](auto i, auto l) { return i * k + l; },
      [=](auto l, auto j) { return l * n + j; });
}

void expect_same(const std::vector<double>& got, const std::vector<long double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-11) << i;
}

/// Known mistakes whose output is `values`.
std::set<std::string> codes_of(const std::vector<KnownMistake>& mistakes,
                               const std::vector<long double>& values) {
  std::set<std::string> codes;
  for (const KnownMistake& mistake : mistakes) {
    const std::vector<double>& output = mistake.outputs.at(0).value;
    const bool same = std::ranges::equal(
        output, values, [](double a, long double b) { return std::abs(a - b) < 1e-11; });
    if (same) codes.insert(mistake.code.text());
  }
  return codes;
}

TEST(GemmOracleTest, MakesTheSameProblemFromTheSameSeedAndAnotherFromAnother) {
  const auto gemm = oracle("gemm");
  EXPECT_EQ(gemm->make(sizes(3, 4, 5), 7).tensors[0].data,
            gemm->make(sizes(3, 4, 5), 7).tensors[0].data);
  EXPECT_NE(gemm->make(sizes(3, 4, 5), 7).tensors[0].data,
            gemm->make(sizes(3, 4, 5), 8).tensors[0].data);
}

TEST(GemmOracleTest, SpreadsInputsOverBothSignsAndHardlyEverOnWholeNumbers) {
  const Problem problem = oracle("gemm")->make(sizes(50, 50, 50), 1);
  const std::vector<double> a = widened(problem.tensors[0]);
  const auto negative = std::ranges::count_if(a, [](double v) { return v < 0; });
  EXPECT_GT(negative, 1000);
  EXPECT_LT(negative, 1500);
  for (const double v : a) {
    EXPECT_LT(std::abs(v), 1);
    EXPECT_NE(v, 0);
  }
}

TEST(GemmOracleTest, ExpectsTheProductThatTheDefinitionGives) {
  const auto gemm = oracle("gemm");
  for (const auto& [m, n, k] :
       {std::tuple{1, 1, 1}, std::tuple{7, 5, 3}, std::tuple{33, 65, 129}, std::tuple{50, 45, 1}}) {
    const Problem problem = gemm->make(sizes(m, n, k), 42);
    const std::vector<Expected> expected = gemm->expect(problem);
    ASSERT_THAT(expected, SizeIs(1));
    EXPECT_EQ(expected[0].tensor, "C");
    expect_same(expected[0].value, right_product(problem, m, n, k));
  }
}

TEST(GemmOracleTest, ToleratesAnFp32SumInAnyOrderButNotOneStepLess) {
  const int m = 8;
  const int n = 8;
  const int k = 1000;
  const auto gemm = oracle("gemm");
  const Problem problem = gemm->make(sizes(m, n, k), 3);
  const Expected expected = gemm->expect(problem).at(0);
  const std::vector<double> a = widened(problem.tensors[0]);
  const std::vector<double> b = widened(problem.tensors[1]);
  int caught = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float forwards = 0;
      float backwards = 0;
      for (int l = 0; l < k; ++l) {
        forwards += static_cast<float>(a[i * k + l]) * static_cast<float>(b[l * n + j]);
        const int r = k - 1 - l;
        backwards += static_cast<float>(a[i * k + r]) * static_cast<float>(b[r * n + j]);
      }
      const double last = a[i * k + k - 1] * b[(k - 1) * n + j];
      const double tolerance = expected.tolerance[i * n + j];
      EXPECT_NEAR(forwards, expected.value[i * n + j], tolerance);
      EXPECT_NEAR(backwards, expected.value[i * n + j], tolerance);
      if (std::abs(last) > tolerance) ++caught;
    }
  }
  EXPECT_GT(caught, m * n * 9 / 10);
}

TEST(GemmOracleTest, CountsTwoFlopsForEachStepAndEachMatrixOnce) {
  const Work fp32 = oracle("gemm")->work(sizes(10, 20, 30));
  EXPECT_EQ(fp32.flops, (std::map<std::string, double>{{"fp32", 2.0 * 10 * 20 * 30}}));
  EXPECT_EQ(fp32.compulsory_bytes, 4.0 * (10 * 30 + 30 * 20 + 10 * 20));
  const Work bf16 = oracle("gemm_bf16")->work(sizes(10, 20, 30));
  EXPECT_EQ(bf16.flops, (std::map<std::string, double>{{"bf16_tensor", 2.0 * 10 * 20 * 30}}));
  EXPECT_EQ(bf16.compulsory_bytes, 2.0 * (10 * 30 + 30 * 20) + 4.0 * 10 * 20);
}

TEST(GemmOracleTest, KnowsTransposedFactors) {
  const int m = 20;
  const int n = 30;
  const int k = 40;
  const auto gemm = oracle("gemm");
  const Problem problem = gemm->make(sizes(m, n, k), 5);
  const auto mistakes = gemm->mistakes(problem);
  EXPECT_THAT(codes_of(mistakes, product(
                                     problem, m, n, k, [=](auto i, auto l) { return l * m + i; },
                                     [=](auto l, auto j) { return l * n + j; })),
              Contains("RL0411"));
  EXPECT_THAT(codes_of(mistakes, product(
                                     problem, m, n, k, [=](auto i, auto l) { return i * k + l; },
                                     [=](auto l, auto j) { return j * k + l; })),
              Contains("RL0412"));
}

TEST(GemmOracleTest, KnowsRowsOfAWrongLength) {
  const auto gemm = oracle("gemm");
  const Problem tall = gemm->make(sizes(30, 17, 25), 5);
  EXPECT_THAT(codes_of(gemm->mistakes(tall),
                       product(
                           tall, 30, 17, 25, [=](auto i, auto l) { return i * 17 + l; },
                           [=](auto l, auto j) { return l * 17 + j; })),
              Contains("RL0415"));
  const Problem wide = gemm->make(sizes(30, 25, 17), 5);
  EXPECT_THAT(codes_of(gemm->mistakes(wide),
                       product(
                           wide, 30, 25, 17, [=](auto i, auto l) { return i * 17 + l; },
                           [=](auto l, auto j) { return l * 17 + j; })),
              Contains("RL0415"));
}

TEST(GemmOracleTest, KnowsSumsThatEndTooEarlyOrStartTooLate) {
  const int m = 9;
  const int n = 11;
  const int k = 45;
  const auto gemm = oracle("gemm");
  const Problem problem = gemm->make(sizes(m, n, k), 5);
  const auto mistakes = gemm->mistakes(problem);
  const auto sum_over = [&](int from, int to) {
    return product(
        problem, m, n, to - from, [=](auto i, auto l) { return i * k + from + l; },
        [=](auto l, auto j) { return (from + l) * n + j; });
  };
  EXPECT_THAT(codes_of(mistakes, sum_over(0, 32)), Contains("RL0413"));
  EXPECT_THAT(codes_of(mistakes, sum_over(32, 45)), Contains("RL0416"));
  EXPECT_THAT(codes_of(mistakes, sum_over(0, 44)), Contains("RL0417"));
  EXPECT_THAT(codes_of(mistakes, sum_over(0, 45)), IsEmpty());
}

TEST(GemmOracleTest, TakesZerosForNoMissingStepWhereThereIsButOne) {
  const auto gemm = oracle("gemm");
  const Problem problem = gemm->make(sizes(7, 5, 1), 5);
  EXPECT_THAT(codes_of(gemm->mistakes(problem), std::vector<long double>(7 * 5)),
              ElementsAre("RL0410"));
}

TEST(GemmOracleTest, KnowsTransposedOutputsZerosAndTheFactorsInTheWrongOrder) {
  const int n = 24;
  const auto gemm = oracle("gemm");
  const Problem problem = gemm->make(sizes(n, n, n), 5);
  const auto mistakes = gemm->mistakes(problem);
  const std::vector<long double> right = right_product(problem, n, n, n);
  std::vector<long double> transposed(right.size());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) transposed[j * n + i] = right[i * n + j];
  }
  EXPECT_THAT(codes_of(mistakes, transposed), Contains("RL0414"));
  EXPECT_THAT(codes_of(mistakes, std::vector<long double>(right.size())), Contains("RL0410"));
  Problem swapped = problem;
  std::swap(swapped.tensors[0], swapped.tensors[1]);
  EXPECT_THAT(codes_of(mistakes, right_product(swapped, n, n, n)), Contains("RL0419"));
}

TEST(Bf16GemmOracleTest, AsksForTensorCoresWhereACaseSaysSo) {
  const auto gemm = oracle("gemm_bf16");
  CallEvidence evidence{{}, {}, true};
  evidence.activity.kernels.resize(1);
  evidence.activity.kernels[0].counters.flops = {{"fp32", 2 * 64 * 64 * 64}};
  Values asking = sizes(64, 64, 64);
  asking["judges_structure"] = std::int64_t{1};
  const auto complaints = gemm->judge({asking, {}}, evidence);
  ASSERT_THAT(complaints, SizeIs(1));
  EXPECT_EQ(complaints[0].code, Code("RL0431"));
  EXPECT_THAT(gemm->judge({sizes(64, 64, 64), {}}, evidence), IsEmpty());
  evidence.activity.kernels[0].counters.flops = {{"bf16_tensor", 2 * 64 * 64 * 64}};
  EXPECT_THAT(gemm->judge({asking, {}}, evidence), IsEmpty());
}

TEST(TiledGemmOracleTest, TellsHowOftenElementsAreLoadedAndRefusesNoAnswer) {
  const auto gemm = oracle("gemm_tiled");
  constexpr std::uint64_t kUntiledBytes = sizeof(float) * 2 * 64 * 64 * 64;
  const auto remarks_on = [&](std::uint64_t bytes) {
    simgpu::KernelRecord kernel;
    kernel.counters.global_load_bytes = bytes;
    simgpu::Activity activity;
    activity.kernels = {kernel};
    const CallEvidence evidence{{}, activity, true};
    EXPECT_THAT(gemm->judge({sizes(64, 64, 64), {}}, evidence), IsEmpty());
    return gemm->judge_speed(sizes(64, 64, 64), evidence);
  };
  const auto untiled = remarks_on(kUntiledBytes);
  ASSERT_THAT(untiled, SizeIs(1));
  EXPECT_TRUE(untiled[0].forfeits_points);
  EXPECT_EQ(untiled[0].complaint.message.text,
            "global memory is read as if there were no tiles: each element of A is loaded 64 times "
            "and each of B 64 times");
  const auto small_tiles = remarks_on(kUntiledBytes / 4);
  ASSERT_THAT(small_tiles, SizeIs(1));
  EXPECT_FALSE(small_tiles[0].forfeits_points) << "tiles of 4 x 4 are tiles";
  EXPECT_THAT(remarks_on(kUntiledBytes / 16), IsEmpty());
  EXPECT_THAT(gemm->judge_speed(sizes(64, 64, 64), {}), IsEmpty()) << "nothing was recorded";
}

/// What is said of a call of 64 x 64 x 64 whose kernels are these.
std::vector<SpeedRemark> remarks_on(const std::vector<simgpu::KernelRecord>& kernels) {
  simgpu::Activity activity;
  activity.kernels = kernels;
  return oracle("gemm_tiled")->judge_speed(sizes(64, 64, 64), {{}, activity, true});
}

/// A kernel without tiles of which `share` of its 64 blocks was run, with `flops` of any use.
simgpu::KernelRecord cut_short(std::uint64_t blocks_run, std::uint64_t flops) {
  simgpu::KernelRecord kernel;
  kernel.grid = {64, 1, 1};
  kernel.block = {64, 1, 1};
  kernel.at_least = true;
  kernel.sampled_blocks = blocks_run;
  kernel.counters.warp_instructions = 1000 * blocks_run;
  kernel.counters.global_load_bytes = blocks_run * 64 * sizeof(float) * 2 * 64;
  kernel.counters.flops["fp32"] = flops;
  return kernel;
}

TEST(TiledGemmOracleTest, TakesOfARunThatWasCutShortNoOperationForOneOfTheProduct) {
  constexpr std::uint64_t kUseful = 8 * 64 * 2 * 64;
  for (const std::uint64_t flops : {kUseful, 8 * kUseful}) {
    const auto remarks = remarks_on({cut_short(8, flops)});
    ASSERT_THAT(remarks, SizeIs(1)) << flops;
    EXPECT_TRUE(remarks[0].forfeits_points);
  }
  simgpu::KernelRecord tiled = cut_short(8, kUseful);
  tiled.counters.global_load_bytes /= 16;
  EXPECT_THAT(remarks_on({tiled}), IsEmpty());
}

TEST(TiledGemmOracleTest, TakesKernelsThatDidNotRunForOnesLikeThatWhichWasCutShort) {
  simgpu::KernelRecord first = cut_short(8, 0), second = cut_short(0, 0);
  first.grid.x = second.grid.x = 32;
  const auto remarks = remarks_on({first, second});
  ASSERT_THAT(remarks, SizeIs(1));
  EXPECT_TRUE(remarks[0].forfeits_points);
  first.counters.global_load_bytes /= 16;
  EXPECT_THAT(remarks_on({first, second}), IsEmpty());
}

TEST(Bf16GemmOracleTest, ExpectsTheProductOfTheRoundedInputs) {
  const auto gemm = oracle("gemm_bf16");
  const Problem problem = gemm->make(sizes(17, 9, 31), 11);
  EXPECT_EQ(problem.tensors[0].type, ElementType::bfloat16);
  EXPECT_EQ(problem.tensors[2].type, ElementType::float32);
  expect_same(gemm->expect(problem).at(0).value, right_product(problem, 17, 9, 31));
}

TEST(GemvOracleTest, ExpectsTheProductThatTheDefinitionGives) {
  const auto gemv = oracle("gemv");
  const Problem problem = gemv->make({{"m", std::int64_t{13}}, {"k", std::int64_t{131}}}, 9);
  expect_same(gemv->expect(problem).at(0).value, right_product(problem, 13, 1, 131));
}

TEST(GemvOracleTest, KnowsLostLanesAndLostTails) {
  const auto gemv = oracle("gemv");
  const Problem problem = gemv->make({{"m", std::int64_t{13}}, {"k", std::int64_t{131}}}, 9);
  const std::vector<double> a = widened(problem.tensors[0]);
  const std::vector<double> x = widened(problem.tensors[1]);
  const auto sums = [&](auto keep) {
    std::vector<long double> y(13);
    for (int i = 0; i < 13; ++i) {
      for (int l = 0; l < 131; ++l) y[i] += keep(l) ? a[i * 131 + l] * x[l] : 0.0;
    }
    return y;
  };
  const auto mistakes = gemv->mistakes(problem);
  EXPECT_THAT(codes_of(mistakes, sums([](int l) { return l % 32 == 0; })), Contains("RL0418"));
  EXPECT_THAT(codes_of(mistakes, sums([](int l) { return l / 4 % 2 == 0; })), Contains("RL0418"));
  EXPECT_THAT(codes_of(mistakes, sums([](int l) { return l < 128; })), Contains("RL0413"));
  EXPECT_THAT(codes_of(mistakes, sums([](int) { return false; })), Contains("RL0410"));
}

TEST(OracleTest, SaysWhichParameterACaseLacks) {
  EXPECT_THROW(
      {
        try {
          oracle("gemm")->make({{"m", std::int64_t{1}}, {"n", std::int64_t{0}}}, 1);
        } catch (const std::invalid_argument& error) {
          EXPECT_THAT(error.what(), ::testing::HasSubstr("`n` of at least 1"));
          throw;
        }
      },
      std::invalid_argument);
}

}  // namespace
}  // namespace rooflab
