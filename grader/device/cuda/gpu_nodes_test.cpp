#include "grader/device/cuda/gpu_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "grader/device/device.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A machine with two GPUs: 0000:3b:00.0 is /dev/nvidia1, 0000:5e:00.0 is /dev/nvidia0.
class GpuNodesTest : public testing::Test {
 protected:
  GpuNodesTest() {
    for (const char* node :
         {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia0", "nvidia1", "nvidia-modeset",
          "nvidia-nvswitch0", "nvidia-nvswitchctl", "nvidia-caps/nvidia-cap1",
          "nvidia-caps/nvidia-cap2", "nvidia-caps/nvidia-cap21", "nvidia-caps/nvidia-cap22",
          "nvidia-caps/nvidia-cap30", "dri/card0"}) {
      write_file_atomically(system_.dev / node, "");
    }
    const fs::path driver = system_.proc / "driver";
    write_file_atomically(driver / "nvidia/gpus/0000:3b:00.0/information",
                          "Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ:   \t\t 36\n"
                          "Bus Location: \t 0000:3b:00.0\nDevice Minor: \t 1\n");
    write_file_atomically(driver / "nvidia/gpus/0000:5e:00.0/information", "Device Minor: \t 0\n");
    write_file_atomically(driver / "nvidia-caps/mig-minors",
                          "config 1\nmonitor 2\ngpu0/gi2/access 30\ngpu1/gi2/access 21\n"
                          "gpu1/gi2/ci0/access 22\ngpu1/gi2/ci1/access 23\n");
  }

  /// Names below /dev.
  std::vector<std::string> nodes(const NvmlNumbers& nvml = {}) const {
    std::vector<std::string> names;
    for (const fs::path& path : nodes_of(question_, nvml, system_).paths) {
      names.push_back(path.lexically_relative(system_.dev));
    }
    return names;
  }
  std::string refusal(const NvmlNumbers& nvml = {}) const {
    try {
      nodes_of(question_, nvml, system_);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_{fs::temp_directory_path()};
  SystemFolders system_ = {folder_.path() / "dev", folder_.path() / "proc"};
  NodeQuestion question_ = {.gpu = "cuda:0", .pci_address = "0000:3B:00.0", .uuid = "GPU-8c4d1f20"};
};

TEST_F(GpuNodesTest, AreThoseOfOneGpuAndOfNoOther) {
  EXPECT_THAT(nodes(), ElementsAre("nvidiactl", "nvidia-uvm", "nvidia1"));
  question_.pci_address = "0000:5e:00.0";
  EXPECT_THAT(nodes(), ElementsAre("nvidiactl", "nvidia-uvm", "nvidia0"));
  EXPECT_EQ(nodes_of(question_, {}, system_).missing, "");
}

TEST_F(GpuNodesTest, HaveWhatProfilersNeedForThem) {
  question_.for_profilers = true;
  EXPECT_THAT(nodes(), ElementsAre("nvidiactl", "nvidia-uvm", "nvidia1", "nvidia-uvm-tools"));
}

TEST_F(GpuNodesTest, GoByNvmlWhereProcSaysNothing) {
  fs::remove_all(system_.proc / "driver/nvidia");
  EXPECT_THAT(nodes({.minor = 1, .gpu_instance = {}, .compute_instance = {}}),
              ElementsAre("nvidiactl", "nvidia-uvm", "nvidia1"));
}

TEST_F(GpuNodesTest, AreNotGuessedAmongSeveral) {
  fs::remove_all(system_.proc / "driver/nvidia");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cannot tell which of the 2 nodes /dev/nvidia<number> is "
                                         "that of cuda:0 at 0000:3B:00.0"),
                               HasSubstr("; let the grader see /proc/driver/nvidia or")));
  fs::remove(system_.dev / "nvidia0");
  EXPECT_THAT(nodes(), ElementsAre("nvidiactl", "nvidia-uvm", "nvidia1")) << "the only one";
}

TEST_F(GpuNodesTest, SayWhichIsMissing) {
  fs::remove(system_.dev / "nvidia1");
  EXPECT_EQ(nodes_of(question_, {}, system_).missing, "/dev/nvidia1");
  fs::remove_all(system_.dev);
  EXPECT_EQ(nodes_of(question_, {}, system_).missing, "/dev/nvidiactl");
  EXPECT_THAT(nodes(), IsEmpty());
}

/// A slice of the GPU: instance 2 and in it instance 0.
class SliceNodesTest : public GpuNodesTest {
 protected:
  SliceNodesTest() { question_.uuid = "MIG-8c4d1f20"; }
  const NvmlNumbers second_ = {.minor = 1, .gpu_instance = 2, .compute_instance = 0};
};

TEST_F(SliceNodesTest, AreItsGpusAndItsOwnTwoCapabilities) {
  EXPECT_THAT(nodes(second_), ElementsAre("nvidiactl", "nvidia-uvm", "nvidia1",
                                          "nvidia-caps/nvidia-cap21", "nvidia-caps/nvidia-cap22"));
}

TEST_F(SliceNodesTest, AreRefusedWhereACapabilityHasNoNode) {
  fs::remove(system_.dev / "nvidia-caps/nvidia-cap22");
  EXPECT_THAT(refusal(second_),
              AllOf(HasSubstr("no node in /dev/nvidia-caps for its capability gpu1/gi2/ci0/access"),
                    HasSubstr("; run `nvidia-modprobe -f "
                              "/proc/driver/nvidia/capabilities/gpu1/mig/gi2/ci0/access`")));
}

TEST_F(SliceNodesTest, AreRefusedWhereNobodySaysWhichSliceItIs) {
  EXPECT_THAT(refusal(), HasSubstr("NVML does not say which; install libnvidia-ml.so.1"));
}

TEST_F(SliceNodesTest, NvmlSaysWhichSliceItIs) {
  const auto library = fs::path(ROOFLAB_BINARY_DIR) / "tests/fake_cuda/libnvidia-ml.so.1";
  question_.pci_address = "0000:65:00.0";
  const NvmlNumbers numbers = numbers_by_nvml(library, question_);
  EXPECT_EQ(numbers.minor, 3U);
  EXPECT_EQ(numbers.gpu_instance, 2U);
  EXPECT_EQ(numbers.compute_instance, 0U);
  EXPECT_FALSE(numbers_by_nvml("/no/such/library", question_).minor);
}

}  // namespace
}  // namespace rooflab
