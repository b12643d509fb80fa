#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "grader/batch/intake/delivery.h"
#include "grader/batch/intake/folders_testing.h"
#include "grader/batch/intake/submission.h"

namespace rooflab {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

class ListSubmissionsTest : public testing::FolderTest {
 protected:
  std::vector<std::string> ids() const {
    std::vector<std::string> ids;
    for (const SubmissionEntry& entry : list_submissions(folder())) ids.push_back(entry.id);
    return ids;
  }
};

TEST_F(ListSubmissionsTest, AreFoldersArchivesAndFiles) {
  write("grace/part1-metrics/gemv.cu");
  write("ada.zip");
  write("bob.cu");
  EXPECT_THAT(ids(), ElementsAre("ada.zip", "bob.cu", "grace"));
}

TEST_F(ListSubmissionsTest, LeaveOutWhatNobodyHandedIn) {
  write(".DS_Store");
  write("__MACOSX/x");
  write("Thumbs.db");
  write("submission_metadata.yml");
  ASSERT_EQ(::mkfifo((folder() / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/etc/passwd", folder() / "link.zip");
  std::filesystem::create_directory_symlink("/", folder() / "root");
  EXPECT_THAT(ids(), IsEmpty());
}

TEST_F(ListSubmissionsTest, OfOneStudentSideBySideAreOneEntry) {
  write("lovelaceada_12345_1_gemv.cu");
  write("lovelaceada_12345_2_roofline.cpp");
  write("hoppergrace_LATE_777_3_archive-1.zip");
  write("Ada Lovelace_99_assignsubmission_file_gemv.cu");
  write("Ada Lovelace_99_assignsubmission_file_roofline.cpp");
  const auto entries = list_submissions(folder());
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].paths.size(), 2U);
  EXPECT_THAT(entries[0].id, MatchesRegex("Ada_Lovelace_99-[0-9a-f]{16}"));
  EXPECT_EQ(entries[1].id, "hoppergrace_777");
  EXPECT_EQ(entries[2].id, "lovelaceada_12345");
  EXPECT_EQ(entries[2].paths.size(), 2U);
}

TEST_F(ListSubmissionsTest, HaveSafeIdsOfTheirOwnWhateverTheirNames) {
  for (const char* name : {"Ada", "ada", "ADA", "a\xFF", "a\xFE", "a_", "-rf", "a b", "a\tb", "<b>",
                           "=1+1", "ada-0123456789abcdef", "\u202Eevil", "lovelaceada_12345"}) {
    write(std::string(name) + "/x");
  }
  write(std::string(200, 'n') + "1/x");
  write(std::string(200, 'n') + "2/x");
  write("lovelaceada_12345_1_gemv.cu");
  const auto found = ids();
  std::set<std::string> lower;
  for (std::string id : found) {
    EXPECT_THAT(id, MatchesRegex("[A-Za-z0-9_][A-Za-z0-9._-]*"));
    EXPECT_LE(id.size(), 64U);
    for (char& letter : id) letter = static_cast<char>(std::tolower(letter));
    EXPECT_TRUE(lower.insert(id).second) << id;
  }
  EXPECT_EQ(found.size(), 17U);
  EXPECT_EQ(ids(), found);
}

TEST_F(ListSubmissionsTest, OfAnExportOfGradescopeAreFoundInItsFolder) {
  write("assignment_1_export/submission_metadata.yml", "---\n");
  write("assignment_1_export/submission_456/gemv.cu");
  write("assignment_1_export/submission_457/gemv.cu");
  EXPECT_THAT(ids(), ElementsAre("submission_456", "submission_457"));
}

TEST_F(ListSubmissionsTest, InNoFolderAreAnError) {
  EXPECT_THROW(list_submissions(folder() / "missing"), FileError);
  EXPECT_THROW(list_submissions(write("file")), FileError);
  try {
    list_submissions(write("class.zip"));
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("class.zip is an archive; unpack it"));
  }
}

TEST(Delivery, ReadsNamesOfCanvas) {
  const Delivery late = delivery_of("lovelaceada_LATE_12345_67890_my_archive-1.zip", false);
  EXPECT_EQ(late.platform, Platform::canvas);
  EXPECT_TRUE(late.marked_late);
  EXPECT_EQ(late.hints.canvas_name, "lovelaceada");
  EXPECT_EQ(late.hints.canvas_id, "12345");
  EXPECT_EQ(late.return_name, "12345_67890") << "user and attachment";
  EXPECT_EQ(late.file, "my_archive-1.zip");
  const Delivery in_time = delivery_of("lovelaceada_12345_67890_LATE_1_2_x.zip", false);
  EXPECT_FALSE(in_time.marked_late);
  EXPECT_EQ(in_time.file, "LATE_1_2_x.zip");
  EXPECT_EQ(delivery_of("LATE_1_2_x.zip", false).hints.canvas_name, "LATE");
  EXPECT_EQ(delivery_of("gemv_1_cu", false).platform, Platform::none);
  EXPECT_EQ(delivery_of("lovelaceada_1_2_archive", true).hints.canvas_id, "1");
  EXPECT_EQ(delivery_of("lovelaceada_1_2_archive", true).file, "");
  EXPECT_EQ(delivery_of("lovelaceada_1_2_archive", true).return_name, "1_2");
}

TEST(Delivery, ReadsNamesOfMoodle) {
  const Delivery file = delivery_of("Ada L_o_12_assignsubmission_file_a_b.cu", false);
  EXPECT_EQ(file.platform, Platform::moodle);
  EXPECT_EQ(file.hints.name, "Ada L_o");
  EXPECT_EQ(file.hints.moodle_identifier, "12");
  EXPECT_EQ(file.file, "a_b.cu");
  EXPECT_EQ(file.return_name, "12");
  for (const char* name : {"Ada_12_assignsubmission_file_", "Ada_12_assignsubmission_file"}) {
    EXPECT_EQ(delivery_of(name, true).platform, Platform::moodle) << name;
  }
  EXPECT_EQ(delivery_of("Ada_assignsubmission_file_x", false).platform, Platform::none);
  const std::string forged = "Eve_99_assignsubmission_file_ x_12_assignsubmission_file_";
  EXPECT_EQ(delivery_of(forged, true).hints.moodle_identifier, "12");
  EXPECT_EQ(delivery_of(forged + "gemv.cu", false).platform, Platform::none);
}

TEST(ArchiveName, KnowsWhatIsReadAndWhatIsNot) {
  for (const char* name :
       {"a.zip", "A.ZIP", "a-1.zip", "a.tar", "a.tgz", "a.tar.gz", "a.tar-1.gz", "a.tar.xz"}) {
    EXPECT_TRUE(archive_name(name).readable) << name;
  }
  for (const char* name : {"a.7z", "a.rar", "a.tar.bz2", "a.gz"}) {
    EXPECT_TRUE(archive_name(name).is_archive) << name;
    EXPECT_FALSE(archive_name(name).readable) << name;
  }
  EXPECT_FALSE(archive_name("zip").is_archive);
  EXPECT_FALSE(archive_name("gemv.cu").is_archive);
  EXPECT_EQ(without_extension("ada.tar.gz"), "ada");
  EXPECT_EQ(without_extension("ada.tar-1.gz"), "ada");
}

}  // namespace
}  // namespace rooflab
