#include "simgpu/toolchain/bounded_command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace simgpu::toolchain {
namespace {

using std::chrono::steady_clock;

class BoundedCommand : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  CommandEnd run(std::vector<std::string> words) const {
    return run_bounded({.words = std::move(words), .output = output()});
  }
  std::string output() const { return folder_ / "output"; }
  std::string printed() const {
    std::ifstream file(output());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("bounded-" + std::to_string(getpid()));
};

/// False when it is gone, and when only its entry is left that nobody has asked for.
bool runs(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string id, name, state;
  file >> id >> name >> state;
  return !state.empty() && state != "Z";
}

template <typename Condition>
bool becomes_true(const Condition& condition) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

TEST_F(BoundedCommand, SaysHowItEndedAndKeepsWhatItPrinted) {
  EXPECT_TRUE(run({"echo", "a b"}).succeeded());
  EXPECT_EQ(printed(), "a b\n");
  EXPECT_EQ(run({"sh", "-c", "exit 7"}).exit_code, 7);
  EXPECT_EQ(run({"no such command"}).exit_code, 127);
}

TEST_F(BoundedCommand, WorksInItsFolderAndKeepsItsErrors) {
  const CommandEnd end = run_bounded({.words = {"sh", "-c", "echo why >&2; echo made > here"},
                                      .folder = folder_,
                                      .output = output(),
                                      .errors = output()});
  EXPECT_TRUE(end.succeeded());
  EXPECT_EQ(printed(), "why\n");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "here"));
  EXPECT_EQ(run_bounded({.words = {"true"}, .folder = folder_ / "nowhere"}).exit_code, 126);
}

TEST_F(BoundedCommand, IsStoppedBeyondItsBounds) {
  const auto stopped = [&](std::vector<std::string> words, Bounds bounds) {
    return run_bounded({.words = std::move(words), .folder = folder_, .bounds = bounds}).stopped;
  };
  EXPECT_TRUE(stopped({"sh", "-c", "while :; do :; done"}, {.processor_seconds = 1}));
  EXPECT_TRUE(stopped({"sleep", "50"}, {.elapsed_seconds = 1}));
  EXPECT_FALSE(run_bounded({.words = {"dd", "if=/dev/zero", "of=large", "bs=1M", "count=3"},
                            .folder = folder_,
                            .bounds = {.file_bytes = 1 << 20}})
                   .succeeded());
  EXPECT_LE(std::filesystem::file_size(folder_ / "large"), 1U << 20);
}

TEST_F(BoundedCommand, EndsWithItsChildrenWhenTheCallerIsKilled) {
  const pid_t caller = fork();
  if (caller == 0) {
    run({"sh", "-c", "sleep 50 & echo $!; wait"});
    _exit(0);
  }
  ASSERT_TRUE(becomes_true([this] { return printed().ends_with("\n"); }));
  const pid_t grandchild = std::stoi(printed());
  EXPECT_TRUE(runs(grandchild));
  kill(caller, SIGKILL);
  waitpid(caller, nullptr, 0);
  EXPECT_TRUE(becomes_true([&] { return !runs(grandchild); }));
}

}  // namespace
}  // namespace simgpu::toolchain
