#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "grader/batch/intake/folders_testing.h"
#include "grader/batch/intake/submission.h"
#include "grader/batch/unpack/archives_testing.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using testing::ArchiveWriter;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Format;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::int64_t kTime = 1'700'000'001;

class TakeInTest : public testing::FolderTest {
 protected:
  Submission only() const {
    const auto entries = list_submissions(folder());
    EXPECT_EQ(entries.size(), 1U);
    return take_in(entries.at(0), options_);
  }

  IntakeOptions options_{.wanted = {"part1-metrics/gemv.cu", "part1-metrics/answers.toml",
                                    "part2-roofline/fma.cu", "part2-roofline/answers.toml"},
                         .unpacker = ROOFLAB_BINARY_DIR "/bin/rooflab-unpack"};
};

TEST_F(TakeInTest, TakesAFolderAsItIs) {
  write("ada/part1-metrics/gemv.cu", "one");
  write("ada/part2-roofline/answers.toml", "two");
  write("ada/part2-roofline/notes.txt", "three");
  const Submission ada = only();
  EXPECT_THAT(ada.files, ElementsAre(Pair("part1-metrics/gemv.cu", "one"),
                                     Pair("part2-roofline/answers.toml", "two")));
  EXPECT_EQ(ada.problem, "");
  EXPECT_EQ(ada.called, "ada");
  EXPECT_EQ(ada.hints.login, "ada");
  EXPECT_FALSE(ada.names_itself);
  EXPECT_EQ(ada.received_at, std::nullopt);
  EXPECT_THAT(ada.notes, Contains("When it was handed in is not known."));
}

TEST_F(TakeInTest, LooksThroughWrappingFoldersOfAnArchive) {
  write("lab1-ada-main.zip", ArchiveWriter(Format::zip)
                                 .file("repo-main/starter/part1-metrics/gemv.cu", "one", kTime)
                                 .file("repo-main/README.md", "", kTime - 5)
                                 .file("__MACOSX/repo-main/starter/part1-metrics/gemv.cu", "x")
                                 .bytes());
  const Submission ada = only();
  EXPECT_EQ(ada.problem, "");
  EXPECT_THAT(ada.files, ElementsAre(Pair("part1-metrics/gemv.cu", "one")));
  EXPECT_THAT(ada.notes, Contains("Its files lie in repo-main/starter/."));
  EXPECT_EQ(ada.hints.login, "lab1-ada");
  EXPECT_EQ(ada.received_at, kTime);
  EXPECT_TRUE(ada.owner_chose_time);
  EXPECT_THAT(ada.notes,
              Contains(HasSubstr("2023-11-14 22:13 UTC: the newest time in the archive")));
}

TEST_F(TakeInTest, TakesNoTimeThatIsStillToCome) {
  constexpr std::int64_t kWeek_s = 7 * 24 * 3600;
  write("lab1-ada.tar", ArchiveWriter(Format::tar)
                            .file("part1-metrics/gemv.cu", "one", std::time(nullptr) + kWeek_s)
                            .bytes());
  const Submission ada = only();
  EXPECT_EQ(ada.received_at, std::nullopt);
  EXPECT_THAT(ada.notes, Contains("When it was handed in is not known."));
}

TEST_F(TakeInTest, ReadsEveryKindOfArchiveWhateverItIsCalled) {
  const std::pair<const char*, Format> kinds[] = {{"a.tar", Format::tar},
                                                  {"b.tgz", Format::tar_gz},
                                                  {"c.tar.xz", Format::tar_xz},
                                                  {"d.zip", Format::tar_gz}};
  for (const auto& [name, format] : kinds) {
    write(name, ArchiveWriter(format).file("gemv.cu", name).bytes());
  }
  for (const SubmissionEntry& entry : list_submissions(folder())) {
    EXPECT_THAT(take_in(entry, options_).files,
                ElementsAre(Pair("part1-metrics/gemv.cu", entry.paths.front().filename())));
  }
}

TEST_F(TakeInTest, MatchesSingleFilesByTheirNames) {
  write("lovelaceada_LATE_12_34_gemv-1.cu", "one");
  write("lovelaceada_LATE_12_35_fma.cu", "two");
  const Submission ada = only();
  EXPECT_THAT(ada.files, ElementsAre(Pair("part1-metrics/gemv.cu", "one"),
                                     Pair("part2-roofline/fma.cu", "two")));
  EXPECT_THAT(ada.notes, Contains("gemv-1.cu is taken for part1-metrics/gemv.cu."));
  EXPECT_EQ(ada.hints.canvas_id, "12");
  EXPECT_EQ(ada.hints.login, "");
  EXPECT_TRUE(ada.marked_late);
  EXPECT_EQ(ada.received_at, std::nullopt);
}

TEST_F(TakeInTest, TakesAnArchiveAndTheFilesBesideIt) {
  write("lovelaceada_12_34_lab-1.zip", ArchiveWriter(Format::zip).file("gemv.cu", "one").bytes());
  write("lovelaceada_12_35_fma.cu", "two");
  const Submission ada = only();
  EXPECT_THAT(ada.files, SizeIs(2));
  EXPECT_EQ(ada.received_at, std::nullopt)
      << "what the student's archive says is not Canvas's word";
}

TEST_F(TakeInTest, LooksIntoTheArchiveOfAFolder) {
  const auto archive = write("Ada Lovelace_12_assignsubmission_file_/work.zip",
                             ArchiveWriter(Format::zip).file("part1/gemv.cu", "one").bytes());
  const timespec times[2] = {{kTime, 0}, {kTime, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, archive.c_str(), times, 0), 0);
  const Submission ada = only();
  EXPECT_THAT(ada.files, ElementsAre(Pair("part1-metrics/gemv.cu", "one")));
  EXPECT_EQ(ada.hints.name, "Ada Lovelace");
  EXPECT_EQ(ada.hints.moodle_identifier, "12");
  EXPECT_EQ(ada.received_at, kTime);
}

TEST_F(TakeInTest, TakesNoCopysTimeForThatOfTheSubmission) {
  write("Ada Lovelace_12_assignsubmission_file_gemv.cu", "one");
  const Submission ada = only();
  EXPECT_THAT(ada.files, SizeIs(1));
  EXPECT_EQ(ada.received_at, std::nullopt);
  EXPECT_THAT(ada.notes, Contains(HasSubstr("When it was handed in is not known: its files")));
}

TEST_F(TakeInTest, ReadsWhatGradescopeSaysAndNothingElseOfWhoItIs) {
  write("submission_metadata.yml", R"(---
submission_455:
  :submitters:
  - :name: Eve
    :sid: '999'
submission_456:
  :submitters:
  - :name: "Ada \"<b>\" Lovelace"
    :sid: '1815'
    :email: ada@example.org
  - :name: Charles
  :created_at: 2023-11-14 22:13:21.514562000 Z
  :results:
    :tests:
    - :output: "submission_457:\n"
)");
  write("submission_456/gemv.cu", "one");
  write("submission_456/student.toml", "id = \"999\"");
  const Submission ada = only();
  EXPECT_EQ(ada.hints.name, "Ada \"<b>\" Lovelace");
  EXPECT_EQ(ada.hints.sis_id, "1815");
  EXPECT_EQ(ada.hints.email, "ada@example.org");
  EXPECT_EQ(ada.received_at, kTime);
  EXPECT_FALSE(ada.names_itself);
  ASSERT_EQ(ada.partners.size(), 1U);
  EXPECT_EQ(ada.partners[0].name, "Charles");
  EXPECT_THAT(ada.notes, Contains(HasSubstr("student.toml is left alone")));
}

TEST_F(TakeInTest, ReadsWhatGradescopesAutograderGets) {
  write("job/submission/gemv.cu", "one");
  write(
      "job/submission_metadata.json",
      R"({"created_at":"2023-11-14T14:13:21.3-08:00","users":[{"name":"Ada","email":"a@x","id":7}]})");
  const Submission ada = only();
  EXPECT_EQ(ada.received_at, kTime);
  EXPECT_EQ(ada.hints.email, "a@x");
  EXPECT_TRUE(ada.names_itself);
  EXPECT_THAT(ada.files, SizeIs(1));
}

TEST_F(TakeInTest, IsNotStoppedByMetadataThatAStudentMade) {
  write("job/submission/gemv.cu", "one");
  for (const std::string& text : {std::string(2 << 20, ' '), std::string("[[[["), std::string()}) {
    write("job/submission_metadata.json", text);
    EXPECT_THAT(only().files, SizeIs(1));
  }
  std::filesystem::remove(folder() / "job/submission_metadata.json");
  ASSERT_EQ(::mkfifo((folder() / "job/submission_metadata.json").c_str(), 0600), 0);
  EXPECT_THAT(only().files, SizeIs(1));
}

TEST_F(TakeInTest, LooksIntoFewArchives) {
  for (int i = 0; i < 6; ++i) {
    write(fmt::format("lovelaceada_12_{}_{}.zip", i, i),
          ArchiveWriter(Format::zip).file(fmt::format("{}.cu", i), "one").bytes());
  }
  EXPECT_EQ(only().problem, "it holds more than 4 archives; hand in one");
}

TEST_F(TakeInTest, ReadsWhoItIsFromAFileInIt) {
  write("repo.zip", ArchiveWriter(Format::zip)
                        .file("repo-main/gemv.cu", "one")
                        .file("repo-main/student.toml",
                              "id = 1815\nname = \"Ada Lovelace\"\nemail = \"ada@example.org\"\n")
                        .bytes());
  const Submission ada = only();
  EXPECT_EQ(ada.hints.sis_id, "1815");
  EXPECT_EQ(ada.hints.name, "Ada Lovelace");
  EXPECT_EQ(ada.hints.email, "ada@example.org");
  EXPECT_EQ(ada.hints.login, "repo");
  EXPECT_TRUE(ada.names_itself);
}

TEST_F(TakeInTest, LeavesAFileAloneThatSaysNothingOfWhoItIs) {
  write("ada/gemv.cu", "one");
  const std::string deep = "id = " + std::string(8000, '[');
  const std::string dotted = [] {
    std::string text;
    for (int i = 0; i < 7000; ++i) text += "a.";
    return text + "b = 1";
  }();
  const std::string large(70 << 10, '#');
  for (const std::string& text :
       {std::string("id = [1]"), std::string("shoe = 44"), std::string("id = "),
        std::string("\xFF"), std::string("name = \"a\\nb\""), deep, dotted, large}) {
    write("ada/student.toml", text);
    const Submission ada = only();
    EXPECT_EQ(ada.hints.sis_id, "") << text;
    EXPECT_THAT(ada.notes, Contains(HasSubstr("student.toml is left alone: "))) << text;
    EXPECT_EQ(ada.problem, "") << text;
  }
}

TEST_F(TakeInTest, DoesNotGuessWhichOfTwoFilesCounts) {
  write("ada/old/gemv.cu", "one");
  write("ada/new/gemv.cu", "two");
  write("ada/fma.cu", "three");
  const Submission ada = only();
  EXPECT_THAT(ada.files, ElementsAre(Pair("part2-roofline/fma.cu", "three")));
  EXPECT_THAT(ada.doubts, ElementsAre(AllOf(HasSubstr("2 files could be part1-metrics/gemv.cu"),
                                            HasSubstr("new/gemv.cu, old/gemv.cu"),
                                            HasSubstr("none is taken"))));
  EXPECT_THAT(ada.notes, Contains(ada.doubts.front() + "."));
}

TEST_F(TakeInTest, TakesOneOfTwoFilesThatAreTheSame) {
  write("ada/a/part1-metrics/gemv.cu", "one");
  write("ada/b/part1-metrics/gemv.cu", "one");
  const Submission ada = only();
  EXPECT_THAT(ada.files, SizeIs(1));
  EXPECT_THAT(ada.notes, Contains("part1-metrics/gemv.cu is in it 2 times, the same to the byte."));
}

TEST_F(TakeInTest, DoesNotGuessWhichPartAFileIsFor) {
  write("ada/answers.toml", "one");
  write("bob/part2/answers.toml", "two");
  write("eve/part2-roofline/gemv.cu", "three");
  const auto entries = list_submissions(folder());
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_THAT(take_in(entries[0], options_).problem, HasSubstr("several parts ask for a file"));
  EXPECT_THAT(take_in(entries[1], options_).files,
              ElementsAre(Pair("part2-roofline/answers.toml", "two")));
  EXPECT_THAT(take_in(entries[2], options_).problem, HasSubstr("none of the files asked for"));
}

TEST_F(TakeInTest, SaysWhatToDoWhereNothingIsThatWasAskedFor) {
  write("ada/essay.txt", "one");
  write("bob.rar", "Rar!");
  std::filesystem::create_directory(folder() / "eve");
  const auto entries = list_submissions(folder());
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_THAT(take_in(entries[0], options_).problem,
              AllOf(HasSubstr("none of the files asked for is in it"),
                    HasSubstr("such as part1-metrics/gemv.cu")));
  EXPECT_THAT(take_in(entries[1], options_).problem,
              AllOf(HasSubstr("bob.rar"), HasSubstr("pack it as .zip")));
  EXPECT_THAT(take_in(entries[2], options_).problem, HasSubstr("none of the files asked for"));
}

TEST_F(TakeInTest, FollowsNoLinkAndWaitsOnNoPipe) {
  const TemporaryFolder elsewhere(::testing::TempDir());
  write_file_atomically(elsewhere.path() / "gemv.cu", "hidden");
  for (const char* name : {"ada", "bob", "eve"})
    write(std::string(name) + "/part2-roofline/fma.cu");
  std::filesystem::create_directory(folder() / "ada/part1-metrics");
  std::filesystem::create_symlink(elsewhere.path() / "gemv.cu",
                                  folder() / "ada/part1-metrics/gemv.cu");
  std::filesystem::create_directory(folder() / "bob/part1-metrics");
  ASSERT_EQ(::mkfifo((folder() / "bob/part1-metrics/gemv.cu").c_str(), 0600), 0);
  std::filesystem::create_directory_symlink(elsewhere.path(), folder() / "eve/part1-metrics");
  const auto entries = list_submissions(folder());
  ASSERT_THAT(entries, SizeIs(3));
  const char* why[] = {"it is a symbolic link", "it is a pipe"};
  for (int i = 0; i < 2; ++i) {
    const Submission taken = take_in(entries[static_cast<std::size_t>(i)], options_);
    EXPECT_THAT(taken.files, ElementsAre(Pair("part2-roofline/fma.cu", "")));
    EXPECT_THAT(taken.doubts, ElementsAre(HasSubstr(why[i])));
  }
  EXPECT_THAT(take_in(entries[2], options_).files, SizeIs(1));
}

TEST_F(TakeInTest, RefusesFilesThatAreNoText) {
  write("ada/gemv.cu", std::string(2 << 20, 'x'));
  write("bob/gemv.cu", std::string("a\0b", 3));
  for (const SubmissionEntry& entry : list_submissions(folder())) {
    EXPECT_THAT(take_in(entry, options_).problem, HasSubstr("is not taken: it is "));
  }
}

TEST_F(TakeInTest, EndsInFoldersWithoutEnd) {
  std::string deep = "ada";
  for (int i = 0; i < 30; ++i) deep += "/d";
  write(deep + "/gemv.cu", "x");
  EXPECT_THAT(only().problem, HasSubstr("more than 20 folders in each other"));
}

TEST_F(TakeInTest, OfWhatIsGoneIsAProblem) {
  EXPECT_THAT(take_in({{folder() / "ada.zip"}, "ada.zip"}, options_).problem,
              HasSubstr("ada.zip is gone"));
  ASSERT_EQ(::mkfifo((folder() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(take_in({{folder() / "pipe"}, "pipe"}, options_).problem, HasSubstr("neither"));
}

TEST_F(TakeInTest, ShowsNamesAsTextOnOneLine) {
  write("\x1B[31m<b>\n\xFF/=1+1,gemv.txt");
  const Submission evil = only();
  EXPECT_EQ(evil.called, "␛[31m<b> �");
  EXPECT_THAT(evil.problem, HasSubstr("none of the files"));
}

TEST_F(TakeInTest, WorksWithoutASandbox) {
  options_.sandbox = false;
  write("ada.zip", ArchiveWriter(Format::zip).file("gemv.cu", "one").bytes());
  EXPECT_THAT(only().files, SizeIs(1));
  options_.unpacker = "/missing/rooflab-unpack";
  EXPECT_THROW(only(), FileError);
}

}  // namespace
}  // namespace rooflab
