#include "grader/batch/unpack/read_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/batch/unpack/archives_testing.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using testing::ArchiveWriter;
using testing::Format;
using ::testing::HasSubstr;

std::string refusal(const std::string& bytes, const ArchiveLimits& limits = {}) {
  try {
    const auto files = read_archive(bytes, limits);
    return "accepted " + std::to_string(files.size()) + " files";
  } catch (const ArchiveError& error) {
    return error.what();
  }
}

class EveryFormat : public ::testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(ReadArchive, EveryFormat,
                         ::testing::Values(Format::zip, Format::tar, Format::tar_gz,
                                           Format::tar_xz));

TEST_P(EveryFormat, GivesItsFilesWithTheirTimes) {
  std::string binary;
  for (int i = 0; i < 100'000; ++i) binary += static_cast<char>(i * 37 % 251);
  const auto files = read_archive(ArchiveWriter(GetParam())
                                      .special("repo/", AE_IFDIR)
                                      .file("repo/part1-metrics/gemv.cu", "int x;\n", 1'600'000'001)
                                      .file("./repo//data.bin", binary)
                                      .file("repo/empty", "")
                                      .bytes());
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].path, "repo/part1-metrics/gemv.cu");
  EXPECT_EQ(files[0].contents, "int x;\n");
  EXPECT_EQ(files[0].modified, 1'600'000'001);
  EXPECT_EQ(files[1].path, "repo/data.bin");
  EXPECT_EQ(files[1].contents, binary);
  EXPECT_EQ(files[2].contents, "");
}

TEST_P(EveryFormat, WithNamesThatLeadOutIsRefused) {
  for (const char* name : {"../x", "a/../../x", "a/..", "..\\x", "/etc/x", "C:\\x", "//x"}) {
    EXPECT_THAT(refusal(ArchiveWriter(GetParam()).file("ok", "ok").file(name, "x").bytes()),
                AllOf(HasSubstr("the name \""), HasSubstr("pack ")))
        << name;
  }
}

TEST_P(EveryFormat, WithLinksIsRefusedUnlessTheyAreHidden) {
  EXPECT_THAT(refusal(ArchiveWriter(GetParam()).symbolic_link("gemv.cu", "/etc/passwd").bytes()),
              "\"gemv.cu\" in it is a symbolic link; pack the file itself");
  EXPECT_EQ(refusal(ArchiveWriter(GetParam())
                        .symbolic_link(".venv/bin/python", "/usr/bin/python3")
                        .file("__MACOSX/._gemv.cu", "x")
                        .file("gemv.cu", "x")
                        .bytes()),
            "accepted 1 files");
}

TEST_P(EveryFormat, WithOneNameTwiceIsRefused) {
  for (const char* again : {"a/gemv.cu", "a//gemv.cu", "./a/gemv.cu", "a/gemv.cu/x", "a"}) {
    EXPECT_THAT(refusal(ArchiveWriter(GetParam()).file("a/gemv.cu", "1").file(again, "2").bytes()),
                HasSubstr("is in it twice"))
        << again;
  }
}

TEST_P(EveryFormat, CutOffAnywhereIsRefusedOrGivesWholeFiles) {
  const std::string bytes = ArchiveWriter(GetParam())
                                .file("first", std::string(3000, 'a'))
                                .file("second", std::string(3000, 'b'))
                                .bytes();
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    try {
      for (const ArchiveFile& file : read_archive(bytes.substr(0, size))) {
        EXPECT_EQ(file.contents.size(), 3000U) << size;
      }
    } catch (const ArchiveError& error) {
      EXPECT_THAT(error.what(), HasSubstr("; pack")) << size;
    }
  }
}

TEST_P(EveryFormat, TooLargeInAnyWayIsRefused) {
  ArchiveLimits limits;
  limits.entries = 3;
  limits.file_bytes = 2 << 20;
  limits.all_bytes = 3 << 20;
  limits.depth = 3;
  const std::string mebi(1 << 20, 'x');
  EXPECT_THAT(
      refusal(
          ArchiveWriter(GetParam()).file("1", "").file("2", "").file("3", "").file("4", "").bytes(),
          limits),
      HasSubstr("more than 3 files"));
  EXPECT_THAT(refusal(ArchiveWriter(GetParam()).file("big", mebi + mebi + "x").bytes(), limits),
              HasSubstr("\"big\" in it is larger than 2 MiB"));
  EXPECT_THAT(
      refusal(
          ArchiveWriter(GetParam()).file("1", mebi + mebi).file("2", mebi).file(".3", "x").bytes(),
          limits),
      HasSubstr("larger than 3 MiB together"));
  EXPECT_THAT(refusal(ArchiveWriter(GetParam()).file("a/b/c/d", "").bytes(), limits),
              HasSubstr("too deep"));
  EXPECT_THAT(refusal(ArchiveWriter(GetParam()).file(std::string(256, 'n'), "").bytes(), limits),
              HasSubstr("too long"));
}

TEST_P(EveryFormat, TakesNamesOfAnyBytes) {
  const auto files = read_archive(
      ArchiveWriter(GetParam()).file("\xFF\xFE.cu", "1").file("=1+1,<b>\n\"x\"", "2").bytes());
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, "\xFF\xFE.cu");
  EXPECT_EQ(files[1].path, "=1+1,<b>\n\"x\"");
}

TEST(ReadArchive, RefusesBombs) {
  const std::string zeros(9 << 20, '\0');
  for (const Format format : {Format::zip, Format::tar_gz}) {
    EXPECT_THAT(refusal(ArchiveWriter(format).file("zeros", zeros).bytes()),
                HasSubstr("more than 200 times as large as the archive"));
  }
}

TEST(ReadArchive, RefusesWhatOnlyTarHolds) {
  EXPECT_THAT(
      refusal(
          ArchiveWriter(Format::tar).file("a", "1").hard_link("gemv.cu", "/etc/passwd").bytes()),
      HasSubstr("\"gemv.cu\" in it is a hard link"));
  EXPECT_THAT(refusal(ArchiveWriter(Format::tar).special("gemv.cu", AE_IFIFO).bytes()),
              HasSubstr("is a pipe"));
  EXPECT_THAT(refusal(ArchiveWriter(Format::tar).special("gemv.cu", AE_IFCHR).bytes()),
              HasSubstr("is a device"));
}

TEST(ReadArchive, RefusesEncryptedZips) {
  std::string bytes = ArchiveWriter(Format::zip).file("gemv.cu", "secret").bytes();
  // The flag stands at byte 6 of a file's header and at byte 8 of its line in the table at the end.
  bytes[6] = static_cast<char>(bytes[6] | 1);
  const std::size_t table = bytes.find("PK\x01\x02");
  bytes[table + 8] = static_cast<char>(bytes[table + 8] | 1);
  EXPECT_THAT(refusal(bytes), HasSubstr("it is encrypted; pack it without a password"));
}

TEST(ReadArchive, RefusesDamagedFiles) {
  std::string bytes = ArchiveWriter(Format::zip).file("gemv.cu", std::string(500, 'x')).bytes();
  const std::size_t checksum = bytes.find("PK\x01\x02") + 16;
  bytes[checksum] = static_cast<char>(bytes[checksum] ^ 1);
  EXPECT_THAT(refusal(bytes), HasSubstr("damaged"));
}

TEST(ReadArchive, NamesWhatIsNoArchive) {
  using namespace std::string_literals;
  EXPECT_THAT(refusal(""),
              "it is empty; pack it as .zip, .tar, .tar.gz or .tar.xz and hand it in again");
  EXPECT_THAT(refusal("<html>not found</html>"), HasSubstr("it is no archive"));
  EXPECT_THAT(refusal("7z\xBC\xAF\x27\x1C rest"), HasSubstr("it is a 7z archive"));
  EXPECT_THAT(refusal("Rar!\x1A\x07\x01\x00"s), HasSubstr("it is a RAR archive"));
  const std::string zip = ArchiveWriter(Format::zip).file("gemv.cu", "x").bytes();
  EXPECT_THAT(refusal(zip.substr(0, 40)), HasSubstr("zip archive that is cut off"));
  EXPECT_THAT(refusal(ArchiveWriter(Format::zip).bytes()), HasSubstr("zip archive without files"));
}

}  // namespace
}  // namespace rooflab
