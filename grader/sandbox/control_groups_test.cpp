#include "grader/sandbox/control_groups.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBytes = 64 << 20;
constexpr std::uint64_t kProcesses = 16;

/// The directories of what make() has made.
std::vector<fs::path> directories_of(const ControlGroups& groups) {
  std::vector<fs::path> directories;
  for (const int descriptor : groups.join_descriptors()) {
    directories.push_back(
        fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor)).parent_path());
  }
  return directories;
}

TEST(ControlGroupsTest, AreMadeWhereAKilledProcessOfOurNumberHasLeftItsOwn) {
  const auto groups = ControlGroups::make(kBytes, kProcesses);
  if (!groups) GTEST_SKIP() << "control groups are absent, or not ours to write";
  const std::vector<fs::path> directories = directories_of(*groups);
  const std::string name = directories.back().filename();
  const std::size_t dash = name.rfind('-');
  const int last = std::stoi(name.substr(dash + 1));
  std::vector<fs::path> left;
  for (const fs::path& directory : directories) {
    for (int next = last + 1; next <= last + 8; ++next) {
      left.push_back(directory.parent_path() / (name.substr(0, dash + 1) + std::to_string(next)));
      ASSERT_TRUE(fs::create_directory(left.back())) << left.back();
    }
  }
  EXPECT_TRUE(ControlGroups::make(kBytes, kProcesses));
  for (const fs::path& directory : left) rmdir(directory.c_str());
}

TEST(ControlGroupsTest, GoWithTheirObject) {
  std::vector<fs::path> directories;
  {
    const auto groups = ControlGroups::make(kBytes, kProcesses);
    if (!groups) GTEST_SKIP() << "control groups are absent, or not ours to write";
    directories = directories_of(*groups);
    for (const fs::path& directory : directories) EXPECT_TRUE(fs::exists(directory));
  }
  for (const fs::path& directory : directories) EXPECT_FALSE(fs::exists(directory)) << directory;
}

}  // namespace
}  // namespace rooflab
