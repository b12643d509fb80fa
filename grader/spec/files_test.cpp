#include "grader/spec/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace rooflab {
namespace {

using State = SubmittedFile::State;

class FilesTest : public testing::Test {
 protected:
  FilesTest() : folder_(testing::TempDir()) {}
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }
  TemporaryFolder folder_;
};

TEST_F(FilesTest, WritingReplacesAFileWholeAndMakesItsFolders) {
  write_file_atomically(path("a/b/report.html"), "one");
  write_file_atomically(path("a/b/report.html"), "two");
  EXPECT_EQ(read_file(path("a/b/report.html")), "two");
}

TEST_F(FilesTest, FailedWriteLeavesNothingBehind) {
  std::filesystem::create_directory(path("taken"));
  EXPECT_THROW(write_file_atomically(path("taken"), "text"), FileError);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FilesTest, FullDiskIsSaidWithWhatToDo) {
  try {
    write_file_atomically("/dev/full", "text");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(),
                 "cannot write /dev/full: No space left on device; free some space or name a file "
                 "on another disk");
  }
}

TEST_F(FilesTest, DeviceIsWrittenToAndStaysADevice) {
  write_file_atomically("/dev/null", "text");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(FilesTest, SubmittedFileIsReadWhenItIsAPlainFile) {
  std::ofstream(path("a.cu")) << "int x;";
  const SubmittedFile file = read_submitted(folder_.path(), "a.cu");
  EXPECT_EQ(file.state, State::present);
  EXPECT_EQ(file.text, "int x;");
  EXPECT_EQ(read_submitted(folder_.path(), "b.cu").state, State::missing);
}

TEST_F(FilesTest, WhateverElseASubmissionHoldsIsRefusedWithoutWaiting) {
  std::filesystem::create_symlink("/etc/passwd", path("link.cu"));
  ASSERT_EQ(::mkfifo(path("pipe.cu").c_str(), 0600), 0);
  std::filesystem::create_directory(path("folder.cu"));
  std::ofstream(path("large.cu")) << std::string((1 << 20) + 1, ' ');
  std::ofstream(path("utf16.cu")) << std::string("i\0n\0t\0", 6);
  for (const char* name : {"link.cu", "pipe.cu", "folder.cu", "large.cu", "utf16.cu"}) {
    const SubmittedFile file = read_submitted(folder_.path(), name);
    EXPECT_EQ(file.state, State::refused) << name;
    EXPECT_TRUE(file.text.empty()) << name;
    EXPECT_FALSE(file.reason.empty()) << name;
  }
}

TEST(TemporaryFolderTest, GoesWithItsContents) {
  std::filesystem::path path;
  {
    const TemporaryFolder folder(testing::TempDir());
    path = folder.path();
    std::ofstream(path / "file") << "text";
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace rooflab
