#include "grader/pipeline/shared_kit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "grader/pipeline/installation.h"
#include "grader/spec/files.h"

/// A kit that is installed for all, and folders of two students.
namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SharedKitTest : public testing::Test {
 protected:
  SharedKitTest() : folder_(testing::TempDir()) {
    write_file_atomically(kit() / "build/shared_kit", "");
    write_file_atomically(kit() / "labs/course.toml", "title = \"C\"\n");
    fs::create_directories(ada() / "deeper");
  }

  fs::path kit() const { return folder_.path() / "installed"; }
  fs::path ada() const { return folder_.path() / "ada"; }

  std::string refusal() const {
    try {
      make_own_folder(kit(), ada());
    } catch (const InstallationError& error) {
      return error.what();
    }
    return "none";
  }

  TemporaryFolder folder_;
};

TEST_F(SharedKitTest, IsToldByAFileOfItsPackage) {
  EXPECT_TRUE(is_shared_kit(kit()));
  EXPECT_FALSE(is_shared_kit(ada()));
}

TEST_F(SharedKitTest, AnOwnFolderHasWhatTheKitHas) {
  EXPECT_EQ(find_own_folder(kit(), ada()), fs::path());
  const fs::path own = make_own_folder(kit(), ada());
  EXPECT_EQ(own, ada() / "rooflab");
  EXPECT_EQ(read_file(own / "labs/course.toml"), "title = \"C\"\n");
  EXPECT_TRUE(fs::is_symlink(own / "labs"));
}

TEST_F(SharedKitTest, AnOwnFolderIsFoundFromBesideItInItAndBelowIt) {
  const fs::path own = make_own_folder(kit(), ada());
  fs::create_directories(own / "starter/part0");
  for (const fs::path& here : {ada(), ada() / "deeper", own, own / "starter/part0"}) {
    EXPECT_EQ(find_own_folder(kit(), here), own) << here;
  }
  EXPECT_EQ(find_own_folder(kit(), folder_.path()), fs::path());
}

TEST_F(SharedKitTest, AFolderOfAnotherKitIsNotOneOfThis) {
  const fs::path other = folder_.path() / "other";
  write_file_atomically(other / "build/shared_kit", "");
  make_own_folder(other, ada());
  EXPECT_EQ(find_own_folder(kit(), ada()), fs::path());
}

TEST_F(SharedKitTest, AFolderOfSomebodyElseIsNotTaken) {
  const fs::path own = make_own_folder(kit(), ada());
  if (::lchown(own.c_str(), ::geteuid() + 1, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "only root can give a folder to somebody else";
  }
  EXPECT_EQ(find_own_folder(kit(), ada()), fs::path());
}

TEST_F(SharedKitTest, NothingElseOfThatNameIsTouched) {
  write_file_atomically(ada() / "rooflab/mine", "mine");
  EXPECT_THAT(refusal(),
              HasSubstr("is there and is no folder of yours for this course: move it away"));
  EXPECT_EQ(read_file(ada() / "rooflab/mine"), "mine");
  fs::remove_all(ada() / "rooflab");
  fs::create_symlink("/nowhere", ada() / "rooflab");
  EXPECT_THAT(refusal(), HasSubstr("move it away"));
}

TEST_F(SharedKitTest, AFolderThatCannotBeMadeLeavesNothing) {
  fs::remove_all(ada());
  write_file_atomically(ada(), "a file");
  EXPECT_THAT(refusal(), HasSubstr("start in a folder that you may write to"));
  EXPECT_EQ(read_file(ada()), "a file");
}

TEST_F(SharedKitTest, WhatANewerKitHasIsLinkedAndTheStudentsFilesStay) {
  const fs::path own = make_own_folder(kit(), ada());
  write_file_atomically(own / "starter/a.cu", "mine");
  write_file_atomically(kit() / "handouts/README.md", "read");
  write_file_atomically(kit() / "starter/a.cu", "of the kit");
  link_kit(kit(), own);
  EXPECT_EQ(read_file(own / "handouts/README.md"), "read");
  EXPECT_EQ(read_file(own / "starter/a.cu"), "mine");
}

}  // namespace
}  // namespace rooflab
