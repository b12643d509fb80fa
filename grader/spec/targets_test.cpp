#include "grader/spec/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "grader/spec/files.h"
#include "grader/spec/part.h"
#include "specs/gpu_spec.h"

namespace rooflab {
namespace {

using testing::HasSubstr;

constexpr const char* kFile = R"([gpus]
a10 = "8.6"
a100 = "8.0"
a6000 = "8.6"

[task.gemm."1024^3"]
sources = "0123"
a100 = { naive = 0.02, solution = 0.5 }
a10 = { naive = 0.1, solution = 0.4 }
a6000 = { naive = 0.05, solution = 0.3 }
)";

gpu_spec::GpuSpec gpu(const std::string& id, int major, int minor) {
  gpu_spec::GpuSpec spec;
  spec.id = id;
  spec.compute_capability_major = major;
  spec.compute_capability_minor = minor;
  return spec;
}

class TargetsTest : public testing::Test {
 protected:
  TargetsTest() : folder_(testing::TempDir()) {}

  MeasuredTargets load(const std::string& text) const {
    std::ofstream(folder_.path() / kTargetsFile) << text;
    return load_targets(folder_.path() / kTargetsFile);
  }

  /// What load says to the good file with `from` replaced, from the line on.
  std::string error_after(const std::string& from, const std::string& to) const {
    std::string text = kFile;
    text.replace(text.find(from), from.size(), to);
    try {
      load(text);
    } catch (const SpecError& error) {
      const std::string message = error.what();
      return message.substr(message.find(kTargetsFile));
    }
    return "no error";
  }

  /// A part whose gemm has such a case, with the targets of part.toml for other GPUs.
  PartSpec part() const {
    SpeedSpec speed;
    speed.name = "1024^3";
    speed.points = 5;
    speed.zero_efficiency = 0.01;
    speed.full_efficiency = 0.08;
    TaskSpec task;
    task.id = "gemm";
    task.speeds = {speed};
    PartSpec part;
    part.tasks = {task};
    add_targets(load(kFile), part);
    return part;
  }

  SpeedSpec on(const gpu_spec::GpuSpec& gpu) const {
    return with_targets_of(part(), gpu).tasks.at(0).speeds.at(0);
  }

  TemporaryFolder folder_;
};

TEST_F(TargetsTest, FullMarksAskForALittleLessThanTheSolutionReaches) {
  const SpeedSpec speed = on(gpu("a100", 8, 0));
  EXPECT_DOUBLE_EQ(speed.full_efficiency, 0.795 * 0.5);
  EXPECT_FALSE(speed.is_for_answer);
}

TEST_F(TargetsTest, TheNaiveVersionEarnsNothing) {
  EXPECT_DOUBLE_EQ(on(gpu("a10", 8, 6)).zero_efficiency, 0.1);
}

TEST_F(TargetsTest, PointsBeginWherePartTomlSaysUnlessTheNaiveVersionIsFaster) {
  EXPECT_DOUBLE_EQ(targets_from({"a100", 80, 0.004, 0.5}, {0.01, 0.08})->zero, 0.01);
  EXPECT_DOUBLE_EQ(targets_from({"a100", 80, 0, 0.5}, {0.01, 0.08})->zero, 0.01);
  EXPECT_DOUBLE_EQ(targets_from({"a100", 80, 0.02, 0.5}, {0.01, 0.08})->zero, 0.02);
}

TEST_F(TargetsTest, WhereFullMarksAskForLessPointsBeginAtLess) {
  const auto targets = targets_from({"a100", 80, 0, 0.05}, {0.01, 0.08});
  EXPECT_DOUBLE_EQ(targets->full / targets->zero, 8);
}

TEST_F(TargetsTest, SpeedTellsNothingWhereTheNaiveVersionIsAsFast) {
  EXPECT_FALSE(targets_from({"a100", 80, 0.4, 0.5}, {0.01, 0.08}));
  PartSpec part = this->part();
  part.tasks[0].speeds[0].reached = {{"a100", 80, 0.4, 0.5}};
  EXPECT_TRUE(with_targets_of(part, gpu("a100", 8, 0)).tasks[0].speeds[0].is_for_answer);
}

TEST_F(TargetsTest, AGpuWithoutAnEntryGoesByTheLeastOfItsClass) {
  EXPECT_DOUBLE_EQ(on(gpu("rtx3060", 8, 6)).full_efficiency, 0.795 * 0.3);
  EXPECT_DOUBLE_EQ(on(gpu("rtx3060", 8, 6)).zero_efficiency, 0.05);
}

TEST_F(TargetsTest, AGpuOfAnotherClassKeepsTheTargetsOfThePart) {
  const SpeedSpec speed = on(gpu("b200", 10, 0));
  EXPECT_EQ(speed.zero_efficiency, 0.01);
  EXPECT_EQ(speed.full_efficiency, 0.08);
}

TEST_F(TargetsTest, ACaseWithoutPointsHasNoTargets) {
  PartSpec part = this->part();
  part.tasks[0].speeds[0].points = 0;
  part.tasks[0].speeds[0].full_efficiency = 0;
  EXPECT_EQ(with_targets_of(part, gpu("a100", 8, 0)).tasks[0].speeds[0].full_efficiency, 0);
}

TEST_F(TargetsTest, NoFileIsNoTargets) {
  EXPECT_TRUE(load_targets(folder_.path() / "none.toml").empty());
}

TEST_F(TargetsTest, WhatIsWrittenIsWhatWasRead) {
  const MeasuredTargets before = load(kFile);
  const MeasuredTargets after = load(targets_text(before));
  EXPECT_EQ(targets_text(after), targets_text(before));
  const MeasuredCase& measured = after.at({"gemm", "1024^3"});
  EXPECT_EQ(measured.sources, "0123");
  ASSERT_EQ(measured.reached.size(), 3U);
  EXPECT_EQ(measured.reached[1].gpu, "a100");
  EXPECT_EQ(measured.reached[1].compute_capability, 80);
  EXPECT_EQ(measured.reached[1].naive, 0.02);
}

TEST_F(TargetsTest, ErrorsNameTheLineAndWhatToDo) {
  EXPECT_EQ(error_after("solution = 0.5", "solution = 1.5"),
            "targets.toml:8: no solution reaches that share of the roofline; measure it anew: "
            "grader targets --measure");
  EXPECT_THAT(error_after("naive = 0.1", "naive = -1"), HasSubstr("targets.toml:9: no naive"));
  EXPECT_THAT(error_after("naive = 0.1", "naive = nan"), HasSubstr("targets.toml:9: no naive"));
  EXPECT_THAT(error_after("naive = 0.1, ", ""), HasSubstr("`naive` is missing"));
  EXPECT_THAT(error_after("a100 = \"8.0\"\n", ""), HasSubstr("unknown key `a100`"));
  EXPECT_EQ(error_after("\"8.0\"", "\"80\""),
            "targets.toml:3: \"80\" is no compute capability; write it as in \"8.0\"");
  EXPECT_THAT(error_after("{ naive = 0.1, solution = 0.4 }", "7"),
              HasSubstr("`a10` is an integer"));
}

}  // namespace
}  // namespace rooflab
