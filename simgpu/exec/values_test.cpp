#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <numeric>

#include "simgpu/exec/engine_testing.h"

/// What kernels compute, against the same thing computed by the host's compiler.
namespace simgpu::testing {
namespace {

using ::testing::HasSubstr;

class Values : public ::testing::Test {
 protected:
  Device device_ = Device::with_test_kernels();

  std::vector<int> run_on(const std::string& kernel, const std::vector<int>& values, int threads) {
    const std::uint64_t data = device_.put(values);
    const LaunchResult result =
        device_.run(kernel, {.block = {static_cast<unsigned>(threads), 1, 1}}, data);
    EXPECT_EQ(result.status, LaunchStatus::ok);
    EXPECT_TRUE(result.findings.empty()) << result.findings.front().message;
    return device_.get<int>(data, values.size());
  }
};

TEST_F(Values, NestedBranchesReconverge) {
  std::vector<int> expected(32);
  for (int i = 0; i < 32; ++i) {
    int value = 0;
    if (i % 2 == 1) {
      value = i % 4 == 3 ? 11 : 21;
      if (i > 24)
        value *= 3;
      else if (i > 16)
        value *= 5;
    } else if (i % 6 == 0) {
      value = -i;
    }
    expected[i] = value * 100 + i;
  }
  EXPECT_EQ(run_on("nested_ifs", std::vector<int>(32), 32), expected);
}

TEST_F(Values, LanesLeaveALoopAtDifferentTimes) {
  std::vector<int> expected(64);
  for (int i = 0; i < 64; ++i) {
    int sum = 0;
    for (int k = 0; k < (i * 7) % 13 && sum <= 200; ++k) sum += (k + i) % 5 == 4 ? 0 : k * i;
    expected[i] = sum;
  }
  EXPECT_EQ(run_on("trip_counts", std::vector<int>(64), 64), expected);
}

TEST_F(Values, ThreadsThatReturnEarlyStoreNothingMore) {
  std::vector<int> expected(50, -7);
  for (int i = 0; i < 50; ++i) {
    if (i % 3 != 1) expected[i] = i > 40 ? i + 1000 : i + 1005;
  }
  EXPECT_EQ(run_on("early_return", std::vector<int>(50, -7), 50), expected);
}

TEST_F(Values, ASwitchSendsEachLaneToItsCase) {
  std::vector<int> cases(64);
  for (int i = 0; i < 64; ++i) cases[i] = (i * 5) % 10;
  std::vector<int> expected = cases;
  for (int i = 0; i < 64; ++i) {
    const int by_case[] = {100, i * 3 + 11, 18, cases[i], -1, i * i, 7 ^ 0x55, 56, 9, 9};
    expected[i] = by_case[cases[i]];
  }
  EXPECT_EQ(run_on("switch_cases", cases, 64), expected);
}

TEST_F(Values, JumpsIntoALoopWork) {
  std::vector<int> expected(32);
  for (int i = 0; i < 32; ++i) {
    std::uint32_t value = static_cast<std::uint32_t>(i);
    int n = 0;
    bool at_top = i % 2 == 0;
    while (true) {
      if (at_top) {
        value = value * 3 + 1;
        if (++n > 20) break;
      }
      value ^= static_cast<std::uint32_t>(n);
      if (++n >= 10 + i % 4) break;
      at_top = true;
    }
    expected[i] = static_cast<int>(value * 32 + static_cast<std::uint32_t>(n));
  }
  EXPECT_EQ(run_on("irreducible", std::vector<int>(32), 32), expected);
}

TEST_F(Values, DeviceFunctionsAreCalledUnderDivergence) {
  const std::uint64_t out = device_.put(std::vector<float>(32));
  ASSERT_EQ(device_.run("calls", {}, out).status, LaunchStatus::ok);
  const std::vector<float> values = device_.get<float>(out, 32);
  const auto square_plus = [](int x, int y) { return x > 20 ? y : x * x + y; };
  for (int i = 0; i < 32; ++i) {
    const float expected =
        i % 2 == 1 ? 1.5F * static_cast<float>(i) + static_cast<float>(square_plus(i, 1))
                   : static_cast<float>(square_plus(i, 3));
    EXPECT_EQ(values[i], expected) << i;
  }
}

TEST_F(Values, LanesExchangeValues) {
  const std::uint64_t out = device_.put(std::vector<unsigned>(256));
  const LaunchResult result = device_.run("warp_operations", {}, out);
  ASSERT_EQ(result.status, LaunchStatus::ok);
  const std::vector<unsigned> v = device_.get<unsigned>(out, 256);
  unsigned thirds = 0;
  for (unsigned i = 0; i < 32; i += 3) thirds |= 1U << i;
  for (unsigned i = 0; i < 32; ++i) {
    unsigned fifth = 0;
    for (unsigned k = i % 5; k < 32; k += 5) fifth |= 1U << k;
    unsigned most = 0;
    for (unsigned k = 0; k < 32; ++k) most = std::max(most, k ^ 9U);
    EXPECT_EQ(v[i], 528U);
    EXPECT_EQ(v[32 + i], i + 3 < 32 ? i + 3 : i);
    EXPECT_EQ(v[64 + i], i % 8 >= 2 ? i - 2 : i);
    EXPECT_EQ(v[96 + i], (i / 16 * 16 + 5) * 10);
    EXPECT_EQ(v[128 + i], thirds);
    EXPECT_EQ(v[160 + i], 2U);
    EXPECT_EQ(v[192 + i], fifth);
    EXPECT_EQ(v[224 + i], 496U + most);
  }
}

TEST_F(Values, BarriersOrderWarps) {
  std::vector<int> data(96);
  std::iota(data.begin(), data.end(), 0);
  const std::uint64_t at = device_.put(data);
  const LaunchResult result =
      device_.run("reverse_block", {.block = {96, 1, 1}, .shared = 96 * 4}, at);
  ASSERT_EQ(result.status, LaunchStatus::ok);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.counters.barriers, 3U);
  std::reverse(data.begin(), data.end());
  EXPECT_EQ(device_.get<int>(at, 96), data);
}

TEST_F(Values, BarriersCountVotes) {
  const std::vector<int> votes = run_on("count_votes", std::vector<int>(80), 80);
  EXPECT_EQ(votes, std::vector<int>(80, 27 * 4 + 2 + 1));
}

TEST_F(Values, AWarpMaySpinUntilAnotherStores) {
  const std::uint64_t flag = device_.put(std::vector<int>{0});
  const std::uint64_t out = device_.put(std::vector<int>{0});
  const LaunchResult result = device_.run("spin_on_other_warp", {.block = {64, 1, 1}}, flag, out);
  EXPECT_EQ(result.status, LaunchStatus::ok);
  EXPECT_EQ(device_.get<int>(out, 1).front(), 1);
}

TEST_F(Values, AtomicsOfAllBlocksAddUp) {
  const std::uint64_t counters = device_.put(std::vector<int>{0, -5, 5, 0, 6, 0});
  const std::uint64_t sums = device_.put(std::vector<float>{1.0F});
  const std::uint64_t wide = device_.put(std::vector<std::uint64_t>{7});
  const LaunchResult result = device_.run(
      "atomics", {.grid = {3, 1, 1}, .block = {50, 1, 1}, .workers = 2}, counters, sums, wide);
  ASSERT_EQ(result.status, LaunchStatus::ok);
  int odd = 0;
  for (int i = 0; i < 150; ++i) odd ^= i;
  // cas: 6 becomes 7 when thread 6 comes, then 8 with thread 7, and so on to 150; inc wraps
  // after 9.
  EXPECT_EQ(device_.get<int>(counters, 6), (std::vector<int>{149 * 75, 149, -149, odd, 150, 0}));
  EXPECT_EQ(device_.get<float>(sums, 1).front(), 1.0F + 150 * 0.25F);
  EXPECT_EQ(device_.get<std::uint64_t>(wide, 1).front(), 7 + (150ULL << 33));
}

TEST_F(Values, SharedAtomicsCountBins) {
  std::vector<int> data(256);
  for (int i = 0; i < 256; ++i) data[i] = i * i % 23;
  std::vector<int> expected(16);
  for (int i = 0; i < 256; ++i) ++expected[i / 128 * 8 + (data[i] & 7)];
  const std::uint64_t in = device_.put(data);
  const std::uint64_t out = device_.put(std::vector<int>(16));
  const LaunchResult result =
      device_.run("shared_histogram", {.grid = {2, 1, 1}, .block = {128, 1, 1}}, in, out);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(device_.get<int>(out, 16), expected);
}

TEST_F(Values, ConversionsRoundAsTheirNamesSay) {
  std::vector<float> x(32);
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i - 16) * 0.7F;
  const std::uint64_t in = device_.put(x);
  const std::uint64_t out = device_.put(std::vector<int>(224));
  ASSERT_EQ(device_.run("conversions", {}, in, out).status, LaunchStatus::ok);
  const std::vector<int> v = device_.get<int>(out, 224);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(v[i], static_cast<int>(x[i]));
    EXPECT_EQ(v[32 + i], static_cast<int>(std::nearbyint(x[i])));
    EXPECT_EQ(v[64 + i], static_cast<signed char>(i * 37));
    // Eleven bits of precision: to the grid of the value's binade.
    const double magnitude = std::fabs(static_cast<double>(x[i]));
    const double step11 = magnitude > 0 ? std::ldexp(1.0, std::ilogb(magnitude) - 10) : 1.0;
    const double step8 = magnitude > 0 ? std::ldexp(1.0, std::ilogb(magnitude) - 7) : 1.0;
    const double half = std::nearbyint(static_cast<double>(x[i]) / step11) * step11;
    const double brain = std::nearbyint(static_cast<double>(x[i]) / step8) * step8;
    EXPECT_EQ(v[96 + i], static_cast<int>(half * 4096.0));
    EXPECT_EQ(v[128 + i], static_cast<int>(brain * 1024.0));
    EXPECT_EQ(v[160 + i], static_cast<int>(static_cast<double>(x[i]) * 1000.0));
    const auto whole = static_cast<unsigned>(std::fabs(x[i]));
    EXPECT_EQ(v[192 + i], static_cast<int>(static_cast<std::uint16_t>(whole * 1001U)));
  }
}

TEST_F(Values, MathFunctionsAreWithinAFewUlp) {
  std::vector<float> x(32);
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i - 16) * 0.37F;
  const std::uint64_t in = device_.put(x);
  const std::uint64_t out = device_.put(std::vector<float>(256));
  ASSERT_EQ(device_.run("math", {}, in, out).status, LaunchStatus::ok);
  const std::vector<float> v = device_.get<float>(out, 256);
  const auto expect_near = [](float got, double expected, const char* what) {
    const double tolerance = 1e-6 * std::max(1.0, std::fabs(expected));
    EXPECT_LE(std::fabs(got - expected), tolerance) << what;
  };
  for (int i = 0; i < 32; ++i) {
    const double d = x[i];
    expect_near(v[i], std::exp(d), "expf");
    expect_near(v[32 + i], std::sin(static_cast<double>(x[i] * 50.0F)), "sinf");
    expect_near(v[64 + i], 1.0 / std::sqrt(std::fabs(d) + 0.5), "rsqrtf");
    expect_near(v[96 + i], std::tanh(d), "tanhf");
    expect_near(v[128 + i], std::pow(static_cast<double>(std::fabs(x[i]) + 0.1F), 1.7F), "powf");
    EXPECT_EQ(v[160 + i], x[i] / 3.0F);
    expect_near(v[192 + i], std::log(std::fabs(d) + 1.0), "logf");
    expect_near(v[224 + i], std::erf(d), "erff");
  }
}

TEST_F(Values, IntegersOf64BitsMultiplyAndDivide) {
  std::vector<std::uint64_t> a(32);
  std::vector<std::uint64_t> b(32);
  for (int i = 0; i < 32; ++i) {
    a[i] = 0x9E3779B97F4A7C15ULL * static_cast<unsigned>(i + 1);
    b[i] = 0xD1B54A32D192ED03ULL >> (2 * i % 61);
  }
  const std::uint64_t in_a = device_.put(a);
  const std::uint64_t in_b = device_.put(b);
  const std::uint64_t out = device_.put(std::vector<std::uint64_t>(128));
  ASSERT_EQ(device_.run("wide_integers", {}, in_a, in_b, out).status, LaunchStatus::ok);
  const std::vector<std::uint64_t> v = device_.get<std::uint64_t>(out, 128);
  for (std::size_t i = 0; i < 32; ++i) {
    __extension__ using Wide = unsigned __int128;
    std::uint64_t reversed = 0;
    for (int k = 0; k < 64; ++k) reversed |= (a[i] >> k & 1U) << (63 - k);
    EXPECT_EQ(v[4 * i], a[i] * b[i]);
    EXPECT_EQ(v[4 * i + 1], static_cast<std::uint64_t>(Wide{a[i]} * b[i] >> 64));
    EXPECT_EQ(v[4 * i + 2], a[i] / (b[i] | 1U));
    EXPECT_EQ(v[4 * i + 3],
              static_cast<unsigned>(std::popcount(a[i]) + std::countl_zero(b[i])) + reversed % 97);
  }
}

TEST_F(Values, VectorAccessesKeepTheOrderOfElements) {
  std::vector<float> in(128);
  std::iota(in.begin(), in.end(), 0.0F);
  std::vector<std::int16_t> narrow(128);
  for (int i = 0; i < 128; ++i) narrow[i] = static_cast<std::int16_t>(i % 7 - 3);
  const std::uint64_t a = device_.put(in);
  const std::uint64_t b = device_.put(std::vector<float>(128));
  const std::uint64_t c = device_.put(narrow);
  const std::uint64_t d = device_.put(std::vector<int>(32));
  ASSERT_EQ(device_.run("vectors", {}, a, b, c, d).status, LaunchStatus::ok);
  const std::vector<float> out = device_.get<float>(b, 128);
  const std::vector<int> sums = device_.get<int>(d, 32);
  for (int i = 0; i < 32; ++i) {
    for (int k = 0; k < 4; ++k) EXPECT_EQ(out[4 * i + k], in[4 * i + 3 - k]);
    EXPECT_EQ(sums[i], narrow[4 * i] + narrow[4 * i + 1] * 10 + narrow[4 * i + 2] * 100 +
                           narrow[4 * i + 3] * 1000);
  }
}

TEST_F(Values, GenericAddressesReachEverySpace) {
  std::vector<int> data(64);
  std::iota(data.begin(), data.end(), 500);
  const std::vector<int> out = run_on("generic_addresses", data, 32);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(out[32 + i], i % 3 == 0 ? data[i] : i % 3 == 1 ? i * 5 : i * 3) << i;
  }
}

TEST_F(Values, ModuleVariablesAreReadWhereTheyWerePlaced) {
  std::vector<int> table(16);
  for (int i = 0; i < 16; ++i) table[i] = i * i;
  const int total = 1000;
  device_.memory().write(device_.symbol("table"), std::as_bytes(std::span(table)));
  device_.memory().write(device_.symbol("total"), std::as_bytes(std::span(&total, 1)));
  const std::vector<int> out = run_on("module_variables", std::vector<int>(32), 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], table[i % 16] + 1000);
}

TEST_F(Values, PrintfFormatsOnTheDevice) {
  const LaunchResult result = device_.run("prints", {}, 12);
  EXPECT_EQ(result.printed,
            "-3|   42|12  |0003.142|text|z|ff|1099511627776|0x1234|%|1.500000e+00\n");
}

TEST_F(Values, PrintfReturnsTheNumberOfItsArguments) {
  const std::vector<int> counts = run_on("counts_printed", std::vector<int>(2), 2);
  EXPECT_EQ(counts, (std::vector<int>{3, 0}));
}

TEST_F(Values, PrintfLeavesWhatGpusDoNotKnow) {
  const std::uint64_t out = device_.put(std::vector<int>(4));
  const LaunchResult result = device_.run("prints_unknown", {}, out);
  EXPECT_EQ(result.printed,
            "%zu %.*f %y 7|-1 7\n"
            "42 26661|\n"  // 0x6825: "%h", the format that lies behind the arguments
            "(null) (nil)|\n"
            "%5%\n");
  EXPECT_EQ(device_.get<int>(out, 4), (std::vector<int>{3, 1, 2, 0}));
}

TEST_F(Values, PrintedTextComesInOrderOfBlocks) {
  std::string expected;
  for (int i = 0; i < 20; ++i) expected += "block " + std::to_string(i) + "\n";
  for (const unsigned workers : {1U, 2U, 3U}) {
    EXPECT_EQ(
        device_.run("prints_by_block", {.grid = {20, 1, 1}, .block = {1, 1, 1}, .workers = workers})
            .printed,
        expected);
  }
}

TEST_F(Values, CountsInstructionsAndFlops) {
  const int n = 1000;
  const std::uint64_t data = device_.put(std::vector<float>(n, 1.0F));
  const LaunchResult result =
      device_.run("scale", {.grid = {8, 1, 1}, .block = {128, 1, 1}}, data, n);
  const KernelCounters& counters = result.counters;
  EXPECT_EQ(counters.fadd + counters.fmul, static_cast<std::uint64_t>(n));
  EXPECT_EQ(counters.flops.at("fp32"), static_cast<std::uint64_t>(n));
  EXPECT_EQ(counters.global_load_requests, 32U);
  EXPECT_EQ(counters.global_load_sectors, 125U);
  EXPECT_EQ(counters.instructions_by_class.at("global_store"), 32U);
  EXPECT_EQ(counters.branches, 32U);
  EXPECT_EQ(counters.divergent_branches, 1U);  // 1000 = 31 * 32 + 8
}

/// @param operation on volatile operands, so that it is not computed in another mode
template <class Operation>
float rounded_by_host(int mode, Operation operation) {
  std::fesetround(mode);
  const volatile float result = operation();
  std::fesetround(FE_TONEAREST);
  return result;
}

TEST_F(Values, DirectedSumsAndProductsAreThoseOfTheHostsModes) {
  constexpr int kThreads = 64;
  std::vector<float> x(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    x[i] = std::ldexp(static_cast<float>(i * 7919 % 65521) - 30000, i % 23 - 11) / 3;
  }
  const std::uint64_t in = device_.put(x);
  const std::uint64_t out = device_.put(std::vector<float>(4 * kThreads));
  device_.run("rounds_directed", {.block = {kThreads, 1, 1}}, in, out);
  std::vector<float> expected;
  for (int i = 0; i < kThreads; ++i) {
    const volatile float a = x[i], b = x[(i * 7 + 1) % kThreads], c = x[(i * 11 + 2) % kThreads];
    const volatile double product = static_cast<double>(a) * b;
    expected.push_back(rounded_by_host(FE_DOWNWARD, [&] { return std::fma(a, b, c); }));
    expected.push_back(rounded_by_host(FE_UPWARD, [&] { return a + b; }));
    expected.push_back(rounded_by_host(FE_TOWARDZERO, [&] { return a * b; }));
    expected.push_back(rounded_by_host(FE_DOWNWARD, [&] { return static_cast<float>(product); }));
  }
  EXPECT_EQ(device_.get<float>(out, expected.size()), expected);
}

TEST_F(Values, CountsConversionsByThePipeThatRunsThem) {
  const std::uint64_t out = device_.put(std::vector<float>(3));
  const LaunchResult result = device_.run("converts", {}, out, std::uint16_t{0x4049}, 2.75F);
  const std::vector<float> values = device_.get<float>(out, 3);
  EXPECT_EQ(values[0], 3.140625F);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(values[1]), 0x4049U);
  EXPECT_EQ(std::bit_cast<std::int32_t>(values[2]), 2);
  // Only what rounds takes the conversion pipe; widening bits is integer arithmetic.
  EXPECT_EQ(result.counters.instructions_by_class.at("conversion"), 1U);
  EXPECT_GE(result.counters.instructions_by_class.at("integer"), 2U);
}

}  // namespace
}  // namespace simgpu::testing
