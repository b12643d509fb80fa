#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <system_error>

#include "grader/batch/intake/folders_testing.h"
#include "grader/batch/intake/submission.h"
#include "grader/batch/unpack/archives_testing.h"

// Archives that mean harm, through everything that a class's submissions go through.
namespace rooflab {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::ArchiveWriter;
using testing::Format;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

/// A gzip file of zeros and such; several in a row are one, which is how bombs of any size are
/// made.
std::string gzip(const std::string& bytes) {
  return ArchiveWriter(Format::gz).file("-", bytes).bytes();
}

std::string repeated(const std::string& bytes, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += bytes;
  return all;
}

/// The header of a tar archive's file whose contents are for others to add.
std::string tar_header(const std::string& name, std::uint64_t size) {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(100, 7, "0000644");
  std::array<char, 13> octal{};
  std::snprintf(octal.data(), octal.size(), "%012llo", static_cast<unsigned long long>(size));
  header.replace(124, 12, octal.data());
  header[156] = '0';
  header.replace(257, 8, std::string("ustar\00000", 8));
  header.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  std::array<char, 8> checksum{};
  std::snprintf(checksum.data(), checksum.size(), "%06o", sum);
  header.replace(148, 7, std::string(checksum.data(), 7));
  return header;
}

class HostileArchivesTest : public testing::FolderTest {
 protected:
  HostileArchivesTest() {
    fs::create_directory(folder() / "scratch");
    fs::create_directory(folder() / "class");
    // A program of this test's own: other tests may be unpacking at the same time.
    fs::copy_file(ROOFLAB_BINARY_DIR "/bin/rooflab-unpack", unpacker_);
    fs::permissions(folder(), fs::perms(0755));
    setenv("TMPDIR", (folder() / "scratch").c_str(), 1);
  }
  /// Nothing may be left: no process, no file.
  ~HostileArchivesTest() override {
    unsetenv("TMPDIR");
    EXPECT_TRUE(fs::is_empty(folder() / "scratch"));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder()), {}), 3);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder() / "class"), {}), 1);
    for (const auto& process : fs::directory_iterator("/proc")) {
      std::error_code gone;
      EXPECT_NE(fs::read_symlink(process.path() / "exe", gone), unpacker_);
    }
  }

  std::string problem_of(const std::string& bytes, const std::string& name = "ada.zip") {
    write("class/" + name, bytes);
    const Submission taken = take_in(list_submissions(folder() / "class").at(0),
                                     {.wanted = {"part1-metrics/gemv.cu"}, .unpacker = unpacker_});
    EXPECT_THAT(taken.files, IsEmpty());
    EXPECT_THAT(taken.problem, MatchesRegex("[^\n]*; [^\n]*[a-z0-9]")) << "cause; what to do";
    return taken.problem;
  }

  const fs::path unpacker_ = folder() / "unpack";
};

TEST_F(HostileArchivesTest, ThatLeadOutAreRefused) {
  EXPECT_THAT(problem_of(ArchiveWriter(Format::zip)
                             .file("part1-metrics/gemv.cu", "x")
                             .file("../../class/x", "x")
                             .bytes()),
              "ada.zip: the name \"../../class/x\" in it leads out of the archive; pack the folder "
              "itself, by its plain name");
  EXPECT_THAT(problem_of(ArchiveWriter(Format::tar).file("/etc/x", "x").bytes()),
              HasSubstr("is an absolute path"));
}

TEST_F(HostileArchivesTest, WithALinkInAFilesPlaceAreRefused) {
  EXPECT_THAT(
      problem_of(
          ArchiveWriter(Format::zip).symbolic_link("part1-metrics/gemv.cu", "/etc/passwd").bytes()),
      HasSubstr("is a symbolic link"));
  EXPECT_THAT(problem_of(ArchiveWriter(Format::tar)
                             .symbolic_link("part1-metrics", "/etc")
                             .file("part1-metrics/gemv.cu", "x")
                             .bytes()),
              HasSubstr("is a symbolic link"));
  EXPECT_THAT(problem_of(ArchiveWriter(Format::tar)
                             .file("a", "x")
                             .hard_link("part1-metrics/gemv.cu", "/etc/passwd")
                             .bytes()),
              HasSubstr("is a hard link"));
}

TEST_F(HostileArchivesTest, OfTenGigabytesAreRefused) {
  const std::string zeros = gzip(std::string(8 << 20, '\0'));
  EXPECT_THAT(problem_of(gzip(tar_header("gemv.cu", 10ULL << 30)) + repeated(zeros, 1280)),
              HasSubstr("larger than 32 MiB"));
  // Each file is small enough, and hidden ones are unpacked too, if only to be skipped.
  for (const char* prefix : {"f", ".f"}) {
    std::string files;
    for (int i = 0; i < 400; ++i) {
      files += gzip(tar_header(prefix + std::to_string(i), 24 << 20)) + repeated(zeros, 3);
    }
    EXPECT_THAT(problem_of(files), HasSubstr("larger than 256 MiB together"));
  }
}

TEST_F(HostileArchivesTest, WithoutEndAreEnded) {
  // No header at all: zeros, which end a tar archive before it has begun.
  EXPECT_THAT(problem_of(repeated(gzip(std::string(8 << 20, '\0')), 1280)), HasSubstr("; pack"));
  const std::string folders = gzip(repeated(tar_header("d/", 0), 10'000));
  EXPECT_THAT(problem_of(repeated(folders, 100)), HasSubstr("more than 50000 files and folders"));
}

TEST_F(HostileArchivesTest, InArchivesAreNotLookedInto) {
  const std::string inner = ArchiveWriter(Format::zip).file("gemv.cu", "x").bytes();
  ArchiveWriter outer(Format::zip);
  for (int i = 0; i < 16; ++i) outer.file("lib " + std::to_string(i) + ".zip", inner);
  EXPECT_THAT(problem_of(outer.bytes()),
              AllOf(HasSubstr("an archive in an archive (lib 0.zip in ada.zip)"),
                    HasSubstr("pack the files themselves")));
}

TEST_F(HostileArchivesTest, ThatAreNoneOrCutOffAreNamed) {
  const std::string zip = ArchiveWriter(Format::zip).file("gemv.cu", std::string(999, 'x')).bytes();
  EXPECT_THAT(problem_of(""), HasSubstr("it is empty"));
  EXPECT_THAT(problem_of("<html>log in first</html>"), HasSubstr("it is no archive"));
  EXPECT_THAT(problem_of(zip.substr(0, zip.size() / 2)), HasSubstr("cut off"));
}

TEST_F(HostileArchivesTest, WithEvilNamesAreRefusedInPlainText) {
  const std::string name = "../\x1B[2J\n=HYPERLINK(\"x\"),<script>\xFF";
  EXPECT_THAT(problem_of(ArchiveWriter(Format::tar).file(name, "x").bytes()),
              AllOf(HasSubstr("␛[2J =HYPERLINK"), HasSubstr("�")));
}

}  // namespace
}  // namespace rooflab
