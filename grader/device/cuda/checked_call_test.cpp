// The CUDA device with a stand-in for compute-sanitizer, which tells what its test wants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "grader/device/cuda/cuda_device.h"
#include "grader/device/testing/scaling.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kFindsNothing =
    "echo '========= COMPUTE-SANITIZER'\necho '========= ERROR SUMMARY: 0 errors'";

class CheckedCallTest : public testing::Test {
 protected:
  ~CheckedCallTest() override {
    for (const fs::path& file : guests_memory()) fs::remove(file);
  }

  /// What guests took of the pretended GPU's memory, which nobody gives back when they end.
  std::vector<fs::path> guests_memory() const {
    std::vector<fs::path> files;
    std::ifstream guests(folder_.path() / "compute-sanitizer" / "guests");
    for (std::string guest; std::getline(guests, guest);) {
      for (const auto& entry : fs::directory_iterator("/dev/shm")) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("rooflab-fake-cuda-" + guest + "-")) files.push_back(entry.path());
      }
    }
    return files;
  }
  static std::string contents_of(const Tensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()};
  }

  void write(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_.path() / name, text);
  }

  /// A program that takes compute-sanitizer's words, does `before`, and starts the guest.
  void install(const std::string& before) const {
    write("compute-sanitizer/compute-sanitizer", R"sh(#!/bin/sh
folder=$(dirname "$0")
while [ $# -gt 0 ]; do
  case "$1" in
    --tool) tool=$2; shift 2 ;;
    --*) shift 2 ;;
    *) break ;;
  esac
done
echo "$tool" >> "$folder/asked"
echo $$ >> "$folder/guests"  # the shell becomes the guest
)sh" + before + "\nexec \"$@\"\n");
    fs::permissions(program_, fs::perms::owner_all);
  }
  /// What compute-sanitizer says of its tests' kernels, for one of the tools.
  void finds(const std::string& tool) const {
    const auto text =
        fs::path(ROOFLAB_SOURCE_DIR) / "grader/device/sanitizer/testdata" / (tool + ".txt");
    install(std::string(kFindsNothing) + "\n[ \"$tool\" = " + tool + " ] && cat '" + text.string() +
            "'");
  }

  CudaDevice open() const {
    DeviceOptions options = test_options();
    options.cuda_libraries = fs::path(ROOFLAB_BINARY_DIR) / "tests" / "fake_cuda";
    options.gpu_locks = options.cuda_libraries;
    options.sandbox = false;  // the stand-ins leave files that are looked at afterwards
    options.sanitizer = program_;
    return {0, options};
  }
  CheckedCall check(CudaDevice& device, const std::string& entry = "scale_on_host") const {
    return device.check(request_of(problem_, entry, "libhost_tasks.so", std::chrono::seconds(10)));
  }
  std::string asked() const { return read_file(folder_.path() / "compute-sanitizer" / "asked"); }

  TemporaryFolder folder_{fs::temp_directory_path()};
  fs::path program_ = folder_.path() / "compute-sanitizer" / "compute-sanitizer";
  Problem problem_ = scaling_problem();
};

TEST_F(CheckedCallTest, AsksToolAfterToolUntilOneFindsSomething) {
  finds("racecheck");
  CudaDevice device = open();
  const CheckedCall checked = check(device);
  EXPECT_THAT(checked.unavailable, IsEmpty());
  ASSERT_THAT(checked.findings, SizeIs(3));
  EXPECT_EQ(checked.findings[0].code, simgpu::Code("RL0302"));
  EXPECT_EQ(asked(), "memcheck\nsynccheck\nracecheck\n");
}

TEST_F(CheckedCallTest, LeavesOutWhatInitcheckSaysOfTheGuestsOwnCopies) {
  finds("initcheck");
  CudaDevice device = open();
  EXPECT_THAT(check(device).findings, SizeIs(2));  // of three: one is a copy of the host
}

TEST_F(CheckedCallTest, FindsNothingInACallThatIsRight) {
  install(kFindsNothing);
  CudaDevice device = open();
  const CheckedCall checked = check(device);
  EXPECT_THAT(checked.findings, IsEmpty());
  EXPECT_THAT(checked.unavailable, IsEmpty());
  EXPECT_EQ(asked(), "memcheck\nsynccheck\nracecheck\ninitcheck\n");
}

TEST_F(CheckedCallTest, GivesTheGuestExactTensorsOfItsOwn) {
  install(kFindsNothing);
  CudaDevice device = open();
  check(device);
  ASSERT_THAT(guests_memory(), SizeIs(8)) << "of x and y, under four tools";
  const std::string x = contents_of(problem_.tensors[0]);
  const auto holds_x = [&](const fs::path& file) { return read_file(file) == x; };
  for (const fs::path& file : guests_memory()) EXPECT_EQ(fs::file_size(file), x.size()) << file;
  EXPECT_EQ(std::ranges::count_if(guests_memory(), holds_x), 4);
}

TEST_F(CheckedCallTest, SaysOnceThatThereIsNone) {
  program_.clear();
  CudaDevice device = open();
  EXPECT_THAT(check(device).unavailable, HasSubstr("has no compute-sanitizer"));
  EXPECT_THAT(check(device).unavailable, IsEmpty());
}

TEST_F(CheckedCallTest, SaysOnceThatItDoesNotWork) {
  install("echo 'Error: Unsupported platform'; exit 1");
  CudaDevice device = open();
  EXPECT_EQ(check(device).unavailable,
            "compute-sanitizer does not work here: it says: Error: Unsupported platform");
  EXPECT_THAT(check(device).unavailable, IsEmpty());
  EXPECT_EQ(asked(), "memcheck\n");
}

TEST_F(CheckedCallTest, SaysThatItSawNothingOfTheCall) {
  install(
      "echo '========= COMPUTE-SANITIZER'\n"
      "echo '========= Target application terminated before first instrumented API call'");
  CudaDevice device = open();
  EXPECT_EQ(check(device).unavailable,
            "compute-sanitizer does not work here: it says: Target application terminated before "
            "first instrumented API call");
}

TEST_F(CheckedCallTest, TakesNoErrorsForNothingWhereTheGuestNeverStarted) {
  install(std::string(kFindsNothing) + "\nexit 0");
  CudaDevice device = open();
  EXPECT_EQ(check(device).unavailable,
            "compute-sanitizer does not work here: the guest process never answered under "
            "memcheck, and it says: ERROR SUMMARY: 0 errors");
  EXPECT_EQ(asked(), "memcheck\n");
}

TEST_F(CheckedCallTest, SaysThatACallWithoutAnAnswerWasNotSeenToItsEnd) {
  install(kFindsNothing);
  CudaDevice device = open();
  const CheckedCall checked = check(device, "crashes");
  EXPECT_THAT(checked.findings, IsEmpty());
  EXPECT_THAT(checked.unavailable, IsEmpty());
  EXPECT_EQ(checked.incomplete, "the call ended without an answer under memcheck");
}

TEST_F(CheckedCallTest, SaysWhenTheGuestCannotOpenItsMemoryUnderIt) {
  install(kFindsNothing);
  CudaDevice device = open();
  setenv("ROOFLAB_FAKE_CUDA_SHARES_NOTHING", "1", 1);
  EXPECT_THAT(check(device).unavailable, HasSubstr("the guest process cannot use the GPU: cuda"));
  unsetenv("ROOFLAB_FAKE_CUDA_SHARES_NOTHING");
  EXPECT_EQ(asked(), "memcheck\n");
}

TEST_F(CheckedCallTest, SurvivesAGuestThatDiesUnderIt) {
  finds("memcheck");
  CudaDevice device = open();
  EXPECT_THAT(check(device, "crashes").findings, SizeIs(7));
}

TEST_F(CheckedCallTest, GivesUpOnACallThatDoesNotEnd) {
  install(kFindsNothing);
  CudaDevice device = open();
  const CheckedCall checked =
      device.check(request_of(problem_, "hangs", "libhost_tasks.so", std::chrono::seconds(1)));
  EXPECT_THAT(checked.findings, IsEmpty());
  EXPECT_THAT(checked.unavailable, IsEmpty());
  EXPECT_EQ(checked.incomplete, "memcheck took longer than 1 s");
  EXPECT_EQ(asked(), "memcheck\n");
  EXPECT_THAT(check(device).incomplete, IsEmpty()) << "of another call it can tell";
}

TEST_F(CheckedCallTest, LeavesACallThatProfilesItselfAlone) {
  install(kFindsNothing);
  CudaDevice device = open();
  RunRequest request =
      request_of(problem_, "scale_on_host", "libhost_tasks.so", std::chrono::seconds(10));
  request.libraries = {"cupti"};
  EXPECT_THAT(device.check(request).incomplete, HasSubstr("profiles itself with CUPTI"));
  EXPECT_FALSE(fs::exists(folder_.path() / "compute-sanitizer" / "asked"));
  check(device);
  EXPECT_THAT(asked(), HasSubstr("memcheck")) << "other calls are watched as before";
}

}  // namespace
}  // namespace rooflab
