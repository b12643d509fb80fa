#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/spec/files.h"

/// For tests that run the program as people do.
namespace rooflab {

struct Ran {
  int code = -1;
  std::string out;
  std::string error;
};

/// On a checkout of one small part.
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
hints = ["first", "second", "third"]
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

  /// The program as a shell takes it, for a build tree below a folder with a space in its name.
  static std::string typed_program() {
    const std::string path = ROOFLAB_BINARY_DIR "/bin/grader";
    return path.find(' ') == std::string::npos ? path : "'" + path + "'";
  }

  Ran run(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {ROOFLAB_BINARY_DIR "/bin/grader"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program(words);
  }

  /// Starts a program in the folder of the test; its output goes to the files stdout and stderr
  /// there.
  /// @return 0 when it cannot be started
  pid_t start(std::vector<std::string> words) const {
    std::vector<std::string> settings;
    for (const auto& [name, value] : environment_)
      settings.push_back(fmt::format("{}={}", name, value));
    const std::string out = folder_.path() / "stdout";
    const std::string error = folder_.path() / "stderr";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, error.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_addchdir_np(&actions, folder_.path().c_str());
    pid_t child = 0;
    const int failed = ::posix_spawnp(&child, words[0].c_str(), &actions, nullptr,
                                      pointers(words).data(), pointers(settings).data());
    posix_spawn_file_actions_destroy(&actions);
    return failed == 0 ? child : 0;
  }

  Ran run_program(const std::vector<std::string>& words) const {
    const pid_t child = start(words);
    Ran ran;
    int status = 0;
    if (child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status)) {
      ran = {WEXITSTATUS(status), read_file(folder_.path() / "stdout"),
             read_file(folder_.path() / "stderr")};
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
    EXPECT_THAT(ran.out, testing::IsEmpty());
    EXPECT_THAT(ran.error, testing::StartsWith("grader: "));
    EXPECT_THAT(ran.error, testing::HasSubstr(message));
    EXPECT_EQ(std::count(ran.error.begin(), ran.error.end(), '\n'), 1) << ran.error;
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> environment_;
};

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

}  // namespace rooflab
