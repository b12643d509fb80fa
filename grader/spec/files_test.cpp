#include "grader/spec/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "grader/posix/file_calls_testing.h"

namespace rooflab {
namespace {

using State = SubmittedFile::State;
using testing::HasSubstr;

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

/// What a call complains of; empty when it does not.
template <typename Call>
std::string complaint(const Call& call) {
  try {
    call();
  } catch (const FileError& error) {
    return error.what();
  }
  return {};
}

/// Each way in which a call can fail while a file is written, with its name.
std::vector<std::pair<std::string, std::function<void(FileCalls&, int error, int times)>>>
failures_of_writing() {
  return {
      {"mkostemp", [](FileCalls& calls, int e, int n) { let_fail(calls.mkostemp, e, 0, n); }},
      {"write", [](FileCalls& calls, int e, int n) { let_fail(calls.write, e, 0, n); }},
      {"write, of the rest",
       [](FileCalls& calls, int e, int n) {
         let_write_little(calls, 3);
         let_fail(calls.write, e, 1, n);
       }},
      {"fsync", [](FileCalls& calls, int e, int n) { let_fail(calls.fsync, e, 0, n); }},
      {"fchmod", [](FileCalls& calls, int e, int n) { let_fail(calls.fchmod, e, 0, n); }},
      {"rename", [](FileCalls& calls, int e, int n) { let_fail(calls.rename, e, 0, n); }},
      {"close",
       [](FileCalls& calls, int e, int) {
         calls.close = [e](int file) {  // it is closed all the same
           ::close(file);
           errno = e;
           return -1;
         };
       }},
  };
}

TEST_F(FilesTest, WhateverFailsWhileAFileIsWrittenLeavesTheOldOneAndSaysWhatToDo) {
  write_file_atomically(path("grades.csv"), "old");
  for (const auto& [name, let_it_fail] : failures_of_writing()) {
    for (const int error : {ENOSPC, EDQUOT, EIO, EACCES}) {
      FileCalls calls;
      let_it_fail(calls, error, kAlways);
      std::string said;
      {
        const InstalledFileCalls installed(calls);
        said = complaint([&] { write_file_atomically(path("grades.csv"), "all of the new"); });
      }
      EXPECT_THAT(said, HasSubstr("cannot write " + path("grades.csv").string() + ": " +
                                  std::strerror(error)))
          << name;
      EXPECT_THAT(said, HasSubstr(error == EIO      ? "check the disk"
                                  : error == EACCES ? "check that the folder"
                                                    : "free some space"))
          << name;
      EXPECT_EQ(read_file(path("grades.csv")), "old") << name;
      EXPECT_EQ(entries(), 1U) << name << " left something behind";
    }
  }
}

TEST_F(FilesTest, SignalsCostNothing) {
  for (const auto& [name, let_it_fail] : failures_of_writing()) {
    FileCalls calls;
    let_it_fail(calls, EINTR, 2);
    let_fail(calls.open, EINTR, 0, 2);
    let_fail(calls.read, EINTR, 0, 2);
    const InstalledFileCalls installed(calls);
    EXPECT_EQ(complaint([&] { write_file_atomically(path("a/report.html"), name); }), "") << name;
    EXPECT_EQ(read_file(path("a/report.html")), name);
    EXPECT_EQ(read_submitted(path("a"), "report.html").text, name);
  }
}

TEST_F(FilesTest, WritesThatTakeLittleAtATimeLoseNothing) {
  FileCalls calls;
  let_write_little(calls, 1);
  const InstalledFileCalls installed(calls);
  write_file_atomically(path("report.html"), "every letter of it");
  EXPECT_EQ(read_file(path("report.html")), "every letter of it");
}

TEST_F(FilesTest, ADeviceThatTakesNothingMoreIsFull) {
  FileCalls calls;
  calls.write = [](int, const void*, std::size_t) { return 0; };
  const InstalledFileCalls installed(calls);
  EXPECT_THAT(complaint([&] { write_file_atomically(path("report.html"), "text"); }),
              HasSubstr("free some space"));
  EXPECT_EQ(entries(), 0U);
}

TEST_F(FilesTest, FoldersThatCannotBeMadeAreSaidWithWhatToDo) {
  FileCalls calls;
  let_fail(calls.mkdir, ENOSPC, 1);
  const InstalledFileCalls installed(calls);
  EXPECT_THAT(complaint([&] { write_file_atomically(path("a/b/report.html"), "text"); }),
              HasSubstr("No space left on device; free some space"));
  let_fail(calls.mkdtemp, EROFS);
  EXPECT_THAT(complaint([&] { const TemporaryFolder folder(path(".")); }),
              HasSubstr("Read-only file system; check that the folder"));
}

TEST_F(FilesTest, AFileThatCannotBeReadIsNoEmptyFile) {
  write_file_atomically(path("key"), std::string(100'000, 'k'));
  FileCalls calls;
  let_fail(calls.read, EIO, 1);
  const InstalledFileCalls installed(calls);
  EXPECT_THAT(complaint([&] { read_file(path("key")); }), HasSubstr("Input/output error"));
  EXPECT_EQ(read_submitted(folder_.path(), "key").state, State::unreadable);
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
