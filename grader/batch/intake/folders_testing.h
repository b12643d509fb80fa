#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "grader/spec/files.h"

namespace rooflab::testing {

/// A test with a folder of its own, to lay submissions in.
class FolderTest : public ::testing::Test {
 protected:
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path write(const std::string& name, const std::string& contents = "") const {
    const std::filesystem::path file = folder() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << contents;
    return file;
  }

 private:
  TemporaryFolder folder_{::testing::TempDir()};
};

}  // namespace rooflab::testing
