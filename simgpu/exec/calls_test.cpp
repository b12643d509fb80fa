#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "simgpu/exec/engine_testing.h"

/// Device functions that call themselves or are called through their address (testdata/calls.cu),
/// against the same functions on the host.
namespace simgpu::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Calls : public ::testing::Test {
 protected:
  Device device_ = Device::from_file(SIMGPU_CALLS_PTX);

  template <class... Arguments>
  std::vector<int> values_of(const std::string& kernel, const Launch& launch,
                             const std::vector<int>& values, Arguments... more) {
    const std::uint64_t out = device_.put(values);
    const LaunchResult result = device_.run(kernel, launch, out, more...);
    EXPECT_EQ(result.status, LaunchStatus::ok);
    for (const Finding& finding : result.findings) ADD_FAILURE() << finding.message;
    return device_.get<int>(out, values.size());
  }
  template <class... Arguments>
  Finding failure_of(const std::string& kernel, LaunchStatus status, Arguments... arguments) {
    const LaunchResult result = device_.run(kernel, {}, arguments...);
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.findings.size(), 1U);
    return result.findings.empty() ? Finding{} : result.findings.back();
  }
  std::uint64_t pointer(const std::string& function) { return device_.symbol(function); }
};

unsigned weigh(unsigned n) { return n == 0 ? 1 : weigh(n - 1) * 3 + (weigh(n / 2) ^ n); }

TEST_F(Calls, EachLaneRecursesToItsOwnDepth) {
  std::vector<int> expected(300);
  for (unsigned i = 0; i < 300; ++i) {
    expected[i] = static_cast<int>(weigh(i % 11) + i * (i % 11));
  }
  EXPECT_EQ(values_of("recurse", {.grid = {3, 1, 1}, .block = {100, 1, 1}}, std::vector<int>(300)),
            expected);
}

TEST_F(Calls, RowsAreSortedByRecursion) {
  constexpr int kRows = 64, kLength = 37;
  std::vector<int> values(kRows * kLength);
  std::uint32_t state = 1;
  for (int& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<int>(state >> 20) - 2000;
  }
  std::vector<int> expected = values;
  for (int row = 0; row < kRows; ++row) {
    const auto first = expected.begin() + row * kLength;
    std::sort(first, first + kLength - row % 3);
  }
  EXPECT_EQ(values_of("sort_rows", {.block = {kRows, 1, 1}, .stack = 8192}, values, kLength),
            expected);
}

int odd_steps(int n, int sum);
int even_steps(int n, int sum) { return n == 0 ? sum : odd_steps(n - 1, sum * 2) + 1; }
int odd_steps(int n, int sum) { return n == 0 ? -sum : even_steps(n - 1, sum + 3) - 5; }

TEST_F(Calls, TwoFunctionsCallEachOther) {
  std::vector<int> expected(32);
  for (int i = 0; i < 32; ++i) expected[i] = even_steps(i % 9, i);
  EXPECT_EQ(values_of("take_turns", {}, std::vector<int>(32)), expected);
}

/// Without signs: the sums wrap around, as they do on a GPU.
std::uint32_t nested_arrays(int n, const std::uint32_t* above) {
  std::uint32_t own[5];
  for (int i = 0; i < 5; ++i) own[i] = n * i + (above == nullptr ? 1 : above[(n + i) % 5]);
  if (n > 0) own[n % 5] += nested_arrays(n - 1, own);
  std::uint32_t sum = 0;
  for (int i = 0; i < 5; ++i) sum = sum * 3 + own[(i + n) % 5];
  return sum;
}

TEST_F(Calls, EachActivationHasItsOwnArray) {
  std::vector<int> expected(64);
  for (int i = 0; i < 64; ++i) expected[i] = static_cast<int>(nested_arrays(i % 7, nullptr));
  EXPECT_EQ(values_of("arrays_of_activations", {.block = {64, 1, 1}}, std::vector<int>(64)),
            expected);
}

TEST_F(Calls, AnArrayOfANewActivationIsUninitialised) {
  const std::uint64_t out = device_.put(std::vector<int>(32));
  const LaunchResult clean = device_.run("stale_frames", {}, out, 1, 1);
  EXPECT_EQ(clean.status, LaunchStatus::ok);
  EXPECT_TRUE(clean.findings.empty());
  EXPECT_EQ(device_.get<int>(out, 32), std::vector<int>(32, 2 * (3 + 2 + 1)));
  const LaunchResult stale = device_.run("stale_frames", {}, out, 1, 0);
  ASSERT_FALSE(stale.findings.empty());
  EXPECT_EQ(stale.findings.front().code, Code("RL0208"));
  EXPECT_EQ(device_.get<int>(out, 32), std::vector<int>(32, 3 + 2 + 1));
}

TEST_F(Calls, TooDeepARecursionNamesTheFunctionAndTheLimit) {
  const std::uint64_t out = device_.put(std::vector<int>(32));
  const Finding finding = failure_of("overflow", LaunchStatus::stack_overflow, out, 0);
  EXPECT_EQ(finding.code, Code("RL0209"));
  EXPECT_THAT(finding.where.file, HasSubstr("calls.cu"));
  EXPECT_GT(finding.where.line, 0U);
  EXPECT_THAT(finding.message, HasSubstr("of 1024 bytes"));
  EXPECT_THAT(finding.message, HasSubstr("endless(int)"));
  EXPECT_THAT(finding.message, HasSubstr("cudaLimitStackSize"));
  // Thirty activations fit.
  const std::uint64_t good = device_.put(std::vector<int>(32));
  EXPECT_EQ(device_.run("overflow", {}, good, -30).status, LaunchStatus::ok);
  int expected = 0;
  for (int n = -2; n >= -30; --n) expected = expected * 2 + n;
  EXPECT_EQ(device_.get<int>(good, 1)[0], expected);
}

TEST_F(Calls, ALargerStackAllowsDeeperCalls) {
  const auto depth = [&](std::uint32_t stack) {
    const std::uint64_t out = device_.put(std::vector<int>(32));
    return device_.run("overflow", {.stack = stack}, out, -150).status;
  };
  EXPECT_EQ(depth(1024), LaunchStatus::stack_overflow);
  EXPECT_EQ(depth(16384), LaunchStatus::ok);
}

int leave_early(int n, int limit) {
  if (n == limit) return -1;
  if (n > 40) return n;
  const int below = leave_early(n + 8, limit);
  return below < 0 ? -1 : below + 1;
}

TEST_F(Calls, LanesMayExitInACall) {
  std::vector<int> expected(32, 7);
  for (int i = 0; i < 32; ++i) {
    const int value = i < 24 ? leave_early(i % 8, i % 3 == 0 ? i % 8 + 16 : -1) : 0;
    if (i >= 24) {
      expected[i] = -i;
    } else if (value >= 0) {
      expected[i] = value * 100 + 16;  // of 24 lanes, every third has left
    }
  }
  EXPECT_EQ(values_of("exit_in_a_call", {}, std::vector<int>(32, 7)), expected);
}

TEST_F(Calls, BarriersWorkInCalls) {
  std::vector<int> expected(96);
  for (int i = 0; i < 96; ++i) expected[i] = i + 15 + 15;
  EXPECT_EQ(values_of("barriers_in_calls", {.block = {96, 1, 1}}, std::vector<int>(96)), expected);
  const std::uint64_t out = device_.put(std::vector<int>(32));
  const Finding finding = failure_of("barrier_in_half_the_calls", LaunchStatus::ok, out);
  EXPECT_EQ(finding.code, Code("RL0305"));
}

TEST_F(Calls, PrintfWorksInCalls) {
  const std::uint64_t out = device_.put(std::vector<int>(4));
  const LaunchResult result = device_.run("print_in_calls", {.block = {4, 1, 1}}, out);
  EXPECT_EQ(result.status, LaunchStatus::ok);
  EXPECT_THAT(result.printed, HasSubstr("2 of lane 2\n"));
  EXPECT_THAT(result.printed, HasSubstr("0 of lane 3\n"));
  EXPECT_EQ(std::count(result.printed.begin(), result.printed.end(), '\n'), 1 + 2 + 3 + 1);
  EXPECT_EQ(device_.get<int>(out, 4), (std::vector<int>{0, 1, 3, 0}));
}

int add(int a, int b) { return a + b; }
int multiply(int a, int b) { return a * b; }
int subtract(int a, int b) { return a - b; }
int count_up(int a, int b) {
  int sum = 0;
  for (int i = 0; i < (a & 7); ++i) sum += b ^ i;
  return sum;
}
using Operation = int (*)(int, int);
constexpr Operation kOperations[] = {add, multiply, subtract, count_up};

TEST_F(Calls, TablesOfFunctionsSendEachLaneToItsOwn) {
  std::vector<int> which(64);
  for (int i = 0; i < 64; ++i) which[i] = i < 32 ? (i * 7 / 3) % 4 : 2;
  std::vector<int> expected(64);
  for (int i = 0; i < 64; ++i) {
    expected[i] = kOperations[which[i]](i, 5) * 10 +
                  kOperations[3 - which[i]](kOperations[which[i]](i, 5), i);
    expected[i] += 32;  // all lanes of the warp are together again
  }
  EXPECT_EQ(values_of("tables", {.block = {64, 1, 1}}, std::vector<int>(64), device_.put(which)),
            expected);
}

TEST_F(Calls, AKernelCallsThePointerItIsGiven) {
  const std::vector<std::pair<std::string, Operation>> functions{
      {"_Z3addii", add}, {"_Z8subtractii", subtract}, {"_Z8count_upii", count_up}};
  for (const auto& [name, function] : functions) {
    std::vector<int> expected(32, -1);
    for (int i = 0; i < 32; i += 3) expected[i] = function(i, 7);
    EXPECT_EQ(values_of("given_pointer", {}, std::vector<int>(32), pointer(name)), expected);
  }
}

int apply(Operation operation, int n) { return n == 0 ? 1 : operation(n, apply(operation, n - 1)); }

TEST_F(Calls, RecursionPassesPointersOn) {
  std::vector<int> expected(32);
  for (int i = 0; i < 32; ++i) expected[i] = apply(kOperations[i % 4], i % 6);
  EXPECT_EQ(values_of("chosen_pointers", {}, std::vector<int>(32)), expected);
}

TEST_F(Calls, VirtualFunctionsAreThoseOfTheObject) {
  std::vector<int> expected(64);
  for (int i = 0; i < 64; ++i) {
    const auto square = [](int side, int scale) { return side * side * scale; };
    const auto pair = [&](int scale) { return square(i, scale) + square(i + 2, scale + 1); };
    const int areas[] = {square(i, 3), square(i + 2, 3), pair(3), pair(3) + square(i, 4)};
    const int depths[] = {1, 1, 2, 3};
    expected[i] = areas[i % 4] * 10 + depths[i % 4];
  }
  EXPECT_EQ(values_of("shapes", {.block = {64, 1, 1}}, std::vector<int>(64)), expected);
}

TEST_F(Calls, WhatIsMissingInAVirtualFunctionIsRefusedWhenItRuns) {
  const std::uint64_t out = device_.put(std::vector<int>(32));
  EXPECT_EQ(device_.run("call_missing", {}, out, 0).status, LaunchStatus::ok);
  EXPECT_EQ(device_.get<int>(out, 32), std::vector<int>(32, 12));
  const Finding finding = failure_of("call_missing", LaunchStatus::unsupported, out, 1);
  EXPECT_EQ(finding.code, Code("RL0312"));
  EXPECT_THAT(finding.message, HasSubstr("wgmma.fence.sync.aligned"));
}

TEST_F(Calls, ANullPointerIsNoFunction) {
  const std::uint64_t out = device_.put(std::vector<int>(32));
  const Finding finding =
      failure_of("given_pointer", LaunchStatus::invalid_program_counter, out, std::uint64_t{0});
  EXPECT_EQ(finding.code, Code("RL0210"));
  EXPECT_THAT(finding.message, HasSubstr("null pointer"));
  EXPECT_GT(finding.where.line, 0U);
}

TEST_F(Calls, NeitherIsData) {
  const std::uint64_t out = device_.put(std::vector<int>(32));
  const Finding finding =
      failure_of("given_pointer", LaunchStatus::invalid_program_counter, out, out);
  EXPECT_EQ(finding.code, Code("RL0210"));
  EXPECT_THAT(finding.message, HasSubstr("128-byte allocation"));
}

TEST_F(Calls, AFunctionOfOtherTypesIsRefusedByName) {
  const std::uint64_t out = device_.put(std::vector<int>(32));
  const Finding finding = failure_of("given_pointer", LaunchStatus::invalid_program_counter, out,
                                     pointer("_Z16not_an_operationf"));
  EXPECT_THAT(finding.message, HasSubstr("not_an_operation(float)"));
  EXPECT_THAT(finding.message, HasSubstr("other types"));
}

TEST_F(Calls, CountersAndValuesDoNotDependOnWorkers) {
  std::vector<LaunchResult> results;
  std::vector<std::vector<int>> values;
  for (const unsigned workers : {1U, 2U, 3U}) {
    Device device = Device::from_file(SIMGPU_CALLS_PTX);
    const std::uint64_t out = device.put(std::vector<int>(40 * 96));
    const Launch launch{.grid = {40, 1, 1}, .block = {96, 1, 1}, .workers = workers};
    results.push_back(device.run("recurse", launch, out));
    values.push_back(device.get<int>(out, 40 * 96));
  }
  for (std::size_t i = 1; i < results.size(); ++i) {
    EXPECT_EQ(values[i], values[0]);
    EXPECT_EQ(results[i].counters.warp_instructions, results[0].counters.warp_instructions);
    EXPECT_EQ(results[i].counters.thread_instructions, results[0].counters.thread_instructions);
    EXPECT_EQ(results[i].counters.instructions_by_class, results[0].counters.instructions_by_class);
    EXPECT_EQ(results[i].counters.divergent_branches, results[0].counters.divergent_branches);
  }
}

}  // namespace
}  // namespace simgpu::testing
