#include "grader/author/kit_update.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "grader/author/runtime_packages.h"
#include "grader/spec/files.h"

/// A kit unpacked over an older one, as tar does it: over what the archive has, and nothing else.
namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class KitUpdateTest : public testing::Test {
 protected:
  using Files = std::map<std::string, std::string>;

  KitUpdateTest() : folder_(testing::TempDir()) {}

  fs::path kit() const { return folder_.path() / "ki\\t"; }  // sha256sum escapes such names
  void write(const std::string& path, const std::string& text) const {
    write_file_atomically(kit() / path, text);
  }
  std::string read(const std::string& path) const {
    return fs::exists(kit() / path) ? read_file(kit() / path) : "none";
  }

  std::string sums_of(const Files& files) const {
    std::string text;
    for (const auto& [path, contents] : files) {
      const fs::path scratch = folder_.path() / "scratch";
      write_file_atomically(scratch, contents);
      text += run_tool({"sha256sum", scratch.string()}).substr(0, 64) + "  " + path + "\n";
    }
    return text;
  }

  /// Unpacks a kit of these originals and other files.
  void unpack(const Files& starter, const std::string& version, Files others = {}) const {
    for (const auto& [path, text] : starter) others["originals/starter/" + path] = text;
    others["VERSION"] = "Rooflab\ncourse    C, version " + version + "\n";
    for (const auto& [path, text] : others) write(path, text);
    write("SHA256SUMS", sums_of(others));
  }
  /// A kit as version 0.1.0 made them.
  void unpack_old(const Files& starter) const {
    Files files;
    for (const auto& [path, text] : starter) files["starter/" + path] = text;
    for (const auto& [path, text] : files) write(path, text);
    write("MANIFEST", sums_of(files));
  }

  KitUpdate update() const { return update_kit(kit()).value(); }

  TemporaryFolder folder_;
};

TEST_F(KitUpdateTest, FirstOneMakesTheStarterAndTheNextOneDoesNothing) {
  unpack({{"p/a.cu", "a1"}, {"p/b.cu", "b1"}}, "1");
  EXPECT_TRUE(is_kit_outdated(kit()));
  const KitUpdate first = update();
  EXPECT_TRUE(first.first);
  EXPECT_THAT(describe(first), ElementsAre("made starter/ for you to edit, 2 files"));
  EXPECT_EQ(read("starter/p/a.cu"), "a1");
  EXPECT_FALSE(is_kit_outdated(kit()));
  EXPECT_THAT(describe(update()), IsEmpty());
}

TEST_F(KitUpdateTest, ReplacesWhatNobodyChangedAndKeepsWhatTheStudentDid) {
  unpack({{"p/a.cu", "a1"}, {"p/b.cu", "b1"}, {"p/same.cu", "same"}}, "1");
  update();
  write("starter/p/a.cu", "mine");
  write("starter/p/same.cu", "mine too");
  write("starter/p/notes.txt", "my own");
  unpack({{"p/a.cu", "a2"}, {"p/b.cu", "b2"}, {"p/c.cu", "c2"}, {"p/same.cu", "same"}}, "2");
  EXPECT_EQ(read("starter/p/a.cu"), "mine") << "by unpacking alone";
  const KitUpdate second = update();
  EXPECT_EQ(read("starter/p/a.cu"), "mine");
  EXPECT_EQ(read("starter/p/a.cu.new"), "a2");
  EXPECT_EQ(read("starter/p/b.cu"), "b2");
  EXPECT_EQ(read("starter/p/c.cu"), "c2");
  EXPECT_EQ(read("starter/p/same.cu"), "mine too");
  EXPECT_EQ(read("starter/p/same.cu.new"), "none") << "the course has not changed it";
  EXPECT_EQ(read("starter/p/notes.txt"), "my own");
  EXPECT_THAT(describe(second), ElementsAre("the course is now C, version 2 (it was C, version 1)",
                                            "new: starter/p/c.cu",
                                            "updated, you had not changed them: starter/p/b.cu",
                                            HasSubstr("kept yours: starter/p/a.cu")));
}

TEST_F(KitUpdateTest, TwoInARowReplaceOnlyWhatTheyWroteThemselves) {
  unpack({{"a.cu", "a1"}, {"b.cu", "b1"}}, "1");
  update();
  write("starter/a.cu", "mine");
  unpack({{"a.cu", "a2"}, {"b.cu", "b2"}}, "2");
  unpack({{"a.cu", "a3"}, {"b.cu", "b3"}}, "3");  // nobody has run anything in between
  update();
  EXPECT_EQ(read("starter/b.cu"), "b3");
  EXPECT_EQ(read("starter/a.cu.new"), "a3");
  unpack({{"a.cu", "a4"}, {"b.cu", "b4"}}, "4");
  update();
  EXPECT_EQ(read("starter/a.cu.new"), "a4") << "a3 was ours";
  write("starter/a.cu.new", "a4 with my changes");
  unpack({{"a.cu", "a5"}, {"b.cu", "b5"}}, "5");
  EXPECT_THAT(update().kept.at(0).beside, "starter/a.cu.new2");
  EXPECT_EQ(read("starter/a.cu"), "mine");
  EXPECT_EQ(read("starter/a.cu.new"), "a4 with my changes");
}

TEST_F(KitUpdateTest, AFileThatIsTakenOverFromTheCourseIsUpdatedAgain) {
  unpack({{"a.cu", "a1"}}, "1");
  update();
  write("starter/a.cu", "mine");
  unpack({{"a.cu", "a2"}}, "2");
  update();
  fs::rename(kit() / "starter/a.cu.new", kit() / "starter/a.cu");
  unpack({{"a.cu", "a3"}}, "3");
  EXPECT_THAT(update().updated, ElementsAre("starter/a.cu"));
  EXPECT_EQ(read("starter/a.cu"), "a3");
}

TEST_F(KitUpdateTest, KnowsWhatAKitOfVersion010HandedOut) {
  unpack_old({{"a.cu", "a1"}, {"b.cu", "b1"}, {"gone.cu", "old"}});
  write("starter/a.cu", "mine");
  unpack({{"a.cu", "a2"}, {"b.cu", "b2"}}, "2");
  const KitUpdate done = update();
  EXPECT_EQ(read("starter/a.cu"), "mine");
  EXPECT_EQ(read("starter/a.cu.new"), "a2");
  EXPECT_EQ(read("starter/b.cu"), "b2");
  EXPECT_EQ(read("starter/gone.cu"), "old");
  EXPECT_THAT(done.dropped, ElementsAre("starter/gone.cu"));
  EXPECT_EQ(read("MANIFEST"), "none") << "it fits no kit any more";
}

TEST_F(KitUpdateTest, WithoutAnyRecordEveryDifferenceIsTheStudents) {
  write("starter/a.cu", "from another machine");
  write("starter/b.cu", "b1");
  unpack({{"a.cu", "a1"}, {"b.cu", "b1"}}, "1");
  EXPECT_THAT(update().foreign, ElementsAre("starter/a.cu"));
  EXPECT_EQ(read("starter/a.cu"), "from another machine");
  EXPECT_EQ(read("starter/a.cu.new"), "none");
}

TEST_F(KitUpdateTest, LinksAndProtectedFilesStay) {
  unpack({{"a.cu", "a1"}, {"b.cu", "b1"}}, "1");
  update();
  write("elsewhere.cu", "a1");
  fs::remove(kit() / "starter/a.cu");
  fs::create_symlink("../elsewhere.cu", kit() / "starter/a.cu");
  fs::permissions(kit() / "starter/b.cu", fs::perms::owner_read);
  unpack({{"a.cu", "a2"}, {"b.cu", "b2"}}, "2");
  update();
  EXPECT_TRUE(fs::is_symlink(kit() / "starter/a.cu"));
  EXPECT_EQ(read("elsewhere.cu"), "a1");
  EXPECT_EQ(read("starter/b.cu"), "b1");
  EXPECT_EQ(read("starter/a.cu.new"), "a2");
  EXPECT_EQ(read("starter/b.cu.new"), "b2");
}

TEST_F(KitUpdateTest, OneThatWasInterruptedIsDoneByTheNext) {
  unpack({{"a.cu", "a1"}, {"b.cu", "b1"}}, "1");
  update();
  unpack({{"a.cu", "a2"}, {"b.cu", "b2"}}, "2");
  write("starter/a.cu", "a2");  // so far it had come
  EXPECT_TRUE(is_kit_outdated(kit()));
  EXPECT_THAT(update().updated, ElementsAre("starter/b.cu"));
}

TEST_F(KitUpdateTest, HalfAKitChangesNothing) {
  unpack({{"a.cu", "a1"}}, "1");
  update();
  unpack({{"a.cu", "a2"}, {"b.cu", "b2"}}, "2");
  fs::remove(kit() / "originals/starter/b.cu");
  EXPECT_THROW(update(), FileError);
  EXPECT_EQ(read("starter/a.cu"), "a1");
}

TEST_F(KitUpdateTest, WhatCannotBeWrittenIsToldAndTriedAgain) {
  unpack({{"a.cu", "a1"}, {"p/b.cu", "b1"}}, "1");
  write("starter/p", "a file of that name");
  EXPECT_THAT(update().failed, ElementsAre(HasSubstr("starter/p")));
  EXPECT_EQ(read("starter/a.cu"), "a1");
  EXPECT_EQ(read("starter/p"), "a file of that name");
  fs::remove(kit() / "starter/p");
  EXPECT_TRUE(is_kit_outdated(kit()));
  EXPECT_THAT(update().created, ElementsAre("starter/p/b.cu"));
  EXPECT_FALSE(is_kit_outdated(kit()));
}

TEST_F(KitUpdateTest, AFileThatTheCourseTakesOutStaysWithTheStudentAndLeavesTheKit) {
  unpack({{"a.cu", "a1"}, {"b.cu", "b1"}}, "1",
         {{"labs/part2/part.toml", "number = 2"}, {"handouts/one.md", "one"}});
  update();
  fs::remove_all(kit() / "nothing");
  unpack({{"a.cu", "a1"}}, "2", {{"handouts/one.md", "two"}});
  const KitUpdate done = update();
  EXPECT_EQ(read("starter/b.cu"), "b1");
  EXPECT_THAT(done.dropped, ElementsAre("starter/b.cu"));
  EXPECT_EQ(read("labs/part2/part.toml"), "none");
  EXPECT_EQ(read("originals/starter/b.cu"), "none");
  EXPECT_THAT(done.changed, ElementsAre("handouts/one.md"));
}

TEST_F(KitUpdateTest, ListsThatLeadOutOfTheKitAreNotFollowed) {
  write_file_atomically(folder_.path() / "outside", "precious");
  unpack({{"a.cu", "a1"}}, "1");
  update();
  const std::string sum =
      run_tool({"sha256sum", (folder_.path() / "outside").string()}).substr(0, 64);
  write(".kit/installed", sum + "  ../outside\n" + sum + "  originals/../outside\n");
  update();
  EXPECT_EQ(read_file(folder_.path() / "outside"), "precious");
}

TEST_F(KitUpdateTest, ACheckoutIsNoKit) {
  write("starter/a.cu", "a");
  EXPECT_FALSE(is_kit_outdated(kit()));
  EXPECT_FALSE(update_kit(kit()).has_value());
}

TEST_F(KitUpdateTest, AFolderWhoseEntriesLeadIntoAKitIsBroughtUpToDateAndTheKitStaysAsItIs) {
  unpack({{"a.cu", "first"}}, "1");
  const fs::path own = folder_.path() / "own";
  fs::create_directory(own);
  for (const char* entry : {"originals", "VERSION", "SHA256SUMS"}) {
    fs::create_symlink(kit() / entry, own / entry);
  }
  EXPECT_TRUE(is_kit_outdated(own));
  const auto update = update_kit(own);
  ASSERT_TRUE(update.has_value());
  EXPECT_THAT(update->created, ElementsAre("starter/a.cu"));
  EXPECT_EQ(read_file(own / "starter/a.cu"), "first");
  EXPECT_FALSE(fs::exists(kit() / "starter"));
  EXPECT_FALSE(is_kit_outdated(own));
  EXPECT_THAT(course_of_kit(own), HasSubstr("version 1"));
}

}  // namespace
}  // namespace rooflab
