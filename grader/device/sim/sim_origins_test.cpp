// What the simulated GPU says went into elements of outputs, of tasks whose answer is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "grader/device/sim/sim_device_testing.h"

namespace rooflab {
namespace {

using End = RunOutcome::End;

std::set<ElementPlace> places_of(const ElementOrigin& origin) {
  std::set<ElementPlace> places;
  for (const ElementRead& read : origin.reads) places.insert(read.from);
  return places;
}

TEST_F(SimDeviceTest, OriginsNameTheElementAndItsLine) {
  RunRequest request = request_of(problem_, "scale", "libgpu_tasks.so", std::chrono::seconds(60));
  request.origins_of = {{1, 300}, {1, 7}, {1, 1'000'000}, {9, 0}};
  const RunOutcome outcome = device_.run(request);
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  ASSERT_EQ(outcome.origins.size(), 4U);
  const ElementOrigin& origin = outcome.origins[0];
  EXPECT_EQ(origin.of, (ElementPlace{1, 300}));
  EXPECT_TRUE(origin.complete);
  EXPECT_EQ(origin.stores, 1U);
  ASSERT_EQ(origin.reads.size(), 1U);
  EXPECT_EQ(origin.reads[0].from, (ElementPlace{0, 300}));
  EXPECT_EQ(origin.reads[0].times, 1U);
  EXPECT_TRUE(origin.reads[0].file.ends_with("gpu_tasks.cu")) << origin.reads[0].file;
  EXPECT_EQ(origin.reads[0].line, origin.line);
  EXPECT_GT(origin.line, 0U);
  EXPECT_EQ(origin.thread, origin.reads[0].thread);
  EXPECT_EQ(outcome.origins[1].of, (ElementPlace{1, 7}));
  EXPECT_TRUE(outcome.origins[2].reads.empty()) << "there is no such element";
  EXPECT_TRUE(outcome.origins[3].reads.empty()) << "there is no such tensor";
}

TEST_F(SimDeviceTest, NobodyWhoDoesNotAskGetsOrigins) { EXPECT_TRUE(run("scale").origins.empty()); }

TEST_F(SimDeviceTest, OriginsAreThoseOfTheFirstOfSeveralCalls) {
  RunRequest request = request_twice(problem_, "scale");
  request.origins_of = {{1, 5}};
  const RunOutcome outcome = device_.run(request);
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  ASSERT_EQ(outcome.origins.size(), 1U);
  EXPECT_EQ(outcome.origins[0].stores, 1U);
  EXPECT_EQ(outcome.fresh.size(), 1U);
}

/// Solutions of the course that multiply matrices of its own.
class SolutionsOrigins : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::int64_t kM = 48, kN = 40, kK = 56;

  Tensor matrix(const std::string& name, std::int64_t rows, std::int64_t columns, Role role) const {
    const bool is_narrow = std::string(GetParam()) == "gemm_wmma" && role == Role::input;
    Tensor tensor{.name = name,
                  .type = is_narrow ? ElementType::bfloat16 : ElementType::float32,
                  .role = role,
                  .shape = {rows, columns},
                  .data = {}};
    if (role == Role::input) tensor.data.resize(tensor.bytes(), std::byte{0x3F});
    return tensor;
  }

  SimDevice device_{"a100", sim_options()};
};

TEST_P(SolutionsOrigins, AreARowAndAColumnEachReadOnce) {
  // Tensor cores take whole tiles.
  const bool is_whole = std::string(GetParam()) == "gemm_wmma";
  const std::int64_t m = is_whole ? 64 : kM, n = is_whole ? 64 : kN, k = is_whole ? 64 : kK;
  const Problem problem{.parameters = {{"m", m}, {"n", n}, {"k", k}},
                        .tensors = {matrix("A", m, k, Role::input), matrix("B", k, n, Role::input),
                                    matrix("C", m, n, Role::output)}};
  RunRequest request =
      request_of(problem, GetParam(), "libsolution_tasks.so", std::chrono::seconds(60));
  request.origins_of = {{2, 0}, {2, static_cast<std::uint64_t>(37 * n + 29)}};
  const RunOutcome outcome = device_.run(request);
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  ASSERT_EQ(outcome.origins.size(), 2U);
  for (const ElementOrigin& origin : outcome.origins) {
    const std::uint64_t row = origin.of.element / n, column = origin.of.element % n;
    std::set<ElementPlace> expected;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(k); ++i) {
      expected.insert({0, row * static_cast<std::uint64_t>(k) + i});
      expected.insert({1, i * static_cast<std::uint64_t>(n) + column});
    }
    EXPECT_TRUE(origin.complete);
    EXPECT_EQ(places_of(origin), expected);
    for (const ElementRead& read : origin.reads) {
      EXPECT_EQ(read.times, 1U) << read.from.tensor << ": " << read.from.element;
      EXPECT_TRUE(read.file.ends_with(std::string(GetParam()) + ".cu")) << read.file;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Part1, SolutionsOrigins,
                         testing::Values("gemm_naive", "gemm_tiled", "gemm_registers", "gemm_wmma"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace rooflab
