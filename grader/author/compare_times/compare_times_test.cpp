#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "grader/author/compare_times/comparison.h"
#include "grader/author/compare_times/time_kernels.h"
#include "grader/spec/files.h"

namespace rooflab::compare_times {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

std::vector<TimePair> pairs(const std::vector<double>& measured,
                            const std::vector<double>& modelled) {
  std::vector<TimePair> pairs;
  for (std::size_t i = 0; i < measured.size(); ++i) pairs.push_back({measured[i], modelled[i]});
  return pairs;
}

// The numbers on the right are those of SciPy 1.17.1, scipy.stats.kendalltau.
TEST(AgreementTest, IsWhatAnotherProgramComputesFromTimesWithTies) {
  const auto tied = pairs({1, 2, 2, 3, 5, 8, 13, 13, 21}, {1.5, 1.0, 2.5, 2.5, 6, 5, 5, 20, 19});
  EXPECT_NEAR(kendall_tau_b(tied), 0.7058823529411764, 1e-12);
  EXPECT_NEAR(mean_absolute_percentage_error(tied), 36.00834350834351, 1e-9);
}

TEST(AgreementTest, IsPerfectInOrderAndNotInSizeWhereTheModelIsOffByAFactor) {
  const auto off = pairs({10, 20, 30, 40}, {12, 18, 33, 40});
  EXPECT_DOUBLE_EQ(kendall_tau_b(off), 1);
  EXPECT_DOUBLE_EQ(mean_absolute_percentage_error(off), 10);
  EXPECT_DOUBLE_EQ(kendall_tau_b(pairs({1, 2, 3}, {3, 2, 1})), -1);
}

TEST(AgreementTest, OfNothingOrOfEqualTimesIsNoNumber) {
  EXPECT_TRUE(std::isnan(kendall_tau_b({})));
  EXPECT_TRUE(std::isnan(kendall_tau_b(pairs({1}, {1}))));
  EXPECT_TRUE(std::isnan(kendall_tau_b(pairs({1, 2}, {5, 5}))));
  EXPECT_TRUE(std::isnan(mean_absolute_percentage_error({})));
}

TEST(HalvesTest, FollowFromAKernelsNameAlone) {
  // By hand, with Python's integers: ((h ^ byte) * 0x100000001b3) % 2**64 over the bytes, bit 32.
  EXPECT_EQ(half_of("part1-metrics/gemm_tiled/solution"), Half::fitting);
  EXPECT_EQ(half_of("part1-metrics/gemv/solution"), Half::judging);
  EXPECT_EQ(half_of("part1-metrics/gemm_registers/solution"), Half::judging);
}

class FilesTest : public testing::Test {
 protected:
  /// Times that nobody measured.
  static std::filesystem::path stand_in() {
    return std::filesystem::path(ROOFLAB_SOURCE_DIR) /
           "grader/author/compare_times/testdata/stand_in.toml";
  }

  /// The stand-in with one text replaced.
  std::filesystem::path changed(const std::string& from, const std::string& to) const {
    std::string text = read_file(stand_in());
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    const auto file = folder_.path() / "changed.toml";
    write_file_atomically(file, text.replace(at, from.size(), to));
    return file;
  }

  TemporaryFolder folder_{std::filesystem::temp_directory_path()};
};

TEST_F(FilesTest, AreReadAsTheyWereWritten) {
  const MeasuredTimes read = load_measured_times(stand_in());
  EXPECT_EQ(read.gpu, "a100");
  EXPECT_THAT(read.times.kernels, SizeIs(5));
  EXPECT_DOUBLE_EQ(read.times.kernels.at(0).cases.at(0).time_us, 100);
  EXPECT_EQ(to_toml(read).substr(to_toml(read).find("schema")),
            read_file(stand_in()).substr(read_file(stand_in()).find("schema")));
}

TEST_F(FilesTest, AreRefusedWhenAKernelWasMovedToTheOtherHalf) {
  const auto file = changed("half = \"fitting\"", "half = \"judging\"");
  EXPECT_THAT([&] { load_measured_times(file); },
              ThrowsMessage<SpecError>(HasSubstr("the rule puts part1-metrics/gemm_tiled/solution "
                                                 "into the half for fitting")));
}

TEST_F(FilesTest, AreRefusedWithTimesThatCannotBe) {
  for (const char* time : {"0", "-3.0", "nan", "inf", "\"fast\""}) {
    const auto file = changed("time_us = 100", std::string("time_us = ") + time);
    EXPECT_THAT([&] { load_measured_times(file); },
                ThrowsMessage<SpecError>(HasSubstr("changed.toml:")))
        << time;
  }
}

TEST_F(FilesTest, AreRefusedWithAnotherRuleForTheHalves) {
  const auto file = changed("bit 32", "bit 31");
  EXPECT_THAT([&] { load_measured_times(file); },
              ThrowsMessage<SpecError>(HasSubstr("another rule")));
}

TEST_F(FilesTest, AreRefusedWithACaseThatIsThereTwice) {
  const auto file = changed("name = \"2048^3\"", "name = \"1024^3\"");
  EXPECT_THAT([&] { load_measured_times(file); },
              ThrowsMessage<SpecError>(HasSubstr("there twice")));
}

TEST_F(FilesTest, LieByGpuDateAndCard) {
  const MeasuredTimes measured{.gpu = "h200", .date = "2026-03-14"};
  EXPECT_EQ(measured_file("/course", measured, "GPU-8c4d1f20-7788-9900"),
            "/course/specs/measured/h200/2026-03-14-8c4d1f20.toml");
}

// What is committed there is measured: a rehearsal belongs elsewhere.
TEST_F(FilesTest, OfTheCourseAreMeasuredAndCanBeRead) {
  for (const auto& file : measured_files(ROOFLAB_SOURCE_DIR)) {
    EXPECT_EQ(load_measured_times(file).kind, "measured") << file;
  }
}

/// The stand-in's own kernels, as a model might time them.
Times modelled() {
  const std::string digest = "0123456789abcdef";
  return {
      .kernels = {
          {"part1-metrics/gemm_tiled/solution",
           {{"1024^3", 110, 0, digest}, {"2048^3", 800, 0, digest}}},
          {"part1-metrics/gemv/solution", {{"8192 x 4096", 75, 0, digest}}},
          {"part1-metrics/gemv/gemv_uncoalesced", {{"8192 x 4096", 400, 0, "fedcba9876543210"}}},
          {"part5-flash-attention/flash_decode/solution", {{"16384 keys", 24, 0, digest}}}}};
}

TEST_F(FilesTest, AreComparedHalfByHalf) {
  const Comparison comparison = compare(load_measured_times(stand_in()), modelled());
  EXPECT_THAT(comparison.cases, SizeIs(4));
  EXPECT_THAT(
      comparison.left_out,
      ElementsAre("part2-roofline/peaks/solution: has no measured time (suspect: too fast)",
                  "part1-metrics/gemv/gemv_uncoalesced, 8192 x 4096: its source or its case has "
                  "changed since",
                  "part3-decoder/rope/solution, 64 tokens: the model has no time for it now"));
  const auto document = nlohmann::json::parse(to_json({comparison}));
  const auto& halves = document.at("files").at(0).at("halves");
  const auto& fitting = halves.at("fitting").at("part1-metrics");
  EXPECT_EQ(fitting.at("cases"), 2);
  EXPECT_NEAR(fitting.at("mape_percent").get<double>(), 15, 1e-9);  // 10 % and 20 %
  EXPECT_DOUBLE_EQ(fitting.at("kendall_tau_b").get<double>(), 1);
  const auto& judging = halves.at("judging").at("part1-metrics");
  EXPECT_NEAR(judging.at("mape_percent").get<double>(), 50, 1e-9);
  EXPECT_TRUE(judging.at("kendall_tau_b").is_null());  // of one time
  EXPECT_DOUBLE_EQ(judging.at("worst_ratio").get<double>(), 1.5);
}

TEST_F(FilesTest, AreToldAsATableThatSaysWhichHalfIsWhich) {
  const std::string text = comparison_text(compare(load_measured_times(stand_in()), modelled()));
  EXPECT_THAT(text, HasSubstr("Stand-in · driver none · 2000-01-01 · clocks were not watched"));
  EXPECT_THAT(text, HasSubstr("The judging half: nothing is chosen by it"));
  EXPECT_THAT(text, HasSubstr("part1-metrics                      1      1    50.0 %        -"));
}

/// A checkout of one part with one timed task and two planted mistakes, and a grader that writes
/// a grade with times of its own.
class TimeKernelsTest : public testing::Test {
 protected:
  TimeKernelsTest() {
    write("labs/part1-sums/part.toml", R"(
number = 1
title = "Sums"
[[task]]
id = "sum"
title = "Sum"
kind = "kernel"
file = "sum.cu"
entry = "sum"
oracle = "sum"
points = 1
hints = ["one", "two", "three"]
[[task.case]]
name = "few"
parameters = { n = 4 }
[[task.speed]]
name = "many"
points = 1
parameters = { n = 4096 }
zero_efficiency = 0.1
full_efficiency = 0.5
)");
    mistake("slow", "pass", "RL0501");
    mistake("wrong", "wrong-answer", "RL0401");
    write("solutions/part1-sums/sum.cu", "fast\n");
    write("build/bin/grader", R"sh(#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    --submission) submission=$2 ;;
    --json) out=$2 ;;
    --device) device=$2 ;;
  esac
  shift
done
case "$(cat "$submission/part1-sums/sum.cu")" in
  fast) time=5 ;;
  slow) time=50 ;;
  *) exit 3 ;;
esac
[ "$device" = cuda:0 ] || exit 3
printf '{"tasks":[{"id":"sum","verdict":"pass","diagnostics":[],"timings":[' > "$out"
printf '{"name":"many","time_us":%s,"spread_us":0.5}]}]}' "$time" >> "$out"
)sh");
    std::filesystem::permissions(folder_.path() / "build/bin/grader",
                                 std::filesystem::perms::owner_all);
  }

  void write(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_.path() / name, text);
  }
  void mistake(const std::string& name, const std::string& verdict, const std::string& code) const {
    write("labs/part1-sums/mistakes/" + name + "/mistake.toml",
          "task = \"sum\"\nfile = \"sum.cu\"\nverdict = \"" + verdict + "\"\ncode = \"" + code +
              "\"\nmax_score = 1.0\nstory = \"adds\"\n[[edit]]\nfind = \"fast\"\nreplace = \"" +
              name + "\"\n");
  }

  Times take(const std::string& device) const {
    Installation installation;
    installation.root = folder_.path();
    installation.build = folder_.path() / "build";
    return time_kernels({.installation = installation,
                         .parts = {load_part(installation.labs(), installation.solutions(), 1)},
                         .gpu = "a100",
                         .device = device,
                         .progress = [](const std::string&) {}});
  }

  TemporaryFolder folder_{std::filesystem::temp_directory_path()};
};

TEST_F(TimeKernelsTest, TakeTheSolutionAndWhatIsRightButSlow) {
  const Times times = take("cuda:0");
  EXPECT_THAT(times.left_out, IsEmpty());
  ASSERT_THAT(times.kernels, ElementsAre(Field(&TimedKernel::name, "part1-sums/sum/solution"),
                                         Field(&TimedKernel::name, "part1-sums/sum/slow")));
  const CaseTime& solution = times.kernels[0].cases.at(0);
  const CaseTime& slow = times.kernels[1].cases.at(0);
  EXPECT_EQ(solution.name, "many");
  EXPECT_DOUBLE_EQ(solution.time_us, 5);
  EXPECT_DOUBLE_EQ(solution.spread_us, 0.5);
  EXPECT_DOUBLE_EQ(slow.time_us, 50);
  EXPECT_NE(solution.digest, slow.digest);
}

TEST_F(TimeKernelsTest, TellAChangedSourceOrCaseByTheDigest) {
  const std::string before = take("cuda:0").kernels.at(0).cases.at(0).digest;
  EXPECT_EQ(take("cuda:0").kernels.at(0).cases.at(0).digest, before);
  std::string part = read_file(folder_.path() / "labs/part1-sums/part.toml");
  write("labs/part1-sums/part.toml", part.replace(part.find("4096"), 4, "8192"));
  EXPECT_NE(take("cuda:0").kernels.at(0).cases.at(0).digest, before);
}

TEST_F(TimeKernelsTest, SayWhatHasNoGrade) {
  const Times times = take("cuda:7");
  EXPECT_THAT(times.kernels, IsEmpty());
  EXPECT_THAT(times.left_out, ElementsAre(Field(&LeftOut::name, "part1-sums/*/solution"),
                                          Field(&LeftOut::name, "part1-sums/*/slow")));
  EXPECT_THAT(times.left_out.at(0).why, HasSubstr("exit code 3"));
}

TEST(GradeTest, LeavesOutWhatDidNotPassAndWhatIsNotTimed) {
  PartSpec part;
  part.directory = "part1-sums";
  part.tasks.resize(2);
  part.tasks[0].id = "sum";
  part.tasks[0].speeds.resize(1);
  part.tasks[1].id = "answers";
  const auto grade = nlohmann::json::parse(R"({"tasks": [
    {"id": "sum", "verdict": "suspect", "diagnostics": [{"message": "too fast"}]},
    {"id": "answers", "verdict": "wrong-answer", "diagnostics": []}]})");
  const Times times =
      times_of_grade(grade, part, "solution", [](const auto&, const auto&) { return ""; });
  EXPECT_THAT(times.kernels, IsEmpty());
  ASSERT_THAT(times.left_out, SizeIs(1));
  EXPECT_EQ(times.left_out[0].why, "suspect: too fast");
}

}  // namespace
}  // namespace rooflab::compare_times
