#include "simgpu/cli/story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace simgpu::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Story : public ::testing::Test {
 protected:
  Story() {
    std::string pattern = ::testing::TempDir() + "/story-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Story() override { std::filesystem::remove_all(folder_); }

  static std::string told(const std::string& file, std::uint32_t line) {
    Finding finding;
    finding.code = "RL0201";
    finding.kernel = "add";
    finding.message = "a write is out of bounds";
    finding.where.file = file;
    finding.where.line = line;
    finding.where.action = "writes 4 bytes";
    return tell(finding);
  }

  std::string folder_;
};

TEST_F(Story, ShowsTheLineThatTheFindingIsAbout) {
  const std::string file = folder_ + "/add.cu";
  std::ofstream(file) << "one\n  c[i] = a[i];\nthree\n";
  EXPECT_THAT(told(file, 2), HasSubstr("2 |   c[i] = a[i];"));
  EXPECT_THAT(told(file, 3), HasSubstr("3 | three"));
  EXPECT_THAT(told(file, 4), Not(HasSubstr("4 |")));
}

TEST_F(Story, TellsHowTheKernelCameToThePlace) {
  Finding finding;
  finding.code = "RL0201";
  finding.kernel = "add";
  finding.where.file = folder_ + "/none.cuh";
  finding.where.line = 3;
  finding.where.inlined_at = {{"store", "row.cuh", 12, 5}, {"store_row", "add.cu", 40, 3}};
  EXPECT_THAT(tell(finding), HasSubstr("   in store, called at row.cuh:12:5\n"
                                       "   in store_row, called at add.cu:40:3\n"));
}

TEST_F(Story, BeginsWithTheCauseAndEndsWithWhatHelps) {
  const std::string file = folder_ + "/add.cu";
  std::ofstream(file) << "one\n  c[i] = a[i];\nthree\n";
  Finding finding;
  finding.code = "RL0305";
  finding.kernel = "add";
  finding.message = "Only 16 of the 32 threads reach this barrier";
  finding.where.file = file;
  finding.where.line = 2;
  finding.where.by_thread = false;
  finding.where.action = "waits here";
  finding.also = {{file, 1, "threads that return here do not come there"}};
  finding.occurrences = 3;
  EXPECT_EQ(tell(finding), "error[RL0305]: Only 16 of the 32 threads reach this barrier\n  --> " +
                               file +
                               ":2, kernel add\n2 |   c[i] = a[i];\n  |   ^^^ waits here\n1 | one\n"
                               "  | --- threads that return here do not come there\n"
                               "note: this happened 3 times\nhelp: " +
                               std::string(Code("RL0305").help()) + "\n");
}

TEST_F(Story, OfWhatWasNotLookedAtIsAWarning) {
  Finding finding;
  finding.code = "RL0615";
  finding.message = "it forgot 3 windows";
  EXPECT_THAT(tell(finding), ::testing::StartsWith("warning[RL0615]: it forgot 3 windows"));
  finding.code = "RL0316";
  EXPECT_THAT(tell(finding), ::testing::StartsWith("error[RL0316]"));
}

TEST_F(Story, OfHostCodeNamesNoKernel) {
  Finding finding;
  finding.code = "RL0309";
  finding.message = "64 bytes from cudaMalloc were never freed";
  finding.where.file = folder_ + "/none.cu";
  finding.where.line = 3;
  finding.where.by_thread = false;
  EXPECT_THAT(tell(finding), HasSubstr("none.cu:3\n"));
}

TEST_F(Story, NamesNoThreadWhereAWholeLaunchDidIt) {
  Finding finding;
  finding.code = "RL0315";
  finding.kernel = "add";
  finding.where.file = folder_ + "/none.cu";
  finding.where.line = 3;
  finding.where.by_thread = false;
  EXPECT_THAT(tell(finding), HasSubstr("none.cu:3, kernel add\n"));
}

TEST_F(Story, NamesTheThirdDimensionOnlyWhereThereIsOne) {
  Finding finding;
  finding.code = "RL0201";
  finding.where.file = folder_ + "/add.cu";
  finding.where.block = {3, 0, 0};
  finding.where.thread = {232, 0, 1};
  EXPECT_THAT(tell(finding), HasSubstr("block (3,0), thread (232,0,1)"));
}

TEST_F(Story, ReadsNoFileThatIsNotRegular) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(told(pipe, 1), HasSubstr("pipe:1"));  // opening it would wait for a writer
  EXPECT_THAT(told("/dev/zero", 1), HasSubstr("/dev/zero:1"));
  EXPECT_THAT(told(folder_, 1), HasSubstr(":1"));
}

TEST_F(Story, ReadsNoMoreOfAFileThanASourceFileHas) {
  const std::string file = folder_ + "/long.cu";
  std::ofstream(file) << "first\n";
  std::filesystem::resize_file(file, std::uintmax_t{1} << 30);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_THAT(told(file, 1), HasSubstr("1 | first"));
  told(file, 2);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 50'000) << "KiB";
}

}  // namespace
}  // namespace simgpu::cli
