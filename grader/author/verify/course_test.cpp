#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "grader/author/verify/verify.h"
#include "grader/pipeline/grade.h"
#include "grader/spec/files.h"

/// Proves a checkout of one small part with the real grader. Its one task is answered and not
/// compiled, so that a grading takes a moment.
namespace rooflab::verify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class CourseTest : public testing::Test {
 protected:
  CourseTest() : folder_(testing::TempDir()) {
    write("labs/course.toml", "title = \"Test\"\ngpus = [\"t4\", \"a100\"]\n");
    // The grader loads a part's oracles by the name of its folder: these it has.
    write("labs/part1-metrics/part.toml", R"(number = 1
title = "Test part"
[[task]]
id = "answers"
title = "Answers"
kind = "answers"
file = "answers.toml"
points = 4
hints = ["first?", "second", "third"]
[[task.question]]
id = "ridge"
kind = "number"
prompt = "What?"
points = 4
)");
    write("solutions/part1-metrics/answers.toml", R"(# Yours
# BEGIN SOLUTION
# STARTER: ridge = ""
ridge = 12.5
# END SOLUTION
)");
    write("solutions/part1-metrics/answers.key.toml",
          "[ridge]\nanswer = 12.5\ntolerance = 0.01\nwhy = \"so\"\n");
    write("starter/part1-metrics/answers.toml", "# Yours\nridge = \"\"\n");
    write("docs/design/codes.md",
          "# Codes\n\n## Advice\n\n- RL0501, slow\n\n## Symptoms\n\n- RL0408, not right\n");
    write("README.md", "[codes](docs/design/codes.md)\n");
    write("scripts/check_commands", "#!/bin/sh\nexit 0\n");
    write("scripts/check_links", read_file(ROOFLAB_SOURCE_DIR "/scripts/check_links"));
    for (const char* script : {"check_commands", "check_links"}) {
      std::filesystem::permissions(folder_.path() / "scripts" / script,
                                   std::filesystem::perms::owner_all);
    }
    std::filesystem::create_directories(folder_.path() / "specs");
    std::filesystem::copy(ROOFLAB_SOURCE_DIR "/specs/gpus", folder_.path() / "specs/gpus");
    ::setenv("ROOFLAB_ROOT", folder_.path().c_str(), 1);
    ::setenv("ROOFLAB_CACHE", (folder_.path() / "cache").c_str(), 1);
    // The checkout's own .cuda/ is not below the folder of the test.
    ::setenv("ROOFLAB_NVCC", ROOFLAB_NVCC, 1);
  }

  void write(const std::string& path, const std::string& text) const {
    write_file_atomically(folder_.path() / path, text);
  }

  Report prove(const Choice& choice) const {
    const Installation installation{
        .root = folder_.path(), .build = ROOFLAB_BINARY_DIR, .cache = folder_.path() / "cache"};
    return verify::prove(installation, choice, {.jobs = 2}, [](const std::string&) {});
  }

  void expect_usage_error(const Choice& choice, const std::string& message) const {
    EXPECT_THAT([&] { prove(choice); }, ThrowsMessage<UsageError>(HasSubstr(message)));
  }

  TemporaryFolder folder_;
};

TEST_F(CourseTest, IsProvedOnEveryGpuThatItNames) {
  const Report report = prove({.proofs = {"generated", "starter", "solution", "documents"}});
  EXPECT_TRUE(report.proved()) << failures_text(report);
  EXPECT_THAT(report.gpus, ElementsAre("t4", "a100"));
  EXPECT_THAT(matrix_text(report), HasSubstr("Part 1, Test part  ok  ok    ok  ok"));
  EXPECT_THAT(matrix_text(report), HasSubstr("7 of 7 proofs hold"));
}

TEST_F(CourseTest, FailsForAnAnswerThatLeakedIntoTheStarter) {
  write("starter/part1-metrics/answers.toml", "# Yours\nridge = 12.5\n");
  const Report report = prove({.gpus = {"t4"}, .proofs = {"generated", "starter"}});
  EXPECT_FALSE(report.proved());
  const std::string failures = failures_text(report);
  EXPECT_THAT(failures,
              HasSubstr("starter of part 1 on t4\n  answers: the starter leaves nothing"));
  EXPECT_THAT(failures, HasSubstr("the starter earns 4 points"));
  EXPECT_THAT(failures, HasSubstr("starter/part1-metrics/answers.toml differs from its master"));
}

TEST_F(CourseTest, FailsForAStarterFileWithoutAMasterAndAMasterWithoutAnEnd) {
  write("starter/part1-metrics/extra.cu", "left\n");
  EXPECT_THAT(failures_text(prove({.proofs = {"generated"}})), HasSubstr("extra.cu is left over"));
  write("solutions/part1-metrics/extra.cu", "// BEGIN SOLUTION\n");
  EXPECT_THAT(failures_text(prove({.proofs = {"generated"}})),
              HasSubstr("BEGIN SOLUTION without an END"));
}

TEST_F(CourseTest, FailsForASolutionThatIsWrong) {
  write("solutions/part1-metrics/answers.key.toml",
        "[ridge]\nanswer = 13\ntolerance = 0.01\nwhy = \"so\"\n");
  EXPECT_THAT(failures_text(prove({.gpus = {"t4"}, .proofs = {"solution"}})),
              HasSubstr("replay: build/bin/grader --part 1 --task answers --submission solutions"));
}

TEST_F(CourseTest, FailsForABrokenLink) {
  write("README.md", "[codes](docs/design/code.md)\n");
  const std::string failures = failures_text(prove({.proofs = {"documents"}}));
  EXPECT_THAT(failures, HasSubstr("README.md: docs/design/code.md: there is no such file"));
  EXPECT_THAT(failures, HasSubstr("replay: scripts/check_links\n"));
}

TEST_F(CourseTest, FailsForAMistakeThatDeclaresTheWrongCode) {
  const std::string mistake =
      "task = \"answers\"\nfile = \"answers.toml\"\nverdict = \"wrong-answer\"\nmax_score = 0\n"
      "story = \"guesses\"\n[[edit]]\nfind = \"12.5\"\nreplace = \"99\"\n";
  write("labs/part1-metrics/mistakes/guess/mistake.toml", "code = \"RL0408\"\n" + mistake);
  const Report right = prove({.gpus = {"t4"}, .mistakes = {"guess"}});
  EXPECT_TRUE(right.proved()) << failures_text(right);
  EXPECT_EQ(confusion_of(right, "t4", false).unrecognised, 1);
  write("labs/part1-metrics/mistakes/guess/mistake.toml", "code = \"RL0413\"\n" + mistake);
  EXPECT_THAT(failures_text(prove({.gpus = {"t4"}, .mistakes = {"guess"}})),
              HasSubstr("declares RL0413, which no diagnostic has; the first is RL0408"));
}

TEST_F(CourseTest, LeavesOutMistakesThatAGpuCannotRunOrHasNoMemoryToShow) {
  const std::string mistake =
      "task = \"answers\"\nfile = \"answers.toml\"\nverdict = \"wrong-answer\"\nmax_score = 0\n"
      "code = \"RL0408\"\nstory = \"guesses\"\n";
  const std::string edit = "[[edit]]\nfind = \"12.5\"\nreplace = \"99\"\n";
  write("labs/part1-metrics/mistakes/later/mistake.toml",
        mistake + "compute_capability = 80\n" + edit);
  write("labs/part1-metrics/mistakes/vast/mistake.toml", mistake + "vast_gb = 26\n" + edit);
  const Report report = prove({.proofs = {"mistakes"}});
  EXPECT_TRUE(report.proved()) << failures_text(report);
  EXPECT_THAT(matrix_text(report), HasSubstr("1 of 1 proofs hold, 3 not applicable"))
      << "what takes 8.0 runs on the A100, and no case is vast";
}

TEST_F(CourseTest, FailsForARightSubmissionThatIsFoundWrong) {
  write("labs/part1-metrics/right/rounded/right.toml",
        "task = \"answers\"\nfile = \"answers.toml\"\nstory = \"rounds\"\nstyle = \"short\"\n");
  write("labs/part1-metrics/right/rounded/answers.toml", "ridge = 12.51\n");
  const Report right = prove({.gpus = {"t4"}, .right = {"rounded"}});
  EXPECT_TRUE(right.proved()) << failures_text(right);
  EXPECT_THAT(matrix_text(right), HasSubstr("Part 1, Test part  1/1"));
  write("labs/part1-metrics/right/rounded/answers.toml", "ridge = 13\n");
  EXPECT_THAT(failures_text(prove({.gpus = {"t4"}, .right = {"rounded"}})),
              HasSubstr("FAILED: right submission rounded of part 1 on t4\n  it is right, and"));
}

TEST_F(CourseTest, RefusesAChoiceThatMatchesNothing) {
  expect_usage_error({.proofs = {"solutions"}}, "there is no proof solutions");
  expect_usage_error({.mistakes = {"none"}}, "no chosen part has a planted mistake none");
  expect_usage_error({.right = {"none"}}, "no chosen part has a right submission none");
  expect_usage_error({.proofs = {"mistakes"}}, "nothing that was chosen has anything to prove");
  expect_usage_error({.proofs = {"starter"}, .mistakes = {"none"}}, "leave --only out");
  EXPECT_THROW(prove({.parts = {2}}), UnknownPart);
  EXPECT_THROW(prove({.gpus = {"t5"}}), gpu_spec::SpecError);
}

}  // namespace
}  // namespace rooflab::verify
