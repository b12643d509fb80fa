#include "simgpu/native/bounded_command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace simgpu::native {
namespace {

using std::chrono::steady_clock;

class BoundedCommand : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string output() const { return folder_ / "output"; }
  std::string printed() const {
    std::ifstream file(output());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("bounded-" + std::to_string(getpid()));
  std::atomic<bool> stop_ = false;
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

TEST_F(BoundedCommand, TellsWhetherItSucceededAndKeepsWhatItPrinted) {
  EXPECT_TRUE(run_bounded({"echo", "a b"}, output().c_str(), stop_));
  EXPECT_EQ(printed(), "a b\n");
  EXPECT_FALSE(run_bounded({"false"}, output().c_str(), stop_));
  EXPECT_FALSE(run_bounded({"no such command"}, output().c_str(), stop_));
}

TEST_F(BoundedCommand, EndsWhenItIsStopped) {
  const auto start = steady_clock::now();
  std::jthread stopper([this] {
    becomes_true([this] { return std::filesystem::exists(output()); });
    stop_ = true;
  });
  EXPECT_FALSE(run_bounded({"sleep", "50"}, output().c_str(), stop_));
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(40));
}

TEST_F(BoundedCommand, EndsWithItsChildrenWhenTheCallerIsKilled) {
  const pid_t caller = fork();
  if (caller == 0) {
    run_bounded({"sh", "-c", "sleep 50 & echo $!; wait"}, output().c_str(), stop_);
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
}  // namespace simgpu::native
