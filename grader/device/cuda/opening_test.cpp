// What an opening proves, against stand-ins for NVIDIA's libraries that break one thing each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <future>

#include "grader/device/cuda/cuda_device.h"
#include "grader/device/cuda/gpu_lock.h"
#include "grader/device/testing/scaling.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

/// A toolkit's folder with the stand-ins, and files that tell them what to break: guests read them,
/// too.
class OpeningTest : public testing::Test {
 protected:
  OpeningTest() {
    for (const char* library : {"libcuda.so.1", "libcudart.so.13", "libnvidia-ml.so.1"}) {
      fs::copy_file(fs::path(ROOFLAB_BINARY_DIR) / "tests" / "fake_cuda" / library,
                    libraries_ / library);
    }
    options_ = test_options();
    options_.cuda_libraries = libraries_;
    options_.gpu_locks = folder_.path();
    options_.gpus = {"t4"};
    options_.runtime_libraries = options_.simgpu_device = "/bin/sh";  // to open, not to run
    options_.system = {folder_.path() / "dev", folder_.path() / "proc"};
    options_.opening_step = [this](const OpeningStep& step) { steps_.push_back(step); };
    options_.progress = [this](const std::string& line) { told_.push_back(line); };
  }

  void set(const std::string& name, const std::string& value) const {
    write_file_atomically(libraries_ / ("ROOFLAB_FAKE_CUDA_" + name), value);
  }
  /// CUDA's `call` fails with `error` from now on.
  void fail(const std::string& call, int error) const {
    set("FAILS", call + "=" + std::to_string(error));
  }

  /// Nodes that everybody may open.
  void add_nodes(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      const fs::path node = options_.system.dev / name;
      write_file_atomically(node, "");
      fs::permissions(node, fs::perms(0666));
    }
  }

  std::string refusal() {
    steps_.clear();
    try {
      const CudaDevice device(0, options_);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "opened";
  }
  /// Opening ends with this step, for this reason and with this remedy, and `auto` simulates.
  void expect_refused(const std::string& step, const std::string& reason,
                      const std::string& remedy) {
    const std::string said = refusal();
    EXPECT_THAT(said, AllOf(HasSubstr(reason), HasSubstr("; " + remedy)));
    ASSERT_FALSE(steps_.empty());
    EXPECT_FALSE(steps_.back().good);
    EXPECT_EQ(steps_.back().name, step);
    EXPECT_EQ(steps_.back().text + "; " + steps_.back().remedy, said);
    EXPECT_TRUE(std::all_of(steps_.begin(), steps_.end() - 1,
                            [](const OpeningStep& before) { return before.good; }));
    told_.clear();
    EXPECT_EQ(open_device("auto", options_)->id(), "sim:t4");
    EXPECT_THAT(told_, ElementsAre("no usable GPU (" + said + "): simulating one"));
  }
  std::vector<std::string> names_of_steps() const {
    std::vector<std::string> names;
    for (const OpeningStep& step : steps_) names.push_back(step.name);
    return names;
  }

  TemporaryFolder folder_{fs::path(ROOFLAB_BINARY_DIR) / "tests"};
  fs::path libraries_ = [this] {
    fs::create_directories(folder_.path() / "lib64");
    return fs::canonical(folder_.path() / "lib64");
  }();
  const Problem problem_ = scaling_problem();
  DeviceOptions options_;
  std::vector<OpeningStep> steps_;
  std::vector<std::string> told_;
};

TEST_F(OpeningTest, ProvesStepByStepThatAllOfItWorks) {
  write_file_atomically(libraries_ / "libcublas.so.13", "");
  fs::copy_file(libraries_ / "libcuda.so.1", libraries_ / "libcublas.so.13",
                fs::copy_options::overwrite_existing);
  options_.course_libraries = {"cublas"};
  EXPECT_EQ(refusal(), "opened");
  EXPECT_THAT(names_of_steps(),
              ElementsAre("driver", "GPU", "specification", "memory pool", "guest", "shared memory",
                          "kernel", "events", "libraries"));
  for (const OpeningStep& step : steps_) EXPECT_TRUE(step.good) << step.name;
  EXPECT_THAT(steps_[0].text, HasSubstr("supports CUDA 13.0, and the toolkit is 13.0"));
  EXPECT_EQ(steps_[1].text, "NVIDIA A100-PCIE-40GB at 0000:65:00.0, compute capability 8.0");
  EXPECT_THAT(steps_.back().text, "cublas");
}

TEST_F(OpeningTest, ADriverThatDoesNotStartIsToldByItsCode) {
  fail("cuInit", 100);
  expect_refused("driver", "cuInit returned 100: the driver finds no GPU",
                 "start the container with its GPUs (docker run --gpus all)");
  fail("cuInit", 802);
  expect_refused("driver", "NVSwitches", "start nvidia-fabricmanager");
  fail("cuInit", 803);
  expect_refused("driver", "of different releases", "restart the machine");
  fail("cuInit", 999);
  expect_refused("driver", "cuInit returned 999", "run `nvidia-modprobe -u -c 0` as root");
}

TEST_F(OpeningTest, APoolThatIsClaimedAndCannotBeMadeIsRefused) {
  fail("cudaMemPoolCreate", 801);
  expect_refused("memory pool", "cudaMemPoolCreate failed with cudaErrorNotSupported",
                 "use NVIDIA's driver for Linux, 580 or later, on a GPU that is not a virtual one");
}

TEST_F(OpeningTest, WindowsWslIsToldByItsName) {
  write_file_atomically(options_.system.dev / "dxg", "");
  EXPECT_EQ(refusal(), "opened") << "should it work there one day";
  fail("cudaMemPoolCreate", 801);
  expect_refused("memory pool", "cudaMemPoolCreate failed",
                 "grade on a machine that runs Linux itself: this is Windows' WSL");
  fail("cudaGetLastError", 100);
  expect_refused("guest", "cudaErrorNoDevice", "grade on a machine that runs Linux itself");
}

TEST_F(OpeningTest, ASliceWithoutSharedMemoryIsToldToUseAWholeGpu) {
  set("IS_SLICE", "yes");
  fail("cudaMallocFromPoolAsync", 801);
  expect_refused("memory pool", "cudaMallocFromPoolAsync failed", "grade on a whole GPU");
}

TEST_F(OpeningTest, MemoryThatAGuestCannotImportIsRefused) {
  set("SHARES_NOTHING", "yes");
  expect_refused("shared memory", "the guest process cannot use the GPU: cudaMemPoolImport",
                 "use NVIDIA's driver for Linux");
}

TEST_F(OpeningTest, AGuestThatGetsNoGpuIsToldWhichNodeIsMissing) {
  fail("cudaGetLastError", 100);  // which the guest asks for, and the grader does not
  expect_refused("guest", "cannot use the GPU: cudaErrorNoDevice, and there is no /dev/nvidiactl",
                 "start the container with its GPUs (docker run --gpus all)");
  add_nodes({"nvidiactl", "nvidia-uvm", "nvidia3"});  // as NVML says
  expect_refused("guest", "the guest process cannot use the GPU: cudaErrorNoDevice",
                 "try --no-sandbox to see whether the sandbox keeps it from the device");
}

TEST_F(OpeningTest, AGuestGetsTheNodesOfItsOwnGpuAlone) {
  add_nodes({"nvidiactl", "nvidia-uvm", "nvidia-modeset", "nvidia0", "nvidia3"});
  EXPECT_EQ(refusal(), "opened");
  EXPECT_EQ(steps_.at(4).text, "uses the GPU by nvidiactl, nvidia-uvm, nvidia3");
}

TEST_F(OpeningTest, NodesThatOnlyRootMayOpenAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives guests another user";
  add_nodes({"nvidiactl", "nvidia-uvm", "nvidia3"});
  fs::permissions(options_.system.dev / "nvidia3", fs::perms(0660));
  expect_refused("guest", "may not open " + (options_.system.dev / "nvidia3").string(),
                 "give it to a group other than root's or to all");
}

TEST_F(OpeningTest, AGuestThatJoinsADaemonOfMpsIsToldHowToEndIt) {
  fail("cudaGetLastError", 805);
  expect_refused("guest", "cudaErrorMpsConnectionFailed",
                 "stop the daemon of CUDA's Multi-Process Service");
}

TEST_F(OpeningTest, NodesOfSeveralGpusThatNobodyTellsApartAreRefused) {
  add_nodes({"nvidiactl", "nvidia-uvm", "nvidia0", "nvidia1"});
  fs::remove(libraries_ / "libnvidia-ml.so.1");
  expect_refused("guest", "cannot tell which of the 2 nodes", "let the grader see");
}

TEST_F(OpeningTest, AKernelWithoutMachineCodeForTheGpuIsRefused) {
  fail("cudaLibraryLoadData", 209);
  expect_refused("kernel", "cudaErrorNoKernelImageForDevice",
                 "add the GPU's compute capability to ROOFLAB_GPU_ARCHITECTURES");
  fail("cudaLibraryGetKernel", 222);
  expect_refused("kernel", "cudaErrorUnsupportedPtxVersion",
                 "install a driver that is as new as the CUDA toolkit");
  fail("cudaLaunchKernel", 46);
  expect_refused("kernel", "cudaErrorDevicesUnavailable", "run `nvidia-smi -c DEFAULT` as root");
}

/// A toolkit of the driver's major version runs by its machine code; see device_code_test.cpp.
TEST_F(OpeningTest, AToolkitNewerThanTheDriverIsUsedButForWhatIsCompiledAsItRuns) {
  set("RUNTIME", "13010");
  fs::copy_file(libraries_ / "libcuda.so.1", libraries_ / "libnvrtc.so.13");
  fs::create_directories(libraries_.parent_path() / "include");
  options_.course_libraries = {"nvrtc"};
  EXPECT_EQ(refusal(), "opened");
  EXPECT_THAT(steps_[0].text, HasSubstr("supports CUDA 13.0, and the toolkit is 13.1"));
  EXPECT_THAT(steps_.back().text, HasSubstr("nvrtc, whose PTX this driver does not load"));
  CudaDevice device(0, options_);
  RunRequest request =
      request_of(problem_, "scale_on_host", "libhost_tasks.so", std::chrono::seconds(10));
  expect_scaled(device.run(request));
  request.libraries = {"nvrtc"};
  const RunOutcome outcome = device.run(request);
  EXPECT_EQ(outcome.end, RunOutcome::End::device_fault);
  EXPECT_THAT(outcome.detail, AllOf(HasSubstr("NVRTC"), HasSubstr("; install a driver that is as "
                                                                  "new as the CUDA toolkit")));
}

TEST_F(OpeningTest, AKernelThatComputesWronglyIsRefused) {
  set("MISCOMPUTES", "yes");
  expect_refused("kernel", "a kernel computes", "look for faults of the memory");
}

TEST_F(OpeningTest, EventsThatCannotBeMadeAreRefused) {
  fail("cudaEventCreate", 801);
  expect_refused("events", "cudaEventCreate: cudaErrorNotSupported", "see whether nvidia-smi");
}

TEST_F(OpeningTest, AToolkitWithoutCublasIsRefusedWhereTheCourseNeedsIt) {
  options_.course_libraries = {"cublas"};
  expect_refused("libraries", "libcublas.so.13 cannot be loaded",
                 "install cuBLAS of CUDA 13 (the package libcublas-13-0");
}

TEST_F(OpeningTest, AMissingLibraryOfATaskIsAFaultOfTheMachine) {
  CudaDevice device(0, options_);
  RunRequest request =
      request_of(problem_, "scale_on_host", "libhost_tasks.so", std::chrono::seconds(10));
  request.libraries = {"cublas"};
  const RunOutcome outcome = device.run(request);
  EXPECT_EQ(outcome.end, RunOutcome::End::device_fault);
  EXPECT_THAT(outcome.detail, HasSubstr("libcublas.so.13 cannot be loaded"));
}

TEST_F(OpeningTest, GraderAndGuestKeepAwayFromADaemonOfMps) {
  setenv("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps", 1);
  CudaDevice device(0, options_);
  const RunOutcome outcome = device.run(
      request_of(problem_, "names_its_gpu", "libhost_tasks.so", std::chrono::seconds(10)));
  const auto folder = std::get<std::string>(outcome.results.at("mps"));
  EXPECT_EQ(folder, getenv("CUDA_MPS_PIPE_DIRECTORY")) << "both alike";
  EXPECT_FALSE(fs::exists(folder)) << "and no daemon is there";
}

/// Two GPUs: 0000:65:00.0 and 0000:66:00.0.
class TwoGpusTest : public OpeningTest {
 protected:
  TwoGpusTest() { set("GPUS", "2"); }
  RunOutcome run(CudaDevice& device, const std::string& entry = "scale_on_host") const {
    return device.run(request_of(problem_, entry, "libhost_tasks.so", std::chrono::seconds(10)));
  }
};

TEST_F(TwoGpusTest, AutoTakesTheFirstThatHasASpecificationAndSaysWhy) {
  set("NAMES", "NVIDIA A100-PG509-200,NVIDIA A100-SXM4-40GB");
  const auto device = open_device("auto", options_);
  EXPECT_EQ(device->id(), "cuda:1");
  EXPECT_EQ(device->gpu().id, "a100");
  ASSERT_THAT(told_, SizeIs(1));
  EXPECT_THAT(told_[0], AllOf(StartsWith("using cuda:1 (cuda:0: no specification for NVIDIA "
                                         "A100-PG509-200"),
                              HasSubstr("a100.toml fits but for its name, as it is of NVIDIA "
                                        "A100-PCIE-40GB and NVIDIA A100-SXM4-40GB")));
}

TEST_F(TwoGpusTest, AutoSaysOfEachWhyItCannotBeUsed) {
  set("SMS", "108,109");
  fail("cudaMemPoolCreate", 801);
  EXPECT_EQ(open_device("auto", options_)->id(), "sim:t4");
  ASSERT_THAT(told_, SizeIs(1));
  EXPECT_THAT(told_[0], AllOf(StartsWith("no usable GPU (cuda:0: cudaMemPoolCreate failed"),
                              HasSubstr("; cuda:1: no specification for")));
}

TEST_F(TwoGpusTest, AutoTakesTheFirstWithoutAWordWhereItWorks) {
  EXPECT_EQ(open_device("auto", options_)->id(), "cuda:0");
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(TwoGpusTest, AGuestSeesItsOwnByAName) {
  CudaDevice device(1, options_);
  EXPECT_EQ(std::get<std::string>(run(device, "names_its_gpu").results.at("gpu")),
            "GPU-10111213-1415-1617-1819-1a1b1c1d1e20");
  expect_scaled(run(device));
}

TEST_F(TwoGpusTest, GradingsOnBothDoNotWaitForEachOtherAndTwoOnOneDo) {
  CudaDevice first(0, options_);
  CudaDevice second(1, options_);
  auto other = std::make_unique<GpuLock>("0000:65:00.0", folder_.path(), nullptr);
  expect_scaled(run(second));
  EXPECT_THAT(told_, IsEmpty());
  auto waiting = std::async(std::launch::async, [&] { return run(first); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  expect_scaled(run(second));
  other.reset();
  expect_scaled(waiting.get());
  EXPECT_THAT(told_, ElementsAre(HasSubstr("waiting for GPU 0000:65:00.0")));
}

TEST_F(TwoGpusTest, DoctorTellsTheStepsOfEach) {
  set("SMS", "108,109");
  const std::vector<DeviceStatus> all = list_devices(options_);
  ASSERT_GE(all.size(), 2U);
  EXPECT_TRUE(all[0].usable);
  EXPECT_THAT(all[0].steps, SizeIs(8));
  EXPECT_FALSE(all[1].usable);
  ASSERT_THAT(all[1].steps, SizeIs(3));
  EXPECT_EQ(all[1].steps[2].name, "specification");
  EXPECT_EQ(all[1].steps[2].remedy, "add a file for it there, or use --device sim");
}

}  // namespace
}  // namespace rooflab
