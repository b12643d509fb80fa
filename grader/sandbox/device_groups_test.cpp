#include "grader/sandbox/device_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "grader/sandbox/sandbox.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr gid_t kGroup = 44321;

/// A file in place of a device node, which one group may open and nobody else; with bubblewrap and
/// without.
class DeviceNodeTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root gives programs another user";
    std::ofstream(node_) << "a GPU";
    let(kGroup, 0660);
  }
  ~DeviceNodeTest() override { fs::remove(node_); }
  void let(gid_t group, mode_t mode) const {
    ASSERT_EQ(chown(node_.c_str(), 0, group), 0);
    ASSERT_EQ(chmod(node_.c_str(), mode), 0);
  }
  std::string read_it() const {
    SandboxRequest request;
    request.argv = {"cat", node_};
    request.devices = {node_};
    request.limits.wall_s = 5;
    request.allow_bubblewrap = GetParam();
    return run_sandboxed(request).output;
  }
  const fs::path node_ =
      fs::path(ROOFLAB_BINARY_DIR) / "tests" / ("device-node-" + std::to_string(getpid()));
};

INSTANTIATE_TEST_SUITE_P(Layers, DeviceNodeTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Strongest" : "Fallback"; });

TEST_P(DeviceNodeTest, OpensToItsGroup) {
  EXPECT_THAT(groups_for({node_, node_}), ElementsAre(kGroup));
  EXPECT_EQ(read_it(), "a GPU");
}

TEST_P(DeviceNodeTest, OfEverybodyNeedsNoGroup) {
  let(kGroup, 0666);
  EXPECT_THAT(groups_for({node_}), IsEmpty());
  EXPECT_EQ(read_it(), "a GPU");
}

TEST_P(DeviceNodeTest, IsOnlyReadWhereNobodyWritesIt) {
  let(0, 0444);
  EXPECT_EQ(read_it(), "a GPU");
}

TEST_P(DeviceNodeTest, ThatIsRootsAloneIsToldWithTheRemedy) {
  for (const mode_t mode : {0600, 0660}) {
    let(0, mode);
    try {
      read_it();
      ADD_FAILURE() << "started";
    } catch (const SandboxError& error) {
      EXPECT_THAT(error.what(), HasSubstr("may not open " + node_.string()));
      EXPECT_THAT(error.what(), HasSubstr("NVreg_DeviceFileMode=0666"));
    }
  }
}

}  // namespace
}  // namespace rooflab
