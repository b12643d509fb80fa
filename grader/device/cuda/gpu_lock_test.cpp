#include "grader/device/cuda/gpu_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "grader/device/device.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kGpu = "0000:65:00.0";

void tell_nobody(const std::string&) {}

/// A child that does something, and leaves with what that returned.
pid_t in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(work());
    } catch (...) {
      _exit(99);
    }
  }
  return child;
}

int exit_code(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class GpuLockTest : public testing::Test {
 protected:
  GpuLockTest() { chmod(folder_.path().c_str(), 01777); }
  fs::path file() const { return folder_.path() / "rooflab-gpu-0000:65:00.0.lock"; }
  std::string refusal() const {
    try {
      const GpuLock lock(kGpu, folder_.path(), tell_nobody);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "";
  }
  /// A child that has the GPU until it is killed, and has it already.
  pid_t holder() {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    const pid_t child = in_child([&] {
      const GpuLock lock(kGpu, folder_.path(), tell_nobody);
      EXPECT_EQ(write(ready[1], "x", 1), 1);
      for (;;) pause();
      return 0;
    });
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
  }
  TemporaryFolder folder_{fs::temp_directory_path()};
};

TEST_F(GpuLockTest, OneProcessAtATimeHasTheGpu) {
  constexpr int kProcesses = 6;
  constexpr int kTimes = 40;
  const fs::path inside = folder_.path() / "inside";
  const fs::path count = folder_.path() / "count";
  std::ofstream(count) << 0;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(in_child([&] {
      for (int time = 0; time < kTimes; ++time) {
        const GpuLock lock(kGpu, folder_.path(), tell_nobody);
        const Descriptor alone(open(inside.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600));
        if (!alone.valid()) return 1;
        int value = -1;
        std::ifstream(count) >> value;
        usleep(100);
        std::ofstream(count) << value + 1;
        fs::remove(inside);
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(exit_code(child), 0);
  int value = 0;
  std::ifstream(count) >> value;
  EXPECT_EQ(value, kProcesses * kTimes);
}

TEST_F(GpuLockTest, TheDeathOfAProcessLetsGoOfIt) {
  const pid_t child = holder();
  std::vector<std::string> told;
  std::atomic<bool> had = false;
  std::thread waiter([&] {
    const GpuLock lock(kGpu, folder_.path(),
                       [&](const std::string& line) { told.push_back(line); });
    had = true;
  });
  usleep(100'000);
  EXPECT_FALSE(had);
  kill(child, SIGKILL);
  waiter.join();
  EXPECT_TRUE(had);
  EXPECT_THAT(told, ElementsAre("waiting for GPU 0000:65:00.0, which another grading uses"));
  exit_code(child);
}

TEST_F(GpuLockTest, TwoGpusDoNotWaitForEachOther) {
  const GpuLock one(kGpu, folder_.path(), tell_nobody);
  bool waited = false;
  const GpuLock other("0000:66:00.0", folder_.path(), [&](const std::string&) { waited = true; });
  EXPECT_FALSE(waited);
}

TEST_F(GpuLockTest, WhoeverComesLaterLocksTheSameFileThoughOneWasRemoved) {
  const pid_t child = holder();
  std::atomic<bool> had = false;
  std::thread waiter([&] {
    const GpuLock lock(kGpu, folder_.path(), tell_nobody);
    had = true;
  });
  usleep(50'000);
  fs::remove(file());
  const pid_t second = holder();  // by a new file
  kill(child, SIGKILL);
  usleep(100'000);
  EXPECT_FALSE(had);
  kill(second, SIGKILL);
  waiter.join();
  exit_code(child);
  exit_code(second);
}

TEST_F(GpuLockTest, AnotherUserMayLockWhatWasMadeUnderAStrictUmask) {
  const mode_t before = umask(0777);
  { const GpuLock lock(kGpu, folder_.path(), tell_nobody); }
  umask(before);
  struct stat status {};
  ASSERT_EQ(stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0444U);
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const pid_t other = in_child([&] {
    if (setgid(65534) != 0 || setuid(65534) != 0) return 2;
    const GpuLock lock(kGpu, folder_.path(), tell_nobody);
    return 0;
  });
  EXPECT_EQ(exit_code(other), 0);
}

TEST_F(GpuLockTest, WhatSomebodyPutInItsPlaceIsRefused) {
  fs::create_symlink(folder_.path() / "elsewhere", file());
  EXPECT_THAT(refusal(), HasSubstr("it is a link"));
  EXPECT_FALSE(fs::exists(folder_.path() / "elsewhere"));
  fs::remove(file());
  ASSERT_EQ(mkfifo(file().c_str(), 0666), 0);
  EXPECT_THAT(refusal(), HasSubstr("it is no plain file"));
  fs::remove(file());
  fs::create_directory(file());
  EXPECT_THAT(refusal(), HasSubstr("it is no plain file"));
}

TEST_F(GpuLockTest, AnAddressIsNoPath) {
  const GpuLock lock("../../x y", folder_.path(), tell_nobody);
  EXPECT_TRUE(fs::exists(folder_.path() / "rooflab-gpu-..-..-x-y.lock"));
}

TEST_F(GpuLockTest, TheCommonFolderIsEverybodys) {
  struct stat status {};
  ASSERT_EQ(stat(GpuLock::common_folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 01777, 01777U);
}

}  // namespace
}  // namespace rooflab
