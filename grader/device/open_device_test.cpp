#include "grader/device/open_device.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

DeviceOptions options() {
  DeviceOptions result;
  result.gpu_specs = std::filesystem::path(ROOFLAB_SOURCE_DIR) / "specs" / "gpus";
  // Programs only have to be there to open a device; running is tested elsewhere.
  result.simgpu_device = "/bin/sh";
  result.guest_program = "/bin/sh";
  result.gpus = {"a100", "t4"};
  return result;
}

std::string refusal_of(const std::string& selector, const DeviceOptions& with = options()) {
  try {
    open_device(selector, with);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "opened";
}

bool has_driver() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver != nullptr) {
    dlclose(driver);
  }
  return driver != nullptr;
}

TEST(OpenDeviceTest, OpensASimulatedGpuByName) {
  const auto device = open_device("sim:a100", options());
  EXPECT_EQ(device->id(), "sim:a100");
  EXPECT_EQ(device->name(), "simulated A100 40 GB PCIe");
  EXPECT_EQ(device->time_kind(), "modelled");
  EXPECT_EQ(device->gpu().sm_count, 108);
  EXPECT_EQ(open_device("sim", options())->id(), "sim:a100");
}

TEST(OpenDeviceTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal_of("sim:a1000"), HasSubstr("a100"));
  EXPECT_THAT(refusal_of("sim:"), HasSubstr("--device sim:a100"));
  EXPECT_THAT(refusal_of("sim:../../etc/passwd"), Not(HasSubstr("opened")));
  EXPECT_THAT(refusal_of("gpu"), AllOf(HasSubstr("\"gpu\""), HasSubstr("sim:a100")));
  EXPECT_THAT(refusal_of(""), HasSubstr("no device"));
  EXPECT_THAT(refusal_of("cuda:first"), HasSubstr("\"first\""));
  EXPECT_THAT(refusal_of("cuda:-1"), HasSubstr("\"-1\""));
}

TEST(OpenDeviceTest, WhatIsSimulatedWithoutANameIsTheCoursesFirst) {
  DeviceOptions with = options();
  with.gpus = {"t4", "a100"};
  EXPECT_EQ(open_device("sim", with)->id(), "sim:t4");
  with.gpus.clear();
  EXPECT_EQ(open_device("sim", with)->id(), "sim:" + gpu_spec::list(with.gpu_specs).front());
}

TEST(OpenDeviceTest, AGpuThatTheCourseDoesNotListIsRefusedWhereOnlyItsOwnCount) {
  DeviceOptions with = options();
  EXPECT_EQ(open_device("sim:h200", with)->id(), "sim:h200");
  with.only_those = true;
  EXPECT_EQ(refusal_of("sim:h200", with),
            "this course is not graded on h200: labs/course.toml lists a100, t4; use --device "
            "sim:a100, or add h200 to `gpus` there");
  EXPECT_EQ(open_device("sim:t4", with)->id(), "sim:t4");
}

TEST(OpenDeviceTest, NamesTheProgramThatIsMissing) {
  DeviceOptions with = options();
  with.guest_program = "/no/such/rooflab-guest";
  EXPECT_THAT(refusal_of("sim", with),
              AllOf(HasSubstr("/no/such/rooflab-guest"), HasSubstr("build")));
}

TEST(OpenDeviceTest, SaysWhyThereIsNoRealGpu) {
  if (has_driver()) {
    GTEST_SKIP() << "this machine has an NVIDIA driver";
  }
  EXPECT_EQ(refusal_of("cuda:0"), "no NVIDIA driver: libcuda.so.1 not found; use --device sim");
}

TEST(OpenDeviceTest, AutoFallsBackToASimulatedGpuAndSaysSo) {
  if (has_driver()) {
    GTEST_SKIP() << "this machine has an NVIDIA driver";
  }
  DeviceOptions with = options();
  std::string said;
  with.progress = [&said](const std::string& line) { said = line; };
  EXPECT_EQ(open_device("auto", with)->id(), "sim:a100");
  EXPECT_THAT(said, HasSubstr("libcuda.so.1 not found"));
}

TEST(ShowsGpuTest, WhereTheKernelHasModulesOrNodesOfOne) {
  for (const char* sign : {"dev/nvidiactl", "dev/dxg", "proc/driver/nvidia/version"}) {
    const TemporaryFolder machine(std::filesystem::temp_directory_path());
    const SystemFolders system = {machine.path() / "dev", machine.path() / "proc"};
    EXPECT_FALSE(shows_gpu(system));
    write_file_atomically(machine.path() / sign, "");
    EXPECT_TRUE(shows_gpu(system)) << sign;
  }
}

TEST(ListDevicesTest, TellsReasonAndRemedyApart) {
  const auto all = list_devices(options());
  ASSERT_FALSE(all.empty());
  const auto simulated = std::find_if(all.begin(), all.end(),
                                      [](const DeviceStatus& s) { return s.id == "sim:a100"; });
  ASSERT_NE(simulated, all.end());
  EXPECT_TRUE(simulated->usable) << simulated->reason;
  if (!has_driver()) {
    EXPECT_EQ(all.front().id, "cuda");
    EXPECT_FALSE(all.front().usable);
    EXPECT_EQ(all.front().reason, "no NVIDIA driver: libcuda.so.1 not found");
    EXPECT_EQ(all.front().remedy, "use --device sim");
  }
}

}  // namespace
}  // namespace rooflab
