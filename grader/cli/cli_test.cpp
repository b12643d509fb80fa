#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grader/spec/files.h"
#include "labs/toolkit/testing/trace_rules.h"

/// Runs the program as people do, on a checkout of one small part.
namespace rooflab {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Ran {
  int code = -1;
  std::string out;
  std::string error;
};

class CliTest : public testing::Test {
 protected:
  CliTest() : folder_(testing::TempDir()) {
    write("labs/part7-test/part.toml", R"(number = 7
title = "Test part"
[[task]]
id = "count"
title = "Count"
kind = "values"
file = "count.cpp"
entry = "count"
points = 5
hints = ["first", "second"]
[[task.case]]
name = "square"
parameters = { n = 3 }
expect = { macs = 9 }
)");
    write("handouts/errors/RL0101.md", "# RL0101: the file does not compile\n");
    std::filesystem::create_directories(folder_.path() / "specs");
    std::filesystem::copy(ROOFLAB_SOURCE_DIR "/specs/gpus", folder_.path() / "specs/gpus");
    for (const char* name : {"PATH", "HOME"}) {
      if (const char* value = std::getenv(name)) environment_[name] = value;
    }
    environment_["ROOFLAB_ROOT"] = folder_.path();
    environment_["ROOFLAB_CACHE"] = folder_.path() / "cache";
    // The checkout's own .cuda/ is not below the folder of the test.
    environment_["ROOFLAB_NVCC"] = ROOFLAB_NVCC;
  }

  void write(const std::string& path, const std::string& text) const {
    write_file_atomically(folder_.path() / path, text);
  }

  Ran run(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {ROOFLAB_BINARY_DIR "/bin/grader"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> settings;
    for (const auto& [name, value] : environment_) settings.push_back(name + "=" + value);
    const std::string out = folder_.path() / "stdout";
    const std::string error = folder_.path() / "stderr";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, error.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_addchdir_np(&actions, folder_.path().c_str());
    pid_t child = 0;
    const int failed = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr,
                                     pointers(words).data(), pointers(settings).data());
    posix_spawn_file_actions_destroy(&actions);
    Ran ran;
    int status = 0;
    if (failed == 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status)) {
      ran = {WEXITSTATUS(status), read_file(out), read_file(error)};
    }
    return ran;
  }

  static std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
  }

  /// One line on stderr with a next step, nothing on stdout, and this exit code.
  void expect_refusal(const std::vector<std::string>& arguments, int code,
                      const std::string& message) const {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.code, code) << ran.error;
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.error, StartsWith("grader: "));
    EXPECT_THAT(ran.error, HasSubstr(message));
    EXPECT_EQ(std::count(ran.error.begin(), ran.error.end(), '\n'), 1) << ran.error;
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> environment_;
};

TEST_F(CliTest, ListsPartsAndTasks) {
  const Ran parts = run({"list"});
  EXPECT_EQ(parts.code, 0) << parts.error;
  EXPECT_THAT(parts.out, HasSubstr("Part 7  Test part"));
  EXPECT_THAT(parts.out, HasSubstr("1 tasks, 5 points"));
  const Ran tasks = run({"--part", "7", "--list"});
  EXPECT_EQ(tasks.code, 0) << tasks.error;
  EXPECT_THAT(tasks.out, HasSubstr("case 1  square  n = 3"));
}

TEST_F(CliTest, ListsATimedCaseWithItsName) {
  write("labs/part8-timed/part.toml", R"(number = 8
title = "Timed part"
[[task]]
id = "scale"
title = "Scale"
kind = "kernel"
file = "scale.cu"
entry = "scale"
oracle = "scale"
points = 5
[[task.case]]
name = "four"
parameters = { n = 4 }
[[task.speed]]
name = "2^20"
points = 0
parameters = { n = 1048576 }
)");
  const Ran tasks = run({"--part", "8", "--list"});
  EXPECT_EQ(tasks.code, 0) << tasks.error;
  EXPECT_THAT(tasks.out, HasSubstr("case 1  four  n = 4"));
  EXPECT_THAT(tasks.out, HasSubstr("timed  2^20  n = 1048576"));
}

TEST_F(CliTest, HelpIsNoError) {
  const Ran help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("--submission"));
}

TEST_F(CliTest, TellsTheVersionThatTheChangelogEndsWith) {
  const Ran version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  const std::string number = version.out.substr(std::string("rooflab ").size(), 5);
  EXPECT_EQ(version.out, "rooflab " + number + "\n");
  std::ifstream changelog(ROOFLAB_SOURCE_DIR "/CHANGELOG.md");
  std::string heading;
  while (std::getline(changelog, heading) && !heading.starts_with("## ")) {
  }
  if (heading == "## Unreleased") {
    while (std::getline(changelog, heading) && !heading.starts_with("## ")) {
    }
  }
  EXPECT_THAT(heading, StartsWith("## " + number + ", 20"));
}

TEST_F(CliTest, UnusableCommandLinesExitWith2) {
  expect_refusal({}, 2, "name a part, as in grader --part 1; see grader --help");
  expect_refusal({"--part", "one"}, 2, "see grader --help");
  expect_refusal({"--part", "0"}, 2, "see grader --help");
  expect_refusal({"--prat", "1"}, 2, "see grader --help");
  expect_refusal({"--part", "7", "--hint"}, 2, "--hint wants --task");
  expect_refusal({"--part", "7", "--case", "1"}, 2, "name it with --task");
  expect_refusal({"--part", "7", "--watch", "--json", "-"}, 2, "leave one out");
  expect_refusal({"starter"}, 2, "--write or --check");
  expect_refusal({"--part", "9"}, 2, "there is no part 9; the parts are 7");
  expect_refusal({"--part", "7", "--list", "--task", "cuont"}, 2,
                 "part 7 has no task cuont; its tasks are count");
  expect_refusal({"--part", "7", "--device", "gpu"}, 2, "gpu");
  expect_refusal({"--part", "7", "--device", "sim:b200"}, 2, "b200");
  expect_refusal({"roofline", "--gpu", "b200"}, 2, "b200");
}

TEST_F(CliTest, BrokenInstallationsExitWith3) {
  write("labs/part7-test/part.toml", "number = 7\ntitle = 3\n");
  expect_refusal({"--part", "7"}, 3, "part.toml:2: part: `title` is an integer; write a string");
  environment_["ROOFLAB_ROOT"] = folder_.path() / "nowhere";
  expect_refusal({"list"}, 3,
                 "has no folder labs/; run the grader from its checkout or set ROOFLAB_ROOT");
}

TEST_F(CliTest, MissingCompilerExitsWith3AndSaysHowToGetOne) {
  environment_["ROOFLAB_NVCC"] = "/nowhere/nvcc";
  expect_refusal({"--part", "7"}, 3,
                 "ROOFLAB_NVCC names /nowhere/nvcc, which is no program; correct or unset it");
}

TEST_F(CliTest, HintsComeOneAtATime) {
  const std::vector<std::string> ask = {"--part", "7", "--task", "count", "--hint"};
  EXPECT_EQ(run(ask).out, "count, hint 1 of 2: first\n");
  EXPECT_EQ(run(ask).out, "count, hint 2 of 2: second\n");
  EXPECT_EQ(run(ask).out, "count, hint 1 of 2: first\n");
  EXPECT_EQ(run(ask).code, 0);
}

TEST_F(CliTest, ExplainsCodesAndNeverOtherFiles) {
  EXPECT_EQ(run({"explain", "rl0101"}).out, "# RL0101: the file does not compile\n");
  expect_refusal({"explain", "RL9999"}, 2, "there is no code RL9999; the codes are RL0101");
  write("handouts/secret.md", "secret");
  expect_refusal({"explain", "../secret"}, 2, "there is no code");
}

TEST_F(CliTest, StarterIsCheckedAndWritten) {
  expect_refusal({"starter", "--check"}, 3, "there are no masters");
  write("solutions/part7-test/count.cpp", "// BEGIN SOLUTION\n// STARTER: todo\n// END SOLUTION\n");
  const Ran check = run({"starter", "--check"});
  EXPECT_EQ(check.code, 1);
  EXPECT_EQ(check.out, "starter/part7-test/count.cpp is missing\nrun: grader starter --write\n");
  EXPECT_EQ(run({"starter", "--write"}).code, 0);
  EXPECT_EQ(run({"starter", "--check"}).code, 0);
  EXPECT_EQ(read_file(folder_.path() / "starter/part7-test/count.cpp"), "todo\n");
}

/// Grades the questions of this checkout's own part 1: they need the whole way, but neither
/// compiler nor GPU.
class CliGradeTest : public CliTest {
 protected:
  CliGradeTest() { environment_["ROOFLAB_ROOT"] = ROOFLAB_SOURCE_DIR; }
  Ran grade(std::vector<std::string> more) const {
    more.insert(more.begin(),
                {"--part", "1", "--task", "answers", "--device", "sim:a100", "--seed", "8812"});
    return run(more);
  }
};

TEST_F(CliGradeTest, StarterFailsWithExitCode1AndWritesTheReport) {
  const Ran ran = grade({});
  EXPECT_EQ(ran.code, 1) << ran.error;
  EXPECT_THAT(ran.out, HasSubstr("Part 1: 0 of "));
  EXPECT_THAT(ran.out, HasSubstr("report out/part1.html"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b"))) << "colours are for terminals";
  EXPECT_THAT(ran.error, IsEmpty()) << "progress is for terminals";
  EXPECT_THAT(read_file(folder_.path() / "out/part1.html"), HasSubstr("<html"));
}

TEST_F(CliGradeTest, JsonOnStdoutIsTheDocumentAndNothingElse) {
  const Ran ran = grade({"--json", "-"});
  EXPECT_EQ(ran.code, 1) << ran.error;
  const auto document = nlohmann::json::parse(ran.out);
  EXPECT_EQ(document.at("schema"), 1);
  EXPECT_EQ(document.at("part"), 1);
  EXPECT_EQ(document.at("device"), "sim:a100");
  EXPECT_EQ(document.at("time_kind"), "modelled");
  EXPECT_EQ(document.at("score"), 0);
  EXPECT_GT(document.at("max_score"), 0);
  ASSERT_EQ(document.at("tasks").size(), 1U);
  EXPECT_EQ(document["tasks"][0].at("id"), "answers");
  EXPECT_EQ(document["tasks"][0].at("verdict"), "not-implemented");
  EXPECT_EQ(document["tasks"][0].at("diagnostics")[0].at("code"), "RL0601");
}

TEST_F(CliGradeTest, UnusableSubmissionsExitWith2) {
  const auto refused = [&](const std::string& submission, const std::string& message) {
    expect_refusal({"--part", "1", "--device", "sim:a100", "--submission", submission}, 2, message);
  };
  refused("nowhere", "there is no submission nowhere; name a folder with the layout of starter/");
  std::filesystem::create_directories(folder_.path() / "empty/part1-metrics");
  refused("empty", "the submission has no file of part 1 in empty/part1-metrics");
  write("file", "");
  refused("file", "the submission file is no folder");
}

TEST_F(CliGradeTest, FullDiskExitsWith3AndLeavesNothingHalfWritten) {
  const Ran ran = grade({"--json", "/dev/full"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(
      ran.error,
      EndsWith("No space left on device; free some space or name a file on another disk\n"));
}

TEST_F(CliGradeTest, ReportThatCannotBeWrittenExitsWith3) {
  std::filesystem::create_directories(folder_.path() / "report.html");
  const Ran ran = grade({"--html", "report.html"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.error, HasSubstr("cannot write report.html: Is a directory"));
}

TEST_F(CliGradeTest, AFileThatCannotBeWrittenTakesNeitherTheResultNorTheOtherFilesWithIt) {
  std::filesystem::create_directories(folder_.path() / "report.html");
  const Ran ran = grade({"--html", "report.html", "--json", "grade.json"});
  EXPECT_THAT(ran.out, HasSubstr("Part 1: 0 of "));
  EXPECT_THAT(ran.out, Not(HasSubstr("report.html")));
  EXPECT_EQ(nlohmann::json::parse(read_file(folder_.path() / "grade.json")).at("part"), 1);
}

TEST_F(CliTest, ACheckoutWithoutPartsIsNoEmptyList) {
  std::filesystem::remove_all(folder_.path() / "labs/part7-test");
  const Ran ran = run({"list"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.error, HasSubstr("no part is found there; restore the folder labs/"));
}

TEST_F(CliGradeTest, OnlyJsonGoesToStdout) {
  const Ran ran = grade({"--json", "-", "--html", "-"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.error, HasSubstr("--html and --trace need a file"));
}

TEST_F(CliGradeTest, TraceIsADocumentThatViewersOpen) {
  EXPECT_EQ(grade({"--trace", "trace.json"}).code, 1);
  EXPECT_THAT(TraceRules::faults(read_file(folder_.path() / "trace.json")), IsEmpty());
}

}  // namespace
}  // namespace rooflab
