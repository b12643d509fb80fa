// What lies around a timed call, against stand-ins for NVIDIA's libraries: who may work before it,
// what is left in the caches, how fast the clock runs, and who else uses the GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "grader/device/cuda/cuda_device.h"
#include "grader/device/testing/scaling.h"
#include "grader/spec/files.h"
#include "grader/spec/median.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using End = RunOutcome::End;

/// Timed runs on the stand-in, whose settings are undone at the end.
class FairTimeTest : public testing::Test {
 protected:
  FairTimeTest() {
    for (const char* library : {"libcuda.so.1", "libcudart.so.13", "libnvidia-ml.so.1"}) {
      fs::copy_file(fs::path(ROOFLAB_BINARY_DIR) / "tests" / "fake_cuda" / library,
                    libraries_ / library);
    }
  }
  ~FairTimeTest() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
  }
  /// For guests, too, which have an environment of their own.
  void set_for_all(const std::string& name, const std::string& value) const {
    write_file_atomically(libraries_ / name, value);
  }
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }
  RunOutcome run(const std::string& entry, double time_limit_s = 20) {
    DeviceOptions options = test_options();
    options.cuda_libraries = options.gpu_locks = libraries_;
    options.sandbox = sandboxed_;
    CudaDevice device(0, options);
    RunRequest request = request_of(problem_, entry, "libhost_tasks.so",
                                    std::chrono::duration<double>(time_limit_s));
    request.timed = true;
    return device.run(request);
  }

  const Problem problem_ = scaling_problem();
  const TemporaryFolder folder_{fs::path(ROOFLAB_BINARY_DIR) / "tests"};
  const fs::path libraries_ = [this] {  // open to guests, as the folder itself is not
    fs::create_directories(folder_.path() / "lib64");
    return fs::canonical(folder_.path() / "lib64");
  }();
  std::vector<std::string> set_;
  bool sandboxed_ = true;
};

double median_us(const RunOutcome& outcome) {
  return outcome.samples_us.empty() ? 0 : median_of(outcome.samples_us);
}

TEST_F(FairTimeTest, AThreadThatSeesTheInputsComeGainsNothing) {
  set("ROOFLAB_FAKE_NVML_MS", "30");  // time enough for the work between the inputs and the call
  const RunOutcome outcome = run("works_ahead");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  EXPECT_GE(median_us(outcome), 9'000) << "the work takes 10 ms of a processor";
}

TEST_F(FairTimeTest, AProcessThatContinuesItselfGainsNothingUnseen) {
  set("ROOFLAB_FAKE_NVML_MS", "15");
  const RunOutcome outcome = run("works_ahead_and_wakes_itself");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_TRUE(median_us(outcome) >= 9'000 || outcome.sampling->disturbed > 0)
      << "a freezer keeps it, or its turns on the processor are seen";
}

TEST_F(FairTimeTest, WithoutASandboxSignalsDoTheSame) {
  sandboxed_ = false;
  set("ROOFLAB_FAKE_NVML_MS", "15");
  const RunOutcome outcome = run("works_ahead");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_GE(median_us(outcome), 9'000);
  EXPECT_EQ(outcome.sampling->not_still, 0);
  const RunOutcome awake = run("works_ahead_and_wakes_itself");
  ASSERT_EQ(awake.end, End::returned) << awake.detail;
  EXPECT_TRUE(median_us(awake) >= 9'000 || awake.sampling->not_still > 0);
}

TEST_F(FairTimeTest, WorkThatEndsBeforeAnybodyElseGetsToTheGpuCountsThoughTheReplyCameFirst) {
  const RunOutcome outcome = run("replies_while_it_has_the_gpu");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  EXPECT_EQ(outcome.sampling->contradicted, static_cast<int>(outcome.samples_us.size()));
  EXPECT_GE(median_us(outcome), 5'000) << "of 10 ms; its events say 5 us";
}

TEST_F(FairTimeTest, AGpuThatIsSlowToTurnToAGuestCostsItNothing) {
  set_for_all("ROOFLAB_FAKE_CUDA_CHANGE_MS", "5");
  const RunOutcome outcome = run("scale_on_host");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_LT(median_us(outcome), 2'500) << "a call that does nothing takes 5 ms as well";
}

TEST_F(FairTimeTest, AnHonestCallIsDisturbedByNothing) {
  const RunOutcome outcome = run("scale_on_host");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_EQ(outcome.sampling->not_still, 0);
  EXPECT_EQ(outcome.sampling->beside_others, 0);
  EXPECT_EQ(outcome.sampling->slow_clock, 0);
  EXPECT_EQ(outcome.sampling->disturbed, 0);
  EXPECT_THAT(outcome.sampling->other_users, testing::IsEmpty());
}

// The waits for the GPU of the bystander's first calls, before the student's library is loaded, are
// the first forty at most.
constexpr const char* kAfterTheIdleCalls = "40";

TEST_F(FairTimeTest, ACallBeforeWhichTheGpuWasBusyIsMadeAgain) {
  set("ROOFLAB_FAKE_CUDA_BUSY_FROM", kAfterTheIdleCalls);
  set("ROOFLAB_FAKE_CUDA_BUSY_EVERY", "17");
  const RunOutcome outcome = run("scale_on_host");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_GT(outcome.sampling->busy_before, 0);
  EXPECT_EQ(outcome.sampling->disturbed, 0);
  EXPECT_GE(outcome.samples_us.size(), 10U);
}

TEST_F(FairTimeTest, AGpuThatIsAlwaysBusyCostsNobodyTheScoreAndIsTold) {
  set("ROOFLAB_FAKE_CUDA_BUSY_FROM", kAfterTheIdleCalls);
  const RunOutcome outcome = run("scale_on_host");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  EXPECT_GE(outcome.samples_us.size(), 10U);
  EXPECT_GT(outcome.sampling->disturbed, 0);
  EXPECT_GE(outcome.sampling->busy_before, outcome.sampling->disturbed);
}

/// A line of the stand-in's log.
struct Logged {
  std::string call;
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
};

std::vector<Logged> logged_in(const fs::path& file) {
  std::vector<Logged> lines;
  std::ifstream stream(file);
  for (Logged line; stream >> line.call >> line.to >> line.from >> line.bytes;) {
    lines.push_back(line);
  }
  return lines;
}

TEST_F(FairTimeTest, EachCallFindsNothingInTheL2ThatIsItsOwnPersistsOrHasToBeWrittenBack) {
  const fs::path log = fs::path(testing::TempDir()) / ("log_" + std::to_string(getpid()));
  set("ROOFLAB_FAKE_CUDA_LOG", log);
  const RunOutcome outcome = run("scale_on_host");
  const std::vector<Logged> lines = logged_in(log);
  fs::remove(log);
  constexpr std::uint64_t kL2 = 1 << 16;  // of the stand-in
  std::size_t resets = 0, flushes = 0;
  for (auto line = lines.begin(); line != lines.end(); ++line) {
    resets += line->call == "reset" ? 1 : 0;
    if (line->call != "fill" || line[1].call == "fill" || line->bytes < 2 * kL2) continue;
    ++flushes;
    ASSERT_EQ(resets, flushes) << "lines that persist outlast what is written over them";
    std::uint64_t read = 0, written_to = 0;
    for (++line; line->call == "copy_on_device"; ++line) {
      ASSERT_TRUE(written_to == 0 || line->to == written_to) << "it would leave lines of its own";
      written_to = line->to;
      read += line->bytes;
    }
    EXPECT_GE(read, 2 * kL2);
    EXPECT_EQ(line->call, "synchronize");
  }
  EXPECT_GE(flushes, 2 * outcome.samples_us.size()) << "of the bystander's calls, too";
}

TEST_F(FairTimeTest, ClocksAreUpBeforeTheFirstSample) {
  set("ROOFLAB_FAKE_NVML_RAMP_MS", "900");
  const RunOutcome outcome = run("scale_on_host");
  EXPECT_GE(outcome.sampling->sm_mhz, 1250);
}

TEST_F(FairTimeTest, AClockThatNeverSettlesDelaysTheSamplesForABoundedTime) {
  set("ROOFLAB_FAKE_NVML_MHZ", "1305,1305,900,900");
  const RunOutcome outcome = run("scale_on_host");
  EXPECT_GE(outcome.samples_us.size(), 10U) << outcome.detail;
}

TEST_F(FairTimeTest, ASampleAtALowerClockThanTheOthersIsDropped) {
  set("ROOFLAB_FAKE_NVML_MHZ", "1305,1305,1305,1305,1305,1305,1305,900");  // one call of four
  const RunOutcome outcome = run("scale_on_host");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_GE(outcome.sampling->slow_clock, 2);
  EXPECT_EQ(outcome.sampling->sm_mhz, 1305);
  EXPECT_GE(outcome.samples_us.size(), 10U);
}

/// Whether all processes of this machine can be seen here.
bool sees_all() { return fs::read_symlink("/proc/self/ns/pid") == "pid:[4026531836]"; }

TEST_F(FairTimeTest, WhoElseHasMemoryOfTheGpuIsNamed) {
  set("ROOFLAB_FAKE_NVML_OTHER", "compute");
  RunOutcome outcome = run("scale_on_host");
  ASSERT_EQ(outcome.sampling->other_users.size(), 1U);
  const GpuUser& user = outcome.sampling->other_users[0];
  EXPECT_EQ(user.pid, 1);
  EXPECT_EQ(user.name, "python3") << "not its arguments, and not where it lies";
  EXPECT_EQ(user.memory_bytes, 3ULL << 30);
  EXPECT_EQ(outcome.sampling->users_known, sees_all());
  EXPECT_EQ(outcome.sampling->disturbed, 0) << "it only has memory";

  set("ROOFLAB_FAKE_NVML_OTHER", "graphics");
  outcome = run("scale_on_host");
  ASSERT_EQ(outcome.sampling->other_users.size(), 1U);
  EXPECT_EQ(outcome.sampling->other_users[0].memory_bytes, 0U) << "the driver does not know";
}

TEST_F(FairTimeTest, WhereTheListLacksEvenUsNobodyKnowsTheOthers) {
  set("ROOFLAB_FAKE_NVML_OTHER", "nobody");
  const RunOutcome outcome = run("scale_on_host");
  EXPECT_FALSE(outcome.sampling->users_known);
  EXPECT_THAT(outcome.sampling->other_users, testing::IsEmpty());
}

TEST_F(FairTimeTest, WhatIsTakenWhileAnotherProcessComputesIsTakenAgain) {
  set("ROOFLAB_FAKE_NVML_OTHER", "compute");
  std::string sm = "0,0,0,0,0,80";  // behind the fifth call
  for (int call = 0; call < 200; ++call) sm += ",0";
  set("ROOFLAB_FAKE_NVML_SM", sm);
  const RunOutcome outcome = run("scale_on_host");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_GE(outcome.sampling->beside_others, 2) << "and what was taken shortly before";
  EXPECT_GE(outcome.samples_us.size(), 10U);
}

TEST_F(FairTimeTest, AProcessThatAlwaysComputesCostsNobodyTheScoreAndIsTold) {
  set("ROOFLAB_FAKE_NVML_OTHER", "graphics");
  set("ROOFLAB_FAKE_NVML_SM", "1");  // a desktop
  const RunOutcome outcome = run("scale_on_host");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_GE(outcome.samples_us.size(), 10U);
  EXPECT_EQ(outcome.sampling->disturbed, static_cast<int>(outcome.samples_us.size()));
}

}  // namespace
}  // namespace rooflab
