#include "grader/pipeline/toolchain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "grader/contract/cuda_libraries.h"
#include "grader/sandbox/scratch_directory.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Folders with an nvcc each, of which nothing works but its --version.
class ToolchainTest : public ::testing::Test {
 protected:
  ~ToolchainTest() override {
    setenv("PATH", path_before_.c_str(), 1);
    unsetenv("ROOFLAB_NVCC");
  }

  fs::path nvcc(const std::string& folder, const std::string& release) const {
    const fs::path file = folder_ / folder / "bin/nvcc";
    fs::create_directories(file.parent_path());
    write_file_atomically(
        file, fmt::format("#!/bin/sh\necho Cuda compilation tools, release {}, V{}.1\n", release,
                          release));
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }

  static void look_in(const std::string& folders, const std::string& before) {
    setenv("PATH", (folders + ":" + before).c_str(), 1);
  }

  std::string refusal() const {
    try {
      return find_toolchain(installation_).release();
    } catch (const InstallationError& error) {
      return error.what();
    }
  }

  const ScratchDirectory scratch_ = ScratchDirectory::make();
  const fs::path folder_ = fs::canonical(scratch_.path());
  const Installation installation_{.root = folder_, .build = folder_, .cache = folder_};
  const std::string path_before_ = getenv("PATH");
  const std::string own_ = fmt::format("{}.7", cuda_major());
};

TEST_F(ToolchainTest, AnNvccOfAnotherCudaThatWasNamedIsRefused) {
  const fs::path other = nvcc("other", "11.8");
  setenv("ROOFLAB_NVCC", other.c_str(), 1);
  EXPECT_EQ(refusal(), fmt::format("ROOFLAB_NVCC names {}, of CUDA 11.8; this build of Rooflab is "
                                   "for CUDA {}: correct or unset it",
                                   other.string(), cuda_major()));
}

TEST_F(ToolchainTest, OneOfAnotherCudaIsPassedOver) {
  const fs::path other = nvcc("other", "11.8"), own = nvcc("own", own_);
  look_in(other.parent_path().string() + ":" + own.parent_path().string(), path_before_);
  const Toolchain found = find_toolchain(installation_);
  EXPECT_EQ(found.nvcc, own);
  EXPECT_EQ(found.root, folder_ / "own");
  EXPECT_EQ(found.release(), own_);
}

TEST_F(ToolchainTest, LibrariesAreInLib64OrWhereDebianHasThem) {
  const fs::path own = nvcc("own", own_);
  setenv("ROOFLAB_NVCC", own.c_str(), 1);
  const Toolchain toolchain = find_toolchain(installation_);
  EXPECT_EQ(toolchain.libraries(), folder_ / "own/lib64");
  for (const char* folder : {"x86_64-linux-gnu", "aarch64-linux-gnu"}) {
    fs::create_directories(folder_ / "own/lib" / folder);
    write_file_atomically(folder_ / "own/lib" / folder / cuda_library("cudart"), "a library");
  }
  EXPECT_EQ(toolchain.libraries().parent_path(), folder_ / "own/lib");
}

TEST_F(ToolchainTest, OneThatDoesNotSayItsVersionIsTaken) {
  const fs::path silent = nvcc("silent", "of its own");
  setenv("ROOFLAB_NVCC", silent.c_str(), 1);
  EXPECT_EQ(refusal(), "unknown");
}

}  // namespace
}  // namespace rooflab
