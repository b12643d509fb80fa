#include "grader/batch/course_versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr const char* kPart = R"(number = 1
title = "Metrics"

[[task]]
id = "gemm"
title = "GEMM"
oracle = "gemm"
points = 10
hints = ["What?", "How?", "So."]

[[task.case]]
name = "square"
parameters = { m = 64, title = "wide" }
expect = { cause = 3 }

[[task.ratio]]
result = "flops"
ratio = 2.0
cause = "a multiply-add counts as two"

[[task.group]]
name = "basic"
title = "Basic sizes"
points = 6

[[task.question]]
id = "why"
kind = "choice"
prompt = "Why?"
choices = ["memory", "compute"]
points = 2

[[ladder]]
id = "way"
title = "The way"
steps = ["gemm", "gemv"]
)";

constexpr const char* kKey = R"([why]
answer = "b"
tolerance = 0.01
why = "the ridge"
slips = [{ formula = "n + 1", cause = "one too many" }]
rubric = [{ points = 0.5, text = "names it" }]
)";

/// A course of one part in a temporary folder, with everything that grades it.
class VersionsTest : public testing::Test {
 protected:
  VersionsTest() : folder_(std::filesystem::temp_directory_path()) {
    installation_ = {.root = folder_.path(), .build = folder_.path() / "build", .cache = {}};
    part_ = {.number = 1,
             .title = "Metrics",
             .directory = "part1-test",
             .root = folder_.path() / "labs" / "part1-test",
             .tasks = {}};
    toolchain_.version = "release 13.0";
    write("labs/part1-test/part.toml", kPart);
    write("labs/part1-test/hints.toml", "[gemm]\nbasic = [\"a\", \"b\", \"c\"]\nRL0305 = \"d\"\n");
    write("labs/part1-test/targets.toml",
          "[task.gemm.\"64\"]\na100 = { naive = 0.1, solution = 0.5 }\n");
    write("labs/part1-test/interface/gemm.h", "void gemm();\n");
    write("solutions/part1-test/hidden.toml",
          "[[case]]\nname = \"edge\"\nparameters = { m = 65 }\n");
    write("solutions/part1-test/answers.key.toml", kKey);
    write("build/lib/labs/part1-test.so", "oracle");
    write("build/lib/labs/part1-test/gemm.o", "adapter");
    write("build/bin/rooflab-teach", "program");
    before_ = versions();
  }

  void write(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_.path() / name, text);
  }
  /// Writes `to` in place of `from` in a file of the course.
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read_file(folder_.path() / name);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << name << " has no " << from;
    write(name, text.replace(at, from.size(), to));
  }
  std::string versions() const { return versions_of(installation_, toolchain_, course_, part_); }

  /// Only the fingerprint of that name is another one.
  void expect_another(const std::string& name, const std::string& what) const {
    const std::string now = versions();
    for (const char* each : kVersioned) {
      EXPECT_EQ(differs_in(before_, now, each), each == name) << what << ": " << each;
    }
  }

  TemporaryFolder folder_;
  Installation installation_;
  Toolchain toolchain_;
  CourseSpec course_;
  PartSpec part_;
  std::string before_;
};

TEST_F(VersionsTest, WordsForPeopleDecideNothing) {
  const std::vector<std::tuple<std::string, std::string, std::string>> reworded = {
      {"labs/part1-test/part.toml", "title = \"Metrics\"", "title = \"Fundamental metrics\""},
      {"labs/part1-test/part.toml", "title = \"GEMM\"", "title = \"Matrix product\""},
      {"labs/part1-test/part.toml", "\"How?\"", "\"How, and why?\""},
      {"labs/part1-test/part.toml", "counts as two\"", "is two FLOPs\""},
      {"labs/part1-test/part.toml", "Basic sizes", "Small sizes"},
      {"labs/part1-test/part.toml", "\"Why?\"", "\"What bounds it?\""},
      {"labs/part1-test/part.toml", "\"memory\"", "\"the memory\""},
      {"labs/part1-test/part.toml", "\"The way\"", "\"Step by step\""},
      {"labs/part1-test/part.toml", "number = 1\n", "# A remark.\nnumber    = 1\n"},
      {"labs/part1-test/hints.toml", "\"b\"", "\"better\""},
      {"labs/part1-test/hints.toml", "\"d\"", "\"a barrier\""},
      {"labs/part1-test/targets.toml", "[task", "# Measured anew.\n[task"},
      {"solutions/part1-test/answers.key.toml", "the ridge", "the ridge point"},
      {"solutions/part1-test/answers.key.toml", "one too many", "one more than there are"},
      {"solutions/part1-test/answers.key.toml", "names it", "names the limit"},
      {"solutions/part1-test/hidden.toml", "[[case]]", "# A remark.\n[[case]]"}};
  for (const auto& [file, from, to] : reworded) {
    replace(file, from, to);
    EXPECT_EQ(versions(), before_) << to;
  }
}

TEST_F(VersionsTest, WhateverCanChangeAnOutcomeDecides) {
  const std::vector<std::tuple<std::string, std::string, std::string, std::string>> changes = {
      {"part", "labs/part1-test/part.toml", "points = 10", "points = 11"},
      {"part", "labs/part1-test/part.toml", "m = 64", "m = 65"},
      // A parameter may have the name of what elsewhere is a text.
      {"part", "labs/part1-test/part.toml", "title = \"wide\"", "title = \"tall\""},
      {"part", "labs/part1-test/part.toml", "cause = 3", "cause = 4"},
      {"part", "labs/part1-test/part.toml", "ratio = 2.0", "ratio = 2.0000000000000004"},
      {"part", "labs/part1-test/part.toml", "choices = [\"memory\",",
       "choices = [\"memory\", \"both\","},
      {"part", "labs/part1-test/part.toml", "steps = [\"gemm\"", "steps = [\"gemv\""},
      {"part", "labs/part1-test/part.toml", "name = \"square\"", "name = \"cube\""},
      {"part", "labs/part1-test/hints.toml", "RL0305 = \"d\"", "RL0306 = \"d\""},
      {"part", "labs/part1-test/targets.toml", "solution = 0.5", "solution = 0.51"},
      {"part", "labs/part1-test/interface/gemm.h", "void", "int"},
      {"part", "solutions/part1-test/answers.key.toml", "tolerance = 0.01", "tolerance = 0.02"},
      {"part", "solutions/part1-test/answers.key.toml", "answer = \"b\"", "answer = \"a\""},
      {"part", "build/lib/labs/part1-test.so", "oracle", "another oracle"},
      {"part", "build/lib/labs/part1-test/gemm.o", "adapter", "another adapter"},
      {"hidden", "solutions/part1-test/hidden.toml", "m = 65", "m = 66"},
      {"grader", "build/bin/rooflab-teach", "program", "another program"}};
  for (const auto& [name, file, from, to] : changes) {
    replace(file, from, to);
    expect_another(name, to);
    replace(file, to, from);
    ASSERT_EQ(versions(), before_) << to;
  }
}

TEST_F(VersionsTest, SettingsOfTheCourseAndTheToolchainDecide) {
  course_.hint_cost = 0.1;
  expect_another("part", "the cost of hints");
  course_ = {};
  course_.own_numbers = !course_.own_numbers;
  expect_another("part", "own numbers");
  course_ = {};
  toolchain_.ptxas_version = "13.1";
  expect_another("grader", "ptxas");
}

TEST_F(VersionsTest, AMissingFileIsNotAnEmptyOne) {
  std::filesystem::remove(folder_.path() / "solutions/part1-test/hidden.toml");
  expect_another("hidden", "no hidden cases");
  const std::string none = versions();
  write("solutions/part1-test/hidden.toml", "");
  EXPECT_NE(versions(), none);
}

TEST(Versions, OfAnOlderGraderDifferFromEveryOther) {
  const std::string older = "rooflab 0.1.0 (3f2a9c1b7d40), CUDA 13.0";
  const std::string now = "rooflab 0.1.0 (grader 1, part 2, hidden 3), CUDA 13.0";
  EXPECT_TRUE(differs_in(older, now, "part"));
  EXPECT_TRUE(differs_in(older, older, "part"));
  EXPECT_FALSE(differs_in(now, now, "part"));
  EXPECT_TRUE(differs_in(now, "rooflab 0.1.0 (grader 1, part 2, hidden 4), CUDA 13.0", "hidden"));
}

TEST_F(VersionsTest, ACourseFileThatIsNoTomlIsTold) {
  write("labs/part1-test/targets.toml", "[task\n");
  EXPECT_THROW(versions(), SpecError);
}

}  // namespace
}  // namespace rooflab
