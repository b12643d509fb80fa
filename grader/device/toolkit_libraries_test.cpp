#include "grader/device/toolkit_libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "grader/contract/cuda_libraries.h"
#include "grader/sandbox/scratch_directory.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

/// A toolkit as NVIDIA lays it out: lib64 is a link to lib, beside include.
fs::path toolkit_in(const fs::path& folder) {
  fs::create_directories(folder / "toolkit/lib");
  fs::create_directories(folder / "toolkit/include");
  fs::create_directory_symlink("lib", folder / "toolkit/lib64");
  std::ofstream(folder / "toolkit/lib" / cuda_library("nvrtc")) << "a library";
  return folder / "toolkit";
}

TEST(ToolkitLibraries, NvrtcIsFoundThroughLinksAndNamedByItsOwnFolder) {
  const ScratchDirectory scratch = ScratchDirectory::make();
  const fs::path folder = fs::canonical(scratch.path());
  const fs::path toolkit = toolkit_in(folder);
  fs::create_directories(folder / "local");
  fs::create_directory_symlink(toolkit / "lib64", folder / "local/lib64");
  GuestSetup setup;
  add_toolkit_libraries({"nvrtc"}, folder / "local/lib64", setup);
  EXPECT_THAT(setup.library_path, ElementsAre(toolkit / "lib"));
  EXPECT_THAT(setup.read_only, ElementsAre(toolkit / "include"));
  EXPECT_EQ(setup.environment.at("CUDA_HOME"), toolkit.string());
}

TEST(ToolkitLibraries, NvrtcIsFoundWhereDebianHasIt) {
  const ScratchDirectory scratch = ScratchDirectory::make();
  const fs::path usr = fs::canonical(scratch.path()) / "usr";
  const fs::path libraries = usr / "lib/x86_64-linux-gnu";
  fs::create_directories(libraries);
  fs::create_directories(usr / "include");
  std::ofstream(libraries / cuda_library("nvrtc")) << "a library";
  GuestSetup setup;
  add_toolkit_libraries({"nvrtc"}, libraries, setup);
  EXPECT_THAT(setup.library_path, ElementsAre(libraries));
  EXPECT_THAT(setup.read_only, ElementsAre(usr / "include"));
  EXPECT_EQ(setup.environment.at("CUDA_HOME"), usr.string());
}

TEST(ToolkitLibraries, AFolderIsNamedByItselfEvenWhereItIsReachedByALink) {
  const ScratchDirectory scratch = ScratchDirectory::make();
  const fs::path folder = fs::canonical(scratch.path());
  const fs::path toolkit = toolkit_in(folder);
  fs::create_directory_symlink(toolkit, folder / "cuda");
  GuestSetup setup;
  add_library_folder(folder / "cuda/lib64", setup);
  add_library_folder(toolkit / "lib", setup);
  EXPECT_THAT(setup.library_path, ElementsAre(toolkit / "lib"));
}

TEST(ToolkitLibraries, AFolderThatIsNotThereIsLeftToTheSandboxToMiss) {
  GuestSetup setup;
  add_library_folder("/no/such/lib64", setup);
  EXPECT_THAT(setup.library_path, ElementsAre("/no/such/lib64"));
}

TEST(ToolkitLibraries, AFolderStandsOnTheSearchPathOnce) {
  const ScratchDirectory scratch = ScratchDirectory::make();
  const fs::path toolkit = toolkit_in(fs::canonical(scratch.path()));
  GuestSetup setup;
  add_toolkit_libraries({"nvrtc", "nvrtc"}, toolkit / "lib64", setup);
  EXPECT_THAT(setup.library_path, ElementsAre(toolkit / "lib"));
}

}  // namespace
}  // namespace rooflab
