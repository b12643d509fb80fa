#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "grader/batch/intake/folders_testing.h"
#include "grader/batch/intake/submission.h"
#include "grader/batch/unpack/archives_testing.h"

namespace rooflab {
namespace {

using testing::ArchiveWriter;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Format;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

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
  EXPECT_EQ(ada.received_at, std::nullopt);
}

TEST_F(TakeInTest, LooksThroughWrappingFoldersOfAnArchive) {
  write("lab1-ada-main.zip",
        ArchiveWriter(Format::zip)
            .file("repo-main/starter/part1-metrics/gemv.cu", "one", 1'700'000'001)
            .file("repo-main/README.md", "", 1'600'000'000)
            .file("__MACOSX/repo-main/starter/part1-metrics/gemv.cu", "x")
            .bytes());
  const Submission ada = only();
  EXPECT_EQ(ada.problem, "");
  EXPECT_THAT(ada.files, ElementsAre(Pair("part1-metrics/gemv.cu", "one")));
  EXPECT_THAT(ada.notes, Contains(HasSubstr("repo-main/starter/")));
  EXPECT_EQ(ada.hints.login, "lab1-ada");
  EXPECT_EQ(ada.received_at, 1'700'000'001);
  EXPECT_THAT(ada.notes, Contains(HasSubstr("the newest time in the archive")));
}

}  // namespace
}  // namespace rooflab
