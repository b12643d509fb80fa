// `grader doctor` and `--device auto` on a machine with a real GPU, whose libraries are stand-ins.
#include <sys/file.h>

#include <thread>

#include "grader/cli/cli_fixture.h"
#include "grader/posix/descriptor.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DoctorTest : public CliTest {
 protected:
  DoctorTest() {
    const fs::path toolkit = folder_.path() / "toolkit";
    const fs::path libraries = toolkit / "lib64";
    fs::create_directories(toolkit / "bin");
    fs::create_directories(libraries);
    write("toolkit/bin/nvcc", "#!/bin/sh\nexec '" ROOFLAB_NVCC "' \"$@\"\n");
    fs::permissions(toolkit / "bin/nvcc", fs::perms::owner_all);
    for (const char* library : {"libcuda.so.1", "libcudart.so.13", "libnvidia-ml.so.1"}) {
      fs::copy_file(fs::path(ROOFLAB_BINARY_DIR) / "tests/fake_cuda" / library,
                    libraries / library);
    }
    environment_["ROOFLAB_NVCC"] = toolkit / "bin/nvcc";
  }
};

TEST_F(DoctorTest, ShowsWhatTheOpeningOfAGpuProved) {
  EXPECT_THAT(
      run({"doctor"}).out,
      AllOf(HasSubstr("ok   device     cuda:0  NVIDIA A100-PCIE-40GB\n"),
            HasSubstr("supports CUDA 13.0, and the toolkit is 13.0\n"),
            HasSubstr("ok              cuda:0  specification: a100.toml\n"),
            HasSubstr("ok              cuda:0  kernel: 1024 results of machine code are right\n")));
}

TEST_F(DoctorTest, ShowsWhichStepFailedAndTheRemedy) {
  write("toolkit/lib64/ROOFLAB_FAKE_CUDA_FAILS", "cudaLibraryLoadData=209");
  EXPECT_THAT(
      run({"doctor"}).out,
      AllOf(HasSubstr("--   device     cuda:0  the guest process cannot use the GPU: "
                      "cudaLibraryLoadData: cudaErrorNoKernelImageForDevice; add the GPU's"),
            HasSubstr("ok              cuda:0  shared memory: opened by the guest\n"),
            HasSubstr("--              cuda:0  kernel: the guest process cannot use the GPU: "
                      "cudaLibraryLoadData: cudaErrorNoKernelImageForDevice; add the GPU's"),
            Not(HasSubstr("cuda:0  events"))));
}

/// Wherever gradings of all users keep it.
std::vector<Descriptor> lock_the_gpu() {
  std::vector<Descriptor> locks;
  for (const char* folder : {"/run/lock", "/tmp"}) {
    const std::string file = std::string(folder) + "/rooflab-gpu-0000:65:00.0.lock";
    Descriptor lock(open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0444));
    if (lock.valid() && flock(lock.get(), LOCK_EX) == 0) locks.push_back(std::move(lock));
  }
  return locks;
}

TEST_F(DoctorTest, SaysThatItWaitsForAGrading) {
  auto locks = lock_the_gpu();
  const pid_t doctor = start({ROOFLAB_BINARY_DIR "/bin/grader", "doctor"});
  ASSERT_GT(doctor, 0);
  std::string said;
  for (int i = 0; i < 500 && said.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    said = read_file(folder_.path() / "stderr");
  }
  locks.clear();
  EXPECT_EQ(said, "grader: waiting for GPU 0000:65:00.0, which another grading uses\n");
  int status = 0;
  EXPECT_EQ(waitpid(doctor, &status, 0), doctor);
}

TEST_F(DoctorTest, AutoSaysInALineThatStaysWhyTheGpuIsNotUsed) {
  write("toolkit/lib64/ROOFLAB_FAKE_CUDA_FAILS", "cudaMemPoolCreate=801");
  EXPECT_THAT(run({"--part", "7", "--device", "auto"}).error,
              HasSubstr("grader: no usable GPU (cudaMemPoolCreate failed with "
                        "cudaErrorNotSupported; use NVIDIA's driver for Linux, 580 or later, on a "
                        "GPU that is not a virtual one, or use --device sim): simulating one\n"));
}

}  // namespace
}  // namespace rooflab
