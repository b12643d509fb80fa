// The CUDA device against a stand-in for NVIDIA's libraries: everything but the GPU is real.
#include "grader/device/cuda/cuda_device.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>

#include "grader/device/cuda/gpu_lock.h"
#include "grader/device/testing/scaling.h"
#include "specs/calibration.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using End = RunOutcome::End;

DeviceOptions options() {
  DeviceOptions result = test_options();
  result.cuda_libraries = fs::path(ROOFLAB_BINARY_DIR) / "tests" / "fake_cuda";
  result.gpu_locks = fs::path(ROOFLAB_BINARY_DIR) / "tests" / "fake_cuda";
  return result;
}

RunRequest request_of(const Problem& problem, const std::string& entry) {
  return request_of(problem, entry, "libhost_tasks.so", std::chrono::seconds(10));
}

TEST(CudaDeviceTest, IsDescribedByTheSpecificationThatFitsIt) {
  CudaDevice device(0, options());
  EXPECT_EQ(device.id(), "cuda:0");
  EXPECT_EQ(device.name(), "NVIDIA A100-PCIE-40GB");
  EXPECT_EQ(device.time_kind(), "measured");
  EXPECT_EQ(device.gpu().id, "a100");
}

TEST(CudaDeviceTest, ASpecificationHasToFit) {
  setenv("ROOFLAB_FAKE_CUDA_SMS", "109", 1);
  try {
    CudaDevice device(0, options());
    ADD_FAILURE() << "opened";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("NVIDIA A100-PCIE-40GB (compute capability 8.0, 109 SMs, 39 GiB)"));
    EXPECT_THAT(error.what(), HasSubstr("use --device sim"));
  }
  unsetenv("ROOFLAB_FAKE_CUDA_SMS");
}

/// Why the GPU cannot be opened while `variable` of the stand-in is `value`.
std::string refusal_with(const char* variable, const char* value) {
  setenv(variable, value, 1);
  std::string refusal;
  try {
    CudaDevice device(0, options());
  } catch (const DeviceError& error) {
    refusal = error.what();
  }
  unsetenv(variable);
  return refusal;
}

TEST(CudaDeviceTest, AGpuThatLetsInOneProcessOrNoneIsRefusedWithTheRemedy) {
  for (const int mode : {cudaComputeModeProhibited, cudaComputeModeExclusiveProcess}) {
    EXPECT_THAT(refusal_with("ROOFLAB_FAKE_CUDA_COMPUTE_MODE", std::to_string(mode).c_str()),
                HasSubstr("run `nvidia-smi -c DEFAULT` as root"));
  }
}

TEST(CudaDeviceTest, AGpuWhoseMemoryPoolsHaveNoDescriptorsIsRefused) {
  EXPECT_THAT(refusal_with("ROOFLAB_FAKE_CUDA_POOL_HANDLES", "0"),
              HasSubstr("cuda:0 shares no memory pools by file descriptors"));
}

TEST(CudaDeviceTest, CountsTheGpusThereAre) {
  try {
    CudaDevice device(1, options());
    ADD_FAILURE() << "opened";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "there is no cuda:1: this machine has 1 GPU; use --device cuda:0");
  }
}

std::string refusal_of(const DeviceOptions& options) {
  try {
    CudaDevice device(0, options);
    return "opened";
  } catch (const DeviceError& error) {
    return error.what();
  }
}

TEST(CudaDeviceTest, NamesBothVersionsWhereTheDriverIsTooOld) {
  setenv("ROOFLAB_FAKE_CUDA_DRIVER", "12040", 1);
  const std::string refusal = refusal_of(options());
  unsetenv("ROOFLAB_FAKE_CUDA_DRIVER");
  EXPECT_THAT(refusal, HasSubstr("it supports CUDA 12.4, and the toolkit is 13.0; install driver "
                                 "580 or later, or cuda-compat-13-0"));
}

/// A toolkit's folder of libraries, with what it was given of the stand-ins.
class LibraryFolderTest : public testing::Test {
 protected:
  LibraryFolderTest() : folder_(testing::TempDir() + "/libraries_" + std::to_string(getpid())) {
    fs::create_directories(folder_);
  }
  ~LibraryFolderTest() override { fs::remove_all(folder_); }
  DeviceOptions with(std::initializer_list<const char*> libraries) const {
    DeviceOptions result = options();
    for (const char* library : libraries) {
      fs::create_symlink(result.cuda_libraries / library, folder_ / library);
    }
    result.cuda_libraries = folder_;
    return result;
  }
  const fs::path folder_;
};

TEST_F(LibraryFolderTest, WithALibraryThatDoesNotLoadIsToldWithTheLoadersReason) {
  std::ofstream(folder_ / "libcudart.so.13") << "no library";
  EXPECT_THAT(refusal_of(with({"libcuda.so.1"})),
              AllOf(HasSubstr("no CUDA 13 runtime: libcudart.so.13 does not load ("),
                    HasSubstr("file too short")));
}

TEST_F(LibraryFolderTest, WithoutADriverGivesTheGuestTheDriverThatTheGraderLoaded) {
  // As from an LD_LIBRARY_PATH of ours alone: what is loaded is found by its name.
  void* elsewhere = dlopen((options().cuda_libraries / "libcuda.so.1").c_str(), RTLD_NOW);
  ASSERT_NE(elsewhere, nullptr) << dlerror();
  const Problem problem = scaling_problem();
  CudaDevice device(0, with({"libcudart.so.13"}));
  const RunOutcome outcome = device.run(request_of(problem, "scale_on_host"));
  EXPECT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  dlclose(elsewhere);
}

/// A folder of specifications with a calibration of the pretended GPU.
class CalibratedGpuTest : public testing::Test {
 protected:
  CalibratedGpuTest() : folder_(testing::TempDir() + "/calibrated_" + std::to_string(getpid())) {
    fs::create_directories(folder_ / "calibrated");
    fs::copy(options().gpu_specs / "a100.toml", folder_ / "a100.toml");
    for (const auto& [quantity, value] : {std::pair{"dram_read", 1400.0}, {"fp32", 19.0}}) {
      calibration_.peaks.push_back({.quantity = quantity, .value = value, .samples = 20});
    }
  }
  ~CalibratedGpuTest() override { fs::remove_all(folder_); }

  CudaDevice open() const {
    const gpu_spec::GpuSpec gpu = gpu_spec::find(folder_, "a100");
    std::ofstream(folder_ / "calibrated" / "a100-10111213.toml") << to_toml(calibration_, gpu);
    DeviceOptions with_calibration = options();
    with_calibration.gpu_specs = folder_;
    return {0, with_calibration};
  }

  /// It is not used, for this reason: rooflines keep the data sheet.
  void expect_refused(const std::string& reason) const {
    const CudaDevice device = open();
    EXPECT_THAT(device.peaks(), HasSubstr("data sheet (a100-10111213.toml is not used: "));
    EXPECT_THAT(device.peaks(), HasSubstr(reason));
    EXPECT_EQ(device.roofline_gpu().dram_bytes_per_second, 1555e9);
  }

  fs::path folder_;
  gpu_spec::Calibration calibration_{.gpu = "a100",
                                     .kind = "measured",
                                     .device = "NVIDIA A100-PCIE-40GB",
                                     .uuid = "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f",
                                     .date = "2026-03-14"};
};

TEST_F(CalibratedGpuTest, IsHeldAgainstItsOwnPeaks) {
  const CudaDevice device = open();
  EXPECT_EQ(device.uuid(), calibration_.uuid);
  EXPECT_EQ(device.peaks(), "calibrated on this GPU, 2026-03-14");
  EXPECT_EQ(device.roofline_gpu().dram_bytes_per_second, 1400e9);
  EXPECT_EQ(device.gpu().dram_bytes_per_second, 1555e9) << "the data sheet stays beside them";
}

TEST_F(CalibratedGpuTest, OfAnotherGpuOfItsKindIsRefused) {
  calibration_.uuid = "GPU-10111213-ffff-ffff-ffff-ffffffffffff";
  expect_refused("not of GPU-10111213-1415");
}

TEST_F(CalibratedGpuTest, OfASimulatedGpuIsRefused) {
  calibration_.kind = "modelled";
  expect_refused("its times are modelled");
}

TEST_F(CalibratedGpuTest, ThatContradictsPhysicsIsRefused) {
  calibration_.peaks[0].value = 2000;
  expect_refused("more than the 1555 of its data sheet allow");
}

TEST_F(CalibratedGpuTest, ThatCannotBeReadIsRefused) {
  calibration_.peaks.clear();
  expect_refused("peak");
}

TEST(CudaDeviceTest, WithoutACalibrationGoesByItsDataSheet) {
  const CudaDevice device(0, options());
  EXPECT_EQ(device.peaks(), "data sheet");
  EXPECT_EQ(device.roofline_gpu().dram_bytes_per_second, 1555e9);
}

TEST(CudaDeviceTest, BringsInputsThereAndOutputsBack) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  const RunOutcome outcome = device.run(request_of(problem, "scale_on_host"));
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  EXPECT_EQ(outcome.outputs[0], problem.tensors[0].data);
  EXPECT_TRUE(outcome.samples_us.empty());
}

TEST(CudaDeviceTest, RepeatsATimedCallAndChecksItsLastOutputs) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  RunRequest request = request_of(problem, "scale_on_host");
  request.timed = true;
  const RunOutcome outcome = device.run(request);
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  EXPECT_GE(outcome.samples_us.size(), 10U);
  EXPECT_LE(outcome.samples_us.size(), 100U);
  for (const double sample : outcome.samples_us) {
    EXPECT_GT(sample, 0);
  }
}

/// A timed run of `entry`, whose inputs may be drawn anew: draw i has x[0] = i + 1000.
class TimedRunTest : public testing::Test {
 protected:
  RunOutcome run(const std::string& entry, double time_limit_s = 20) {
    CudaDevice device(0, options());
    RunRequest request = request_of(problem_, entry);
    request.timed = true;
    request.time_limit = std::chrono::duration<double>(time_limit_s);
    request.fresh = [this](int index) {
      ++drawn_;
      Problem fresh = problem_;
      const float first = 1000.0F + static_cast<float>(index);
      std::memcpy(fresh.tensors[0].data.data(), &first, sizeof first);
      return fresh;
    };
    return device.run(request);
  }
  static double first_of(const std::vector<std::vector<std::byte>>& outputs) {
    return element_at(ElementType::float32, outputs.at(1), 0);
  }
  static double second_of(const std::vector<std::vector<std::byte>>& outputs) {
    return element_at(ElementType::float32, outputs.at(1), 1);
  }
  ~TimedRunTest() override { unsetenv("ROOFLAB_FAKE_NVML_REASONS"); }

  const Problem problem_ = scaling_problem();
  int drawn_ = 0;
};

TEST_F(TimedRunTest, CallsOnceMoreWithInputsThatTheGuestHasNotSeen) {
  const RunOutcome outcome = run("scale_on_host");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  ASSERT_FALSE(outcome.fresh.empty());
  EXPECT_EQ(first_of(outcome.fresh[0].outputs), 3000);
  EXPECT_GT(outcome.fresh[0].time_us, 0);
  EXPECT_EQ(outcome.drawn_outputs, outcome.outputs);
  EXPECT_EQ(outcome.sampling->early, 0);
  EXPECT_TRUE(outcome.sampling->clocks_watched);
  EXPECT_EQ(outcome.sampling->sm_mhz, 1305);
  EXPECT_EQ(outcome.sampling->dropped, 0);
}

TEST_F(TimedRunTest, SeesAnAnswerThatIsRightOnlyInTheFirstCalls) {
  const RunOutcome outcome = run("right_at_first");
  EXPECT_EQ(second_of(outcome.outputs), 0);
}

TEST_F(TimedRunTest, SeesAnAnswerThatIsRightOnlyWhereItWouldBeLookedAt) {
  int caught = 0;
  for (int i = 0; i < 8; ++i) {
    const RunOutcome outcome = run("right_now_and_then");
    caught += second_of(outcome.drawn_outputs) == 0 ? 1 : 0;
  }
  EXPECT_GE(caught, 4) << "nine of ten calls are wrong, and one of ten is drawn";
}

TEST_F(TimedRunTest, GetsAKeptResultWhereInputsAreOthers) {
  const RunOutcome outcome = run("keeps_by_address");
  expect_scaled(outcome);
  EXPECT_EQ(first_of(outcome.fresh.at(0).outputs), 0) << "3000 is right; this is the first result";
}

TEST_F(TimedRunTest, SeesThatInputsItHasSeenAreFaster) {
  const RunOutcome outcome = run("keeps_by_contents");
  expect_scaled(outcome);
  ASSERT_EQ(outcome.fresh.size(), 3U) << "one slow call alone could be a disturbance";
  EXPECT_EQ(drawn_, 3);
  EXPECT_EQ(first_of(outcome.fresh[2].outputs), 3006);
  EXPECT_TRUE(outcome.sampling->slower_on_fresh);
}

TEST_F(TimedRunTest, SeesThatFreshInputsAreNoSlower) {
  const RunOutcome outcome = run("scale_slowly");
  expect_scaled(outcome);
  EXPECT_FALSE(outcome.sampling->slower_on_fresh);
}

TEST_F(TimedRunTest, SeesAReplyThatComesBeforeTheOutputs) {
  EXPECT_GT(run("replies_early").sampling->early, 0);
}

TEST_F(TimedRunTest, ReadsTensorsThatAreInputAndOutputAsTheCallLeftThem) {
  Problem problem = scaling_problem();
  problem.tensors[1].role = Role::in_out;
  problem.tensors[1].data = problem.tensors[0].data;
  CudaDevice device(0, options());
  RunRequest request = request_of(problem, "scale_on_host");
  request.timed = true;
  const RunOutcome outcome = device.run(request);
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  EXPECT_EQ(outcome.drawn_outputs, outcome.outputs);
}

TEST_F(TimedRunTest, CountsNothingThatIsWrittenAfterTheReply) {
  setenv("ROOFLAB_FAKE_NVML_MS", "30", 1);  // what is asked between the reply and the reading
  const RunOutcome outcome = run("finishes_after_its_reply");
  unsetenv("ROOFLAB_FAKE_NVML_MS");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_EQ(second_of(outcome.outputs), 0) << "the zero of the reply, not what came 10 ms later";
  EXPECT_EQ(second_of(outcome.drawn_outputs), 0);
}

TEST_F(TimedRunTest, TakesItsOwnClockWhereTheGuestsEventsDisagree) {
  const RunOutcome outcome = run("shrinks_its_time");
  expect_scaled(outcome);
  ASSERT_FALSE(outcome.samples_us.empty());
  EXPECT_EQ(outcome.sampling->contradicted, static_cast<int>(outcome.samples_us.size()));
  for (const double sample : outcome.samples_us) EXPECT_GE(sample, 4500);
}

TEST_F(TimedRunTest, KeepsWhatACallFreesForTheNextOne) {
  const RunOutcome outcome = run("asks_what_is_kept");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_EQ(std::get<std::string>(outcome.results.at("kept")), "18446744073709551615");
}

TEST_F(TimedRunTest, EndsAsTheCallWithFreshInputsEnds) {
  const RunOutcome outcome = run("dies_of_fresh_inputs");
  EXPECT_EQ(outcome.end, End::killed);
  EXPECT_TRUE(outcome.samples_us.empty());
  EXPECT_TRUE(outcome.fresh.empty());
}

TEST_F(TimedRunTest, DropsThrottledSamplesAndTakesOthersInTheirPlace) {
  // Each call asks twice, before and after: two of the seven calls of a round are too hot.
  setenv("ROOFLAB_FAKE_NVML_REASONS", "0,0,0,0,0,0x20,0,0,0x4,0x4,0,0,0x88,0x88", 1);
  const RunOutcome outcome = run("scale_on_host");
  expect_scaled(outcome);
  EXPECT_GE(outcome.samples_us.size(), 10U);
  EXPECT_GE(outcome.sampling->dropped, 2);
  EXPECT_LE(outcome.sampling->dropped, static_cast<int>(outcome.samples_us.size()));
}

TEST_F(TimedRunTest, KeepsASampleWhoseClockOnlyChanged) {
  // The hardware slowdown on one side of every call; with heat or on both sides it is one.
  setenv("ROOFLAB_FAKE_NVML_REASONS", "0x8,0,0,0xc", 1);
  const RunOutcome outcome = run("scale_on_host");
  expect_scaled(outcome);
  EXPECT_EQ(outcome.sampling->dropped, 0);
  setenv("ROOFLAB_FAKE_NVML_REASONS", "0,0,0,0,0x8,0x8,0x48,0", 1);
  EXPECT_GE(run("scale_on_host").sampling->dropped, 2);
}

TEST_F(TimedRunTest, IsNoTimeAtAllWhenTheGpuIsThrottledAllTheTime) {
  setenv("ROOFLAB_FAKE_NVML_REASONS", "0x40", 1);
  const RunOutcome outcome = run("scale_on_host", 3);
  EXPECT_EQ(outcome.end, End::device_fault);
  EXPECT_THAT(outcome.detail, HasSubstr("the GPU was throttled, by heat or a fault, during each"));
}

TEST_F(LibraryFolderTest, WithoutNvmlLeavesClocksUnwatchedAndSaysSo) {
  CudaDevice device(0, with({"libcuda.so.1", "libcudart.so.13"}));
  const Problem problem = scaling_problem();
  RunRequest request = request_of(problem, "scale_on_host");
  request.timed = true;
  const RunOutcome outcome = device.run(request);
  EXPECT_GE(outcome.samples_us.size(), 10U) << outcome.detail;
  EXPECT_FALSE(outcome.sampling->clocks_watched);
  EXPECT_EQ(outcome.sampling->sm_mhz, 0);
}

TEST(CudaDeviceTest, AnOutputThatNobodyWroteStaysPoisoned) {
  Problem problem = scaling_problem();
  problem.parameters["n"] = kElements - 1;
  CudaDevice device(0, options());
  const RunOutcome outcome = device.run(request_of(problem, "scale_on_host"));
  ASSERT_EQ(outcome.outputs.size(), 2U);
  EXPECT_FALSE(is_poisoned(ElementType::float32, outcome.outputs[1], kElements - 2));
  EXPECT_TRUE(is_poisoned(ElementType::float32, outcome.outputs[1], kElements - 1));
}

TEST(CudaDeviceTest, AGuestThatDiesLeavesTheDeviceUsable) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  EXPECT_EQ(device.run(request_of(problem, "crashes")).end, End::killed);
  RunRequest timed = request_of(problem, "exits");
  timed.timed = true;
  const RunOutcome outcome = device.run(timed);
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_TRUE(outcome.samples_us.empty());
  expect_scaled(device.run(request_of(problem, "scale_on_host")));
}

TEST(CudaDeviceTest, AGuestGetsItsChannelItsMemoryAndNoOtherDescriptor) {
  CudaDevice device(0, options());
  const Problem problem = scaling_problem();
  const RunOutcome outcome = device.run(request_of(problem, "names_its_descriptors"));
  EXPECT_EQ(std::get<std::string>(outcome.results.at("open")), "0 1 2 3 4 ");
}

TEST(CudaDeviceTest, MemoryThatAGuestCannotOpenIsAFaultOfTheDevice) {
  const Problem problem = scaling_problem();
  CudaDevice device(0, options());
  setenv("ROOFLAB_FAKE_CUDA_SHARES_NOTHING", "1", 1);
  for (const bool timed : {false, true}) {
    RunRequest request = request_of(problem, "scale_on_host");
    request.timed = timed;
    const RunOutcome outcome = device.run(request);
    EXPECT_EQ(outcome.end, End::device_fault);
    EXPECT_THAT(outcome.detail, HasSubstr("the guest process cannot use the GPU: cuda"));
  }
  unsetenv("ROOFLAB_FAKE_CUDA_SHARES_NOTHING");
  expect_scaled(device.run(request_of(problem, "scale_on_host")));
}

TEST(CudaDeviceTest, WaitsForAGpuThatAnotherGradingUses) {
  const Problem problem = scaling_problem();
  DeviceOptions waiting = options();
  std::promise<std::string> told;
  waiting.progress = [&told](const std::string& line) { told.set_value(line); };
  CudaDevice device(0, waiting);
  auto other = std::make_unique<GpuLock>("0000:65:00.0", waiting.gpu_locks, nullptr);
  auto outcome = std::async(std::launch::async,
                            [&] { return device.run(request_of(problem, "scale_on_host")); });
  EXPECT_THAT(told.get_future().get(), HasSubstr("waiting for GPU 0000:65:00.0"));
  EXPECT_EQ(outcome.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  other.reset();
  expect_scaled(outcome.get());
}

TEST(CudaDeviceTest, LeavesNothingAllocated) {
  const Problem problem = scaling_problem();
  {
    CudaDevice device(0, options());
    device.run(request_of(problem, "scale_on_host"));
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    EXPECT_THAT(line, Not(HasSubstr("rooflab-fake-cuda"))) << "memory of the GPU";
  }
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;  // the listing itself has a descriptor, which is gone by now
    EXPECT_THAT(fs::read_symlink(entry, error).string(), Not(HasSubstr("rooflab-fake-cuda")));
  }
}

}  // namespace
}  // namespace rooflab
