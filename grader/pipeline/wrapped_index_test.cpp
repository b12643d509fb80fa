#include "grader/pipeline/wrapped_index.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace rooflab {
namespace {

constexpr std::uint64_t kGiga = std::uint64_t{1} << 30;
constexpr std::uint64_t kAddress = 0x7000'0000'0000;

/// An output of 6 Gi elements of 2 bytes, behind an input.
Problem vast_problem() {
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(6 * kGiga)};
  return {.parameters = {},
          .tensors = {{"x", ElementType::bfloat16, Role::input, shape, {}},
                      {"y", ElementType::bfloat16, Role::output, shape, {}}},
          .vast = true};
}

/// A call of which 34 of a thousand blocks ran, which stored to these bytes of the output.
/// @param of_grid  bytes of the output that all blocks store
RunOutcome outcome_of(std::vector<simgpu::ByteRange> written, std::uint64_t of_grid) {
  RunOutcome outcome;
  outcome.activity.kernels.resize(1);
  outcome.activity.kernels[0].at_least = true;
  outcome.settled.written = {{}, std::move(written)};
  outcome.settled.of_grid = {0, of_grid};
  outcome.settled.addresses = {kAddress, 2 * kAddress};
  outcome.settled.chosen = {
      .storing = 34, .of_grid = 1000, .last_stores_at = 2 * kAddress + 4 * kGiga};
  return outcome;
}

TEST(WrappedIndex, IsTheOneBehindWhichNoneOfTheChosenBlocksWrites) {
  const auto below_2_32 =
      wrapped_index(vast_problem(), outcome_of({{0, 512}, {7 * kGiga, 512}}, 12 * kGiga));
  ASSERT_TRUE(below_2_32);
  EXPECT_EQ(below_2_32->tensor, "y");
  EXPECT_EQ(below_2_32->unwritten, 4294967296U);
  EXPECT_TRUE(below_2_32->wraps);
  EXPECT_EQ(below_2_32->last_block, 999U);
  EXPECT_EQ(below_2_32->last_writes, 2 * kGiga) << "in elements of 2 bytes";
  const auto below_2_31 =
      wrapped_index(vast_problem(), outcome_of({{0, 512}, {3 * kGiga, 512}}, 12 * kGiga));
  ASSERT_TRUE(below_2_31);
  EXPECT_EQ(below_2_31->unwritten, 2147483648U);
}

TEST(WrappedIndex, IsNoneWhereBlocksWriteAllOverTheOutput) {
  EXPECT_FALSE(wrapped_index(vast_problem(), outcome_of({{0, 64}, {9 * kGiga, 64}}, 12 * kGiga)));
}

TEST(WrappedIndex, IsNoneWhereTooFewBlocksStoredToTell) {
  RunOutcome outcome = outcome_of({{0, 512}, {7 * kGiga, 512}}, 12 * kGiga);
  outcome.settled.chosen.storing = 8;
  EXPECT_FALSE(wrapped_index(vast_problem(), outcome));
}

TEST(WrappedIndex, IsNoneOfBlocksThatWereNotChosenFromAllOverTheGrid) {
  RunOutcome outcome = outcome_of({{0, 512}}, kGiga);
  outcome.settled.chosen = {};
  EXPECT_FALSE(wrapped_index(vast_problem(), outcome));
  outcome.settled = {};
  EXPECT_FALSE(wrapped_index(vast_problem(), outcome)) << "nobody knows what was written";
}

TEST(WrappedIndex, IsThereWhereTheGridWritesTooLittleOrNothing) {
  const auto little = wrapped_index(vast_problem(), outcome_of({{10 * kGiga, 64}}, 4 * kGiga));
  ASSERT_TRUE(little);
  EXPECT_EQ(little->unwritten, 0U) << "which elements are missing is not known";
  RunOutcome nothing = outcome_of({}, 0);
  nothing.settled.chosen = {.storing = 0, .of_grid = 1000};
  const auto none = wrapped_index(vast_problem(), nothing);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->last_block, 999U);
  EXPECT_FALSE(none->last_writes);
}

TEST(WrappedIndex, IsThereWhereTheWholeCallStoresTooLittleForSoManyElements) {
  RunOutcome whole;
  EXPECT_TRUE(wrapped_index(vast_problem(), whole)) << "nothing was launched";
  whole.activity.kernels.resize(1);
  whole.activity.kernels[0].counters.global_store_bytes = 12 * kGiga;
  EXPECT_FALSE(wrapped_index(vast_problem(), whole));
}

/// A call that ran whole, with a launch of so many blocks of 256 threads that stored these bytes.
RunOutcome whole_run(std::uint32_t blocks, std::uint64_t stored) {
  RunOutcome outcome;
  outcome.activity.kernels.resize(1);
  outcome.activity.kernels[0].grid = {blocks, 1, 1};
  outcome.activity.kernels[0].block = {256, 1, 1};
  outcome.activity.kernels[0].counters.global_store_bytes = stored;
  return outcome;
}

TEST(WrappedIndex, OfAGridThatWasCappedTellsItsThreadsAndNotThatAnIndexWraps) {
  const auto capped =
      wrapped_index(vast_problem(), whole_run(65535, std::uint64_t{65535} * 256 * 2));
  ASSERT_TRUE(capped);
  EXPECT_FALSE(capped->wraps);
  ASSERT_TRUE(capped->short_grid);
  EXPECT_EQ(capped->short_grid->blocks, 65535U);
  EXPECT_EQ(capped->short_grid->threads, 256U);
  EXPECT_EQ(capped->short_grid->each, 1U);
  EXPECT_EQ(capped->unwritten, 65535U * 256U);
  const auto of_four = wrapped_index(vast_problem(), whole_run(4096, 4096 * 256 * 4 * 2));
  ASSERT_TRUE(of_four && of_four->short_grid);
  EXPECT_EQ(of_four->short_grid->each, 4U);
}

TEST(WrappedIndex, OfAGridForACountOf32BitsSaysThatItWraps) {
  Problem problem = vast_problem();
  for (Tensor& tensor : problem.tensors)
    tensor.shape = {static_cast<std::int64_t>(4 * kGiga) + 5000};
  const auto wrapped = wrapped_index(problem, whole_run(20, 5000 * 2));
  ASSERT_TRUE(wrapped);
  EXPECT_TRUE(wrapped->wraps);
  EXPECT_FALSE(wrapped->short_grid);
}

TEST(WrappedIndex, OfALaunchThatWritesSomethingElseClaimsNothing) {
  const auto strange = wrapped_index(vast_problem(), whole_run(100, 12345 * 2));
  ASSERT_TRUE(strange);
  EXPECT_FALSE(strange->wraps);
  EXPECT_FALSE(strange->short_grid);
}

TEST(WrappedIndex, OfBlocksThatEndFarBeforeAnIndexWrapsClaimsNothing) {
  const auto early =
      wrapped_index(vast_problem(), outcome_of({{0, 512}, {kGiga / 4, 512}}, kGiga / 2));
  ASSERT_TRUE(early);
  EXPECT_FALSE(early->wraps);
}

/// A cache takes few new tokens: that most of it stays as it was says nothing.
TEST(WrappedIndex, IsNoneOfWhatIsThereBeforeTheCallAndIsWrittenHereAndThere) {
  Problem cache = vast_problem();
  cache.tensors[1].role = Role::in_out;
  EXPECT_FALSE(wrapped_index(cache, outcome_of({{0, 64}, {11 * kGiga, 64}}, 4096)));
  EXPECT_TRUE(wrapped_index(cache, outcome_of({{0, 64}, {3 * kGiga, 64}}, 4096)))
      << "behind 2^31 no block writes";
  RunOutcome whole = outcome_of({}, 0);
  whole.activity.kernels[0].at_least = false;
  EXPECT_FALSE(wrapped_index(cache, whole));
}

TEST(WrappedIndex, NeedsMoreElementsThanAnIntCounts) {
  EXPECT_TRUE(counts_beyond_int(vast_problem()));
  Problem large = vast_problem();
  for (Tensor& tensor : large.tensors) tensor.shape = {static_cast<std::int64_t>(kGiga)};
  EXPECT_FALSE(counts_beyond_int(large));
}

}  // namespace
}  // namespace rooflab
