// Whole messages, as testdata/*.txt: a change of wording shows as a difference of text.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include "grader/diagnose/diagnose.h"
#include "grader/report/terminal.h"

namespace rooflab {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

DiagnoseContext context() {
  DiagnoseContext context;
  context.part = 1;
  context.task = "gemm_tiled";
  context.case_name = "64 x 64 x 64";
  context.case_number = 2;
  context.seed = 8812;
  context.file = "gemm_tiled.cu";
  return context;
}

/// C (2, 2) should hold 1, 2, 3, 4.
TensorCheck check_of(std::vector<double> got, std::vector<bool> unwritten) {
  TensorCheck check{.tensor = "C",
                    .shape = {2, 2},
                    .got = std::move(got),
                    .expected = {1, 2, 3, 4},
                    .tolerance = std::vector<double>(4, 1e-5),
                    .wrong = {},
                    .unwritten = std::move(unwritten)};
  for (std::size_t i = 0; i < 4; ++i) {
    const bool wrong = check.unwritten[i] || check.got[i] != check.expected[i];
    check.wrong.push_back(wrong);
    check.wrong_count += wrong ? 1 : 0;
    check.unwritten_count += check.unwritten[i] ? 1 : 0;
    check.nan_count += check.got[i] != check.got[i] && !check.unwritten[i] ? 1 : 0;
  }
  return check;
}

void expect_golden(const std::string& name, const Diagnostic& story) {
  std::ostringstream told;
  print_story(told, story, false);
  std::ifstream in(std::filesystem::path(ROOFLAB_SOURCE_DIR "/grader/diagnose/testdata") /
                   (name + ".txt"));
  ASSERT_TRUE(in.is_open()) << name << ".txt is missing; the story is\n" << told.str();
  const std::string golden{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(told.str(), golden);
}

// A poisoned element reads as a negative NaN, which no student wrote.
TEST(GoldenStory, SaysThatAnOutputWasNeverWritten) {
  expect_golden("never_written",
                explain_mismatch(check_of({-kNan, -kNan, -kNan, -kNan}, {true, true, true, true}),
                                 {}, context()));
}

TEST(GoldenStory, SaysWhichElementsWereNeverWritten) {
  expect_golden(
      "partly_written",
      explain_mismatch(check_of({1, 2, 3, -kNan}, {false, false, false, true}), {}, context()));
}

TEST(GoldenStory, ShowsANaNWithoutItsSign) {
  expect_golden(
      "not_a_number",
      explain_mismatch(check_of({1, -kNan, 3, 4}, {false, false, false, false}), {}, context()));
}

TEST(GoldenStory, ARaceThatKeepsAnOutputFromBeingWrittenSaysSo) {
  simgpu::Finding race;
  race.code = "RL0302";
  race.message = "Shared memory is read before the store to it is ordered";
  const TensorCheck effect = check_of({-kNan, 5, -kNan, 4}, {true, false, true, false});
  expect_golden("race_unwritten", explain_finding(race, context(), &effect));
}

TEST(GoldenStory, ShowsAResultThatIsNotANumberWithoutItsSign) {
  CaseSpec spec;
  spec.name = "square";
  spec.parameters = {{"m", std::int64_t{2}}};
  expect_golden("result_not_a_number",
                explain_results({{"flops", -kNan}}, {{"flops", 16.0}}, {}, spec, context()));
}

TEST(GoldenStory, NamesTheFloorThatATimeIsBelow) {
  Timing timing;
  timing.time_us = 80;
  timing.floor_us = 110.13;
  timing.roofline_us = 114.13;
  expect_golden("below_the_floor", explain_suspect(timing, context()));
}

}  // namespace
}  // namespace rooflab
