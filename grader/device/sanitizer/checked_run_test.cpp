#include "grader/device/sanitizer/checked_run.h"

#include <gtest/gtest.h>

#include <fstream>

#include "grader/sandbox/scratch_directory.h"

namespace rooflab::sanitizer {
namespace {

namespace fs = std::filesystem;

/// A toolkit in one of the layouts in which NVIDIA delivers it.
class FindSanitizerTest : public testing::Test {
 protected:
  fs::path install_in(const fs::path& root) const {
    const fs::path program = root / "compute-sanitizer" / "compute-sanitizer";
    fs::create_directories(program.parent_path());
    std::ofstream(program) << "a program";
    return program;
  }

  const ScratchDirectory scratch_ = ScratchDirectory::make();
  const fs::path folder_ = fs::canonical(scratch_.path());
};

TEST_F(FindSanitizerTest, IsInTheRootOfAPackageWhoseLibrariesAreBehindALink) {
  const fs::path root = folder_ / "cuda-13.0";
  const fs::path program = install_in(root);
  fs::create_directories(root / "targets/x86_64-linux/lib");
  fs::create_directory_symlink("targets/x86_64-linux/lib", root / "lib64");
  fs::create_directory_symlink("cuda-13.0", folder_ / "cuda");
  EXPECT_EQ(find_sanitizer(root / "lib64"), program);
  EXPECT_EQ(find_sanitizer(folder_ / "cuda/lib64"), program) << "named by itself";
}

TEST_F(FindSanitizerTest, IsBesideTheLibrariesOfTheWheels) {
  const fs::path program = install_in(folder_ / "nvidia/cu13");
  fs::create_directories(folder_ / "nvidia/cu13/lib");
  fs::create_directories(folder_ / ".cuda");
  fs::create_directory_symlink(folder_ / "nvidia/cu13/lib", folder_ / ".cuda/lib64");
  EXPECT_EQ(find_sanitizer(folder_ / ".cuda/lib64"), program);
}

TEST_F(FindSanitizerTest, IsNoneWhereThereIsNone) {
  EXPECT_EQ(find_sanitizer(folder_ / "lib64"), fs::path());
  EXPECT_EQ(find_sanitizer({}), fs::path());
}

}  // namespace
}  // namespace rooflab::sanitizer
