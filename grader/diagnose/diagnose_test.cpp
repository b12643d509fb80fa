#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "grader/diagnose/diagnose_testing.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TensorCheck check_of(std::vector<double> got, std::vector<double> expected,
                     std::vector<std::int64_t> shape) {
  TensorCheck check;
  check.tensor = "C";
  check.shape = std::move(shape);
  check.got = std::move(got);
  check.expected = std::move(expected);
  check.tolerance.assign(check.got.size(), 1e-5);
  for (std::size_t i = 0; i < check.got.size(); ++i) {
    check.wrong.push_back(!(std::abs(check.got[i] - check.expected[i]) <= 1e-5));
    check.unwritten.push_back(false);
    check.wrong_count += check.wrong.back();
    check.nan_count += std::isnan(check.got[i]);
  }
  return check;
}

TEST_F(DiagnoseTest, ARaceIsToldWithBothAccessesItsEffectAndTheNextStep) {
  simgpu::Finding race;
  race.code = "RL0301";
  race.kernel =
      "(anonymous namespace)::gemm_tiled(float const*, float const*, float*, int, int, int)";
  race.message = "One thread overwrites byte 0 of shared array Bs (4096 bytes) …";
  race.object = "byte 0 of shared array Bs (4096 bytes)";
  race.name = "Bs";
  race.where = {"/build/gemm_tiled.cu", 2, 5, {0, 0, 0}, {0, 0, 0}, 0, "stores 4 bytes"};
  race.other =
      simgpu::AccessSite{"/build/gemm_tiled.cu", 4, 9, {0, 0, 0}, {0, 2, 0}, 1, "reads 4 bytes"};
  const TensorCheck effect = check_of({1, 2, 5, 9}, {1, 2, 3, 4}, {2, 2});

  EXPECT_EQ(told(explain_finding(race, context_, &effect)),
            R"(error[RL0301]: `Bs` is overwritten while another thread still needs it
 --> gemm_tiled.cu:2:5, kernel gemm_tiled, block (0,0)
  |
2 |     Bs[ty][tx] = B[row * N + col];
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ thread (0,0), warp 0, stores 4 bytes
4 |         acc += As[ty][k] * Bs[k][tx];
  |         ---------------------------- thread (0,2), warp 1, reads 4 bytes
  |
Effect: 2 of 4 elements of C differ, case 64 x 64 x 64; exactly the rows from 1 on
  first C[1][0]      expected             3   got             5   tolerance 1e-05
  worst C[1][1]      expected             4   got             9   tolerance 1e-05
  pattern (. right, x wrong)
    ..
    xx
note: memory: byte 0 of shared array Bs (4096 bytes)
note: a real GPU may pass by luck; this was found by barrier intervals, not by chance
help: every thread must finish reading a tile before any thread replaces it
  next hint  grader --part 1 --task gemm_tiled --hint
  this case  grader --part 1 --task gemm_tiled --case 2 --seed 8812
  concept    grader explain RL0301
)");
}

TEST_F(DiagnoseTest, OnlyARaceWithinOneWarpIsOfferedAWarpBarrier) {
  simgpu::Finding race;
  race.code = "RL0302";
  race.name = "scores";
  race.where = {"gemm_tiled.cu", 4, 9, {0, 0, 0}, {0, 2, 0}, 2, "reads 4 bytes"};
  race.other = simgpu::AccessSite{"gemm_tiled.cu", 2, 5, {0, 0, 0}, {1, 2, 0}, 2, "writes 4 bytes"};
  const Diagnostic within = explain_finding(race, context_, nullptr);
  EXPECT_THAT(told(within), HasSubstr("both threads are of one warp"));
  EXPECT_THAT(told(within), Not(HasSubstr("in the same way")));
  EXPECT_THAT(within.help, HasSubstr("__syncwarp()"));
  race.other->warp = 1;
  const Diagnostic across = explain_finding(race, context_, nullptr);
  EXPECT_THAT(told(across), Not(HasSubstr("one warp")));
  EXPECT_THAT(across.help, Not(HasSubstr("__syncwarp()")));
}

TEST_F(DiagnoseTest, BehindABarrierTheStoreOfALoopIsTheNextIterations) {
  context_.sources["gemm_tiled.cu"] =
      "  for (int k = 0; k < n; ++k) {\n    ks[x] = K[k];\n    __syncthreads();\n"
      "    score += ks[0];\n  }\n";
  simgpu::Finding race;
  race.code = "RL0302";
  race.name = "ks";
  race.where = {"gemm_tiled.cu", 4, 14, {0, 0, 0}, {0, 0, 0}, 0, "reads 4 bytes"};
  race.other =
      simgpu::AccessSite{"gemm_tiled.cu", 2, 5, {0, 0, 0}, {32, 0, 0}, 1, "writes 4 bytes"};
  race.other->writes = true;
  const Diagnostic story = explain_finding(race, context_, nullptr);
  EXPECT_THAT(story.help, HasSubstr("__syncthreads() at the end of the loop of line 1"));
  EXPECT_THAT(story.labels.at(1).text, HasSubstr("writes 4 bytes, in the next iteration"));
  race.where = {"common.cuh", 25, 3, {0, 0, 0}, {0, 0, 0}, 0, "reads 4 bytes"};
  race.where.inlined_at = {{"dot", "gemm_tiled.cu", 4, 14}};
  EXPECT_EQ(explain_finding(race, context_, nullptr).help, story.help) << "a function reads there";
}

TEST_F(DiagnoseTest, ALoopIsUnderlinedAsAWholeAndTwoBlocksAreBothNamed) {
  context_.sources["gemm_tiled.cu"] = "  for (int i = 0; i < n; ++i) sum += x[i];  // all\n";
  simgpu::Finding race;
  race.code = "RL0304";
  race.message = "two blocks touch y";
  race.where = {"gemm_tiled.cu", 1, 3, {0, 0, 0}, {0, 0, 0}, 0, "writes 4 bytes"};
  race.other = simgpu::AccessSite{"gemm_tiled.cu", 1, 3, {1, 0, 0}, {0, 0, 0}, 0, "reads 4 bytes"};
  const Diagnostic story = explain_finding(race, context_, nullptr);
  EXPECT_EQ(story.message, "two blocks touch y");
  EXPECT_EQ(story.labels.at(0).length,
            std::string("for (int i = 0; i < n; ++i) sum += x[i]").size());
  EXPECT_THAT(story.labels.at(0).text, HasSubstr("block (0,0)"));
  EXPECT_THAT(story.labels.at(1).text, HasSubstr("block (1,0)"));
}

TEST_F(DiagnoseTest, ALineBeyondTheGradedTextHasNoExcerpt) {
  simgpu::Finding finding;
  finding.code = "RL0311";
  finding.where = {"gemm_tiled.cu", 1000, 3, {0, 0, 0}, {0, 0, 0}, 0, "traps"};
  EXPECT_EQ(explain_finding(finding, context_, nullptr).labels.at(0).excerpt, "");
}

TEST_F(DiagnoseTest, APlaceThatIsReadBeforeAnythingWasStoredThereIsReadTooEarly) {
  simgpu::Finding race;
  race.code = "RL0301";
  race.kernel = "sum(float*)";
  race.object = "byte 4 of shared array sums (32 bytes)";
  race.name = "sums";
  race.where = {"sum.cu", 2, 5, {0, 0, 0}, {32, 0, 0}, 1, "stores 4 bytes"};
  race.other = simgpu::AccessSite{"sum.cu", 4, 9, {0, 0, 0}, {1, 0, 0}, 0, "reads 4 bytes"};
  simgpu::Finding nothing_there;
  nothing_there.code = "RL0206";
  nothing_there.kernel = race.kernel;
  nothing_there.object = race.object;
  nothing_there.name = race.name;
  nothing_there.where = *race.other;

  EXPECT_EQ(with_cause(race, {race}).code, Code("RL0301")) << "an old value was there";
  const simgpu::Finding early = with_cause(race, {race, nothing_there});
  EXPECT_EQ(early.code, Code("RL0302"));
  EXPECT_EQ(early.where.line, 4U);
  EXPECT_EQ(early.other->line, 2U);
  EXPECT_THAT(explain_finding(early, context_).message, HasSubstr("`sums` is read before"));
  nothing_there.where.line = 7;
  EXPECT_EQ(with_cause(race, {race, nothing_there}).code, Code("RL0301"))
      << "another place is meant";
}

TEST_F(DiagnoseTest, AHiddenFindingTellsNoSizes) {
  context_.hidden = true;
  context_.case_number = 0;
  simgpu::Finding finding;
  finding.code = "RL0201";
  finding.kernel = "gemm_tiled(float*)";
  finding.object = "the first byte past the end of the 7777-byte allocation (C)";
  finding.message = "A global-memory access is out of bounds: it is at " + finding.object;
  finding.where = {"gemm_tiled.cu", 2, 5, {77, 0, 0}, {7, 7, 0}, 0, "reads 4 bytes"};
  finding.occurrences = 777;
  const std::string story = told(explain_finding(finding, context_, nullptr));
  EXPECT_THAT(story, ::testing::Not(HasSubstr("7")));
  EXPECT_THAT(story, HasSubstr("gemm_tiled.cu:2:5, kernel gemm_tiled\n"));
  EXPECT_THAT(story, HasSubstr("this case is hidden"));
}

TEST_F(DiagnoseTest, AnExchangeBetweenLanesHasNoBarrierToMove) {
  simgpu::Finding finding;
  finding.code = "RL0305";
  finding.message = "Only 16 of the 32 running threads of warp 0 reach this barrier";
  EXPECT_THAT(explain_finding(finding, context_).help,
              HasSubstr("let every thread of the block reach the barrier"));
  finding.detail = simgpu::FindingDetail::lanes_apart;
  EXPECT_THAT(explain_finding(finding, context_).help,
              ::testing::AllOf(HasSubstr("mask"), ::testing::Not(HasSubstr("barrier"))));
}

TEST_F(DiagnoseTest, AnAccessPastTheEndMayBeAnotherArrays) {
  simgpu::Finding finding;
  finding.code = "RL0201";
  finding.detail = simgpu::FindingDetail::past_end;
  finding.object = "the first byte past the end of the 4096-byte allocation (C)";
  finding.message = "A global-memory access is out of bounds: it is at " + finding.object;
  const Diagnostic story = explain_finding(finding, context_);
  EXPECT_EQ(story.message, finding.message);
  EXPECT_THAT(story.notes, ::testing::ElementsAre(HasSubstr("nearest array")))
      << "and nothing is said twice";
  finding.detail = simgpu::FindingDetail::none;
  EXPECT_THAT(explain_finding(finding, context_).notes, IsEmpty());
}

/// A story of a matrix whose elements were never written from `row` and from `column` on.
Diagnostic unwritten_from(std::int64_t rows, std::int64_t columns, std::int64_t row,
                          std::int64_t column, const DiagnoseContext& context) {
  const auto size = static_cast<std::size_t>(rows * columns);
  TensorCheck check =
      check_of(std::vector<double>(size, 1), std::vector<double>(size, 1), {rows, columns});
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    if (i / columns < row && i % columns < column) continue;
    check.wrong[i] = check.unwritten[i] = true;
    ++check.wrong_count;
    ++check.unwritten_count;
  }
  return explain_mismatch(check, {}, context);
}

TEST_F(DiagnoseTest, ASwappedGridIsToldFromAMissingPartialTile) {
  // 16 x 16 blocks: 50 columns need 4 of them, so with x and y swapped rows up to 64 are written.
  const Diagnostic swapped = unwritten_from(100, 50, 64, 50, context_);
  EXPECT_THAT(swapped.help, HasSubstr("x and y swapped"));
  EXPECT_THAT(unwritten_from(50, 100, 50, 64, context_).help, HasSubstr("x and y swapped"));
  // Blocks of 32 x 8: 64 columns need 2 of them, so that rows up to 16 are written.
  EXPECT_THAT(unwritten_from(96, 64, 16, 64, context_).help, HasSubstr("x and y swapped"));
  // 100 rows rounded down to whole blocks of 16.
  const Diagnostic partial = unwritten_from(100, 50, 96, 50, context_);
  EXPECT_THAT(partial.help, HasSubstr("partial tile"));
  EXPECT_THAT(partial.help, ::testing::Not(HasSubstr("swapped")));
  EXPECT_THAT(unwritten_from(100, 100, 96, 96, context_).help, HasSubstr("partial tile"));
  // 40 x 20: both mistakes leave the rows from 32 on.
  EXPECT_THAT(unwritten_from(40, 20, 32, 20, context_).help,
              ::testing::AllOf(HasSubstr("partial tile"), HasSubstr("x count the columns")));
}

TEST_F(DiagnoseTest, AFirstPartMayBeACopyThatCountsElements) {
  EXPECT_THAT(unwritten_from(1, 1003, 1, 250, context_).help, HasSubstr("cudaMemcpy"));
  EXPECT_THAT(unwritten_from(40, 30, 10, 30, context_).help, HasSubstr("cudaMemcpy"));
  EXPECT_THAT(unwritten_from(40, 30, 11, 30, context_).help,
              ::testing::Not(HasSubstr("cudaMemcpy")));
}

TEST_F(DiagnoseTest, AMapIsDrawnOnlyWhereThereIsSomethingToSee) {
  const Diagnostic some = explain_mismatch(check_of({1, 5}, {1, 2}, {1, 2}), {}, context_);
  EXPECT_THAT(some.pattern, ElementsAre(".x"));
  const Diagnostic all = explain_mismatch(check_of({5, 5}, {1, 2}, {1, 2}), {}, context_);
  EXPECT_THAT(all.pattern, IsEmpty());
  EXPECT_THAT(all.evidence, Contains(HasSubstr("every element is wrong")));
}

TEST_F(DiagnoseTest, AKnownMistakeIsNamedOnlyWhenItExplainsEveryElement) {
  const TensorCheck check = check_of({1, 3, 2, 4}, {1, 2, 3, 4}, {2, 2});
  const KnownMistake transposed{"RL0411",
                                "C is stored transposed",
                                "swap row and column",
                                {{"C", {1, 3, 2, 4}, {1e-5, 1e-5, 1e-5, 1e-5}}}};
  const KnownMistake almost{
      "RL0412", "other", "other", {{"C", {1, 3, 2, 5}, {1e-5, 1e-5, 1e-5, 1e-5}}}};
  EXPECT_EQ(explain_mismatch(check, {almost, transposed}, context_).code, Code("RL0411"));
  EXPECT_EQ(explain_mismatch(check, {almost}, context_).code, Code("RL0401"));
}

TEST_F(DiagnoseTest, AKnownMistakeMayMakeWhatIsNotANumber) {
  const double nan = std::nan("");
  const TensorCheck check = check_of({1, nan}, {1, 2}, {2});
  const std::vector<double> bounds{1e-5, 1e-5};
  const KnownMistake overflow{
      "RL0481", "exponentials overflow", "shift", {{"C", {1, nan}, bounds}}};
  const KnownMistake elsewhere{"RL0482", "other", "other", {{"C", {nan, 2}, bounds}}};
  EXPECT_EQ(explain_mismatch(check, {elsewhere, overflow}, context_).code, Code("RL0481"));
  EXPECT_EQ(explain_mismatch(check, {elsewhere}, context_).code, Code("RL0402"));
}

TEST_F(DiagnoseTest, AKnownMistakeMayLeaveAnInfinityWhereItBelongs) {
  const double minus = -std::numeric_limits<double>::infinity();
  const TensorCheck check = check_of({minus, 3}, {minus, 2}, {2});
  const KnownMistake mistake{
      "RL0524", "the maximum is missing", "add", {{"C", {minus, 3}, {1e-5, 1e-5}}}};
  EXPECT_EQ(explain_mismatch(check, {mistake}, context_).code, Code("RL0524"));
}

/// What is asked about an output of which these elements were never written.
std::string asked_about(std::vector<std::int64_t> shape, const std::function<bool(int)>& is_missing,
                        const DiagnoseContext& context) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  TensorCheck check =
      check_of(std::vector<double>(static_cast<std::size_t>(count)),
               std::vector<double>(static_cast<std::size_t>(count)), std::move(shape));
  for (int i = 0; i < count; ++i) {
    check.unwritten[static_cast<std::size_t>(i)] = is_missing(i);
    check.unwritten_count += is_missing(i) ? 1 : 0;
  }
  return explain_mismatch(check, {}, context).help;
}

TEST_F(DiagnoseTest, WhichElementsWereNeverWrittenTellsWhatToLookAt) {
  EXPECT_THAT(asked_about(
                  {3, 2, 8}, [](int i) { return i % 16 >= 8; }, context_),
              HasSubstr("multiply the elements by sizeof"));
  EXPECT_THAT(asked_about(
                  {6, 16}, [](int i) { return i % 16 >= 4; }, context_),
              HasSubstr("multiply the elements by sizeof"));
  EXPECT_THAT(asked_about(
                  {64}, [](int i) { return i >= 8; }, context_),
              HasSubstr("Multiply blockIdx by what a block computes"));
  EXPECT_THAT(asked_about(
                  {40}, [](int i) { return i % 3 == 1; }, context_),
              HasSubstr("does the grid cover the last, partial tile"));
}

TEST_F(DiagnoseTest, AnAddressFarFromEverythingMakesOneThinkOfHostPointers) {
  simgpu::Finding finding;
  finding.code = "RL0201";
  finding.detail = simgpu::FindingDetail::far_from_memory;
  EXPECT_THAT(explain_finding(finding, context_, nullptr).help, HasSubstr("host memory"));
  finding.detail = simgpu::FindingDetail::past_end;
  EXPECT_THAT(explain_finding(finding, context_, nullptr).help, HasSubstr("compare the thread's"));
}

TEST_F(DiagnoseTest, ACopyOfWhatNothingHasWrittenMakesOneThinkOfTheGrid) {
  simgpu::Finding finding;
  finding.code = "RL0205";
  const Diagnostic copy = explain_finding(finding, context_, nullptr);
  EXPECT_THAT(copy.help, HasSubstr("rounded up"));
  EXPECT_THAT(copy.notes, IsEmpty());
  finding.kernel = "sum";
  EXPECT_THAT(explain_finding(finding, context_, nullptr).help, HasSubstr("does not clear memory"));
}

TEST_F(DiagnoseTest, ASumThatStartsFromNothingWrittenIsToldToClearItsMemory) {
  context_.sources["gemm_tiled.cu"] = "  atomicAdd(result, own);\n  y[i] += own;\n  own = x[i];\n";
  simgpu::Finding finding;
  finding.code = "RL0205";
  finding.kernel = "sum";
  const auto story_at = [&](std::uint32_t line) {
    finding.where = {"gemm_tiled.cu", line, 3, {0, 0, 0}, {0, 0, 0}, 0, "reads 4 bytes"};
    return explain_finding(finding, context_, nullptr);
  };
  EXPECT_THAT(story_at(1).help, HasSubstr("before the launch: cudaMemset(pointer, 0, bytes)"));
  EXPECT_THAT(story_at(1).notes, IsEmpty()) << "a register helps no sum of all blocks";
  EXPECT_THAT(story_at(2).help, AllOf(HasSubstr("cudaMemset"), HasSubstr("in a register")));
  EXPECT_THAT(story_at(3).help, Not(HasSubstr("cudaMemset")));
}

TEST_F(DiagnoseTest, TwoStoresToOnePlaceNeedNoOrderButOneOwner) {
  simgpu::Finding race;
  race.code = "RL0316";
  race.where = {"gemm_tiled.cu", 2, 5, {0, 0, 0}, {0, 0, 0}, 0, "writes 4 bytes"};
  race.other = simgpu::AccessSite{"gemm_tiled.cu", 2, 5, {0, 0, 0}, {1, 0, 0}, 0, "writes 4 bytes"};
  race.where.writes = race.other->writes = true;
  const auto help = [&] { return explain_finding(race, context_).help; };
  EXPECT_THAT(help(), ::testing::AllOf(HasSubstr("let one of them store"),
                                       ::testing::Not(HasSubstr("barrier"))));
  race.other->writes = false;
  EXPECT_THAT(help(), HasSubstr("barrier"));
  race.code = "RL0304";
  race.other->writes = true;
  EXPECT_THAT(help(), HasSubstr("let one block own each element"));
  EXPECT_THAT(explain_finding(race, context_).context, HasSubstr("case 64 x 64 x 64"));
}

TEST_F(DiagnoseTest, ThreadsThatAddToOneElementNeedAnAtomicAddition) {
  simgpu::Finding race;
  race.where = {"gemm_tiled.cu", 4, 9, {0, 0, 0}, {32, 0, 0}, 1, "reads 4 bytes"};
  race.other = simgpu::AccessSite{"gemm_tiled.cu", 4, 9, {0, 0, 0}, {0, 0, 0}, 0, "writes 4 bytes"};
  race.other->writes = true;
  for (const Code code : {Code("RL0304"), Code("RL0316")}) {
    race.code = code;
    EXPECT_THAT(explain_finding(race, context_).help, HasSubstr("atomicAdd(")) << code.text();
  }
  race.where.line = race.other->line = 2;  // which only copies
  EXPECT_THAT(explain_finding(race, context_).help, HasSubstr("a barrier between the two"));
}

TEST_F(DiagnoseTest, ARaceWithinAWarpIsNoneOfWarpsAlone) {
  simgpu::Finding race;
  race.code = "RL0302";
  race.name = "As";
  race.where = {"gemm_tiled.cu", 2, 5, {0, 0, 0}, {0, 0, 0}, 0, "reads 4 bytes"};
  race.other = simgpu::AccessSite{"gemm_tiled.cu", 4, 9, {0, 0, 0}, {2, 0, 0}, 0, "writes 4 bytes"};
  EXPECT_THAT(explain_finding(race, context_).notes,
              ::testing::Contains(HasSubstr("both threads are of one warp")));
  race.other->warp = 1;
  EXPECT_THAT(explain_finding(race, context_).notes,
              ::testing::Not(::testing::Contains(HasSubstr("both threads are of one warp"))));
}

TEST_F(DiagnoseTest, AForbiddenCallIsToldWithItsLine) {
  const Diagnostic story = explain_forbidden("cublasSgemm_v2", 4, context_);
  EXPECT_EQ(story.message, "gemm_tiled.cu calls cublasSgemm_v2, which this task does not allow");
  EXPECT_EQ(story.line, 4U);
  EXPECT_THAT(story.labels.at(0).excerpt, HasSubstr("acc += As"));
  EXPECT_THAT(explain_forbidden("cublas", 0, context_).labels, IsEmpty());
}

TEST_F(DiagnoseTest, NotANumberHasItsOwnCause) {
  const TensorCheck check = check_of({1, std::nan(""), 3, 4}, {1, 2, 3, 4}, {2, 2});
  const Diagnostic story = explain_mismatch(check, {}, context_);
  EXPECT_EQ(story.code, Code("RL0402"));
  EXPECT_THAT(story.evidence, Contains(HasSubstr("C[0][1]")));
}

TEST_F(DiagnoseTest, AHiddenCaseShowsNoValues) {
  context_.hidden = true;
  context_.case_number = 0;
  const Diagnostic story = explain_mismatch(check_of({7.5, 2}, {1.25, 2}, {1, 2}), {}, context_);
  EXPECT_THAT(told(story), ::testing::Not(HasSubstr("1.25")));
  EXPECT_THAT(told(story), ::testing::Not(HasSubstr("7.5")));
  EXPECT_THAT(told(story), HasSubstr("some elements of C are wrong"));
  EXPECT_THAT(told(story), ::testing::Not(HasSubstr("of 2")));
}

TEST_F(DiagnoseTest, AChangedInputIsCountedInElements) {
  EXPECT_THAT(explain_changed_input("A", 3, 12, context_).evidence,
              ElementsAre("3 of 12 elements of A are not what was passed in"));
}

TEST_F(DiagnoseTest, AHiddenRaceNamesWhatRaces) {
  context_.hidden = true;
  struct Named {
    Code code;
    const char* who;
  };
  const std::vector<Named> words{{"RL0304", "two blocks"},
                                 {"RL0315", "work on two streams"},
                                 {"RL0316", "two threads of a block"},
                                 {"RL0317", "two nodes of a graph"}};
  for (const auto& [code, who] : words) {
    simgpu::Finding race;
    race.code = code;
    race.kernel = "scale";
    EXPECT_THAT(explain_finding(race, context_).message, testing::StartsWith(who)) << code.text();
  }
}

TEST_F(DiagnoseTest, ARaceOfWholeLaunchesNamesNoBlock) {
  simgpu::Finding race;
  race.code = "RL0317";
  race.kernel = "scale";
  race.where.by_thread = false;
  EXPECT_THAT(explain_finding(race, context_).context, ::testing::Not(HasSubstr("block")));
}

TEST_F(DiagnoseTest, AMissingFunctionIsCalledNoInstruction) {
  simgpu::Finding missing;
  missing.code = "RL0312";
  missing.detail = simgpu::FindingDetail::lacks_function;
  EXPECT_THAT(explain_finding(missing, context_).help, HasSubstr("without this function"));
  missing.detail = simgpu::FindingDetail::none;
  EXPECT_THAT(explain_finding(missing, context_).help, HasSubstr("what is missing here"));
}

TEST(ZerosTest, OfAnotherSignAreToldAsSuch) {
  TensorCheck check;
  check.tensor = "y";
  check.shape = {4};
  check.got = {1, 0, 0, 2};
  check.expected = {1, -0.0, 0, 2};
  check.tolerance = {0, 0, 0, 0};
  check.wrong = {false, true, false, false};
  check.unwritten = {false, false, false, false};
  check.wrong_count = 1;
  const Diagnostic story = explain_mismatch(check, {}, {});
  EXPECT_EQ(story.code, Code("RL0555"));
  EXPECT_THAT(story.message, testing::HasSubstr("zeros of y have another sign"));
}

TEST(NansTest, WithOtherBitsAreToldAsSuch) {
  TensorCheck check;
  check.tensor = "y";
  check.shape = {3};
  check.got = {1, std::nan("1"), 2};
  check.expected = {1, std::nan("2"), 2};
  check.tolerance = {0, 0, 0};
  check.wrong = {false, true, false};
  check.unwritten = {false, false, false};
  check.wrong_count = 1;
  check.nan_count = 1;
  EXPECT_THAT(explain_mismatch(check, {}, {}).message,
              testing::HasSubstr("NaNs of y have other bits"));
  check.expected[1] = 3;
  EXPECT_EQ(explain_mismatch(check, {}, {}).code, Code("RL0402"));
}

}  // namespace
}  // namespace rooflab
