// A sandbox that is stopped for a while, by the freezer where there is one and by signals.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "grader/sandbox/control_groups.h"
#include "grader/sandbox/sandbox.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

enum class Sandboxed { strongest, fallback, limits_only };

void wait_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// A sandboxed hostile_program that writes to a file all the time, from two processes.
class HaltTest : public testing::TestWithParam<Sandboxed> {
 protected:
  HaltTest() : folder_(fs::temp_directory_path() / "rooflab-halt-test-XXXXXX") {
    std::string name = folder_;
    if (mkdtemp(name.data()) != nullptr) folder_ = name;
    fs::permissions(folder_, fs::perms::all);
  }
  ~HaltTest() override { fs::remove_all(folder_); }

  SandboxedProcess start(const std::string& deed, double wall_s = 20) const {
    const fs::path program = fs::path(ROOFLAB_BINARY_DIR) / "tests" / "hostile_program";
    SandboxRequest request;
    request.argv = {program, deed, "mark", beats().string()};
    request.read_only = {program.parent_path()};
    request.writable = {{folder_, folder_}};
    request.limits.wall_s = wall_s;
    request.enabled = GetParam() != Sandboxed::limits_only;
    request.allow_bubblewrap = GetParam() == Sandboxed::strongest;
    return SandboxedProcess::start(request);
  }
  fs::path beats() const { return folder_ / "beats"; }
  std::uintmax_t count() const {
    std::error_code error;
    const auto bytes = fs::file_size(beats(), error);
    return error ? 0 : bytes;
  }
  /// Whether it beats within ten seconds.
  bool beats_on() const {
    const std::uintmax_t before = count();
    for (int wait = 0; wait < 1000 && count() < before + 4; ++wait) wait_ms(10);
    return count() >= before + 4;
  }

  fs::path folder_;
};

INSTANTIATE_TEST_SUITE_P(Layers, HaltTest,
                         testing::Values(Sandboxed::strongest, Sandboxed::fallback,
                                         Sandboxed::limits_only),
                         [](const auto& info) {
                           return info.param == Sandboxed::strongest  ? "Strongest"
                                  : info.param == Sandboxed::fallback ? "Fallback"
                                                                      : "LimitsOnly";
                         });

TEST_P(HaltTest, NothingRunsUntilItGoesOn) {
  SandboxedProcess process = start("beat");
  ASSERT_TRUE(beats_on());
  for (int time = 0; time < 3; ++time) {
    ASSERT_TRUE(process.stop());
    const std::uintmax_t before = count();
    wait_ms(50);
    EXPECT_EQ(count(), before);
    EXPECT_TRUE(process.is_still());
    process.go_on();
    EXPECT_TRUE(beats_on());
  }
}

TEST_P(HaltTest, AProgramThatContinuesItselfDoesNotRunUnseen) {
  SandboxedProcess process = start("beat_when_stopped");
  ASSERT_TRUE(beats_on());
  const bool stopped = process.stop();
  const std::uintmax_t before = count();
  wait_ms(50);
  EXPECT_TRUE(count() == before || !stopped || !process.is_still());
  process.go_on();
  EXPECT_TRUE(beats_on());
}

TEST_P(HaltTest, TheTimeDoesNotCountForItsLimit) {
  SandboxedProcess process = start("sleep_and_exit", 4);  // after 1.3 s
  ASSERT_TRUE(process.stop());
  wait_ms(3500);
  process.go_on();
  const SandboxOutcome outcome = process.wait();
  EXPECT_EQ(outcome.limit, LimitHit::none);
  EXPECT_EQ(outcome.signal, 0);
}

TEST_P(HaltTest, NobodyWaitsForeverForOneThatStaysStopped) {
  SandboxedProcess process = start("beat", 0.5);
  ASSERT_TRUE(process.stop());
  const auto start = Clock::now();
  EXPECT_TRUE(process.finished(10));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5)) << "twice its limit, and the clean-up";
  EXPECT_EQ(process.wait().limit, LimitHit::time);
  EXPECT_TRUE(process.is_still());
  process.go_on();  // has no one to continue
}

TEST_P(HaltTest, OneThatIsStoppedCanBeEnded) {
  SandboxedProcess process = start("beat");
  ASSERT_TRUE(process.stop());
  process.kill();
  EXPECT_TRUE(process.finished(10));
  EXPECT_TRUE(process.stop()) << "there is nobody to be stopped";
}

TEST(FreezerTest, TellsWhetherItIsThere) {
  const auto groups = ControlGroups::make(64 << 20, 16);
  if (!groups) GTEST_SKIP() << "control groups are absent, or not ours to write";
  if (!groups->can_freeze()) GTEST_SKIP() << "no control groups of version 2";
  EXPECT_TRUE(groups->freeze(std::chrono::seconds(1))) << "nobody is in it";
  groups->thaw();
}

}  // namespace
}  // namespace rooflab
