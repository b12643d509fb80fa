#include "grader/sandbox/driver_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "grader/sandbox/process_tree.h"
#include "grader/sandbox/sandbox.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

/// A mapping as smaps shows it, with so much of it resident.
std::string mapping(const std::string& name, int resident_kb,
                    const std::string& range = "7f52c0000000-7f52c4000000") {
  return range + " rw-s 7f52c0000000 00:06 493                    " + name +
         "\nSize:              65536 kB\nKernelPageSize:        4 kB\nMMUPageSize:           4 kB\n"
         "Rss:            " +
         std::to_string(resident_kb) + " kB\nPss:            " + std::to_string(resident_kb) +
         " kB\nShared_Clean:          0 kB\nReferenced:            0 kB\n"
         "VmFlags: rd wr sh mr mw me ms de mm \n";
}

std::uint64_t kilobytes_in(const std::string& smaps) {
  std::istringstream stream(smaps);
  return driver_memory_in(stream) / 1024;
}

TEST(DriverMemoryTest, IsManagedMemoryOnTheHostAndWhatTheDriverAllocated) {
  EXPECT_EQ(
      kilobytes_in(mapping("/dev/nvidia-uvm", 40'000) + mapping("/usr/lib/libcuda.so.1", 7) +
                   mapping("/dev/nvidiactl", 2'000) + mapping("", 9) + mapping("[heap]", 800)),
      42'000U);
}

TEST(DriverMemoryTest, IsNeitherTheGpusOwnMemoryNorWhatIsNotResident) {
  EXPECT_EQ(kilobytes_in(mapping("/dev/nvidia0", 512) + mapping("/dev/nvidia-uvm", 0) +
                         mapping("/dev/nvidia-uvm-tools", 3)),
            0U);
}

TEST(DriverMemoryTest, CountsADeviceWhoseNodeWasRemoved) {
  EXPECT_EQ(kilobytes_in(mapping("/dev/nvidia-uvm (deleted)", 12)), 12U);
}

TEST(DriverMemoryTest, TakesNoFilesNameForAnythingElse) {
  for (const char* name :
       {"/tmp/x /dev/nvidia-uvm", "/tmp/dev/nvidia-uvm", "/tmp/7f00-7f01 rw-s 0 0 0 /dev/nvidiactl",
        "/tmp/x\\0127f00-7f01 rw-s 0 00:06 1 /dev/nvidiactl", "Rss: 5 kB", "/dev/nvidia-uvm/x"}) {
    EXPECT_EQ(kilobytes_in(mapping(name, 99)), 0U) << name;
  }
  // A newline, which the kernel never writes there, could add to a count and not hide from it.
  EXPECT_EQ(kilobytes_in(mapping("/dev/nvidia-uvm\nRss: 0 kB", 99)), 99U);
  EXPECT_EQ(kilobytes_in(mapping("/tmp/x\nRss: 5 kB", 99)), 0U);
}

TEST(DriverMemoryTest, IsNothingInTextThatIsNone) {
  for (const char* text :
       {"", "\n\n", "Rss: 5 kB\n", "-\n", "7f00-\nRss: 1 kB\n",
        "Rss:", "7f00-7f01 rw-s 0 00:06 1 /dev/nvidiactl\nRss: many kB\nRss:\n",
        "7f00-7f01 rw-s 0 00:06 1 /dev/nvidiactl\nRss: 99999999999999999999 kB"}) {
    EXPECT_EQ(kilobytes_in(text), 0U) << text;
  }
}

TEST(DriverMemoryTest, OfAProcessThatUsesNoGpuIsNothing) {
  EXPECT_EQ(driver_memory_of({getpid(), 0, -1}), 0U);
}

/// A file of 256 MiB, whose pages are in memory on our own account: a program's control group would
/// take them away from it before it has too many.
class CachedFile {
 public:
  CachedFile() {
    constexpr std::size_t kBlock = 1U << 20;
    std::ofstream(path_).flush();
    fs::resize_file(path_, 256 * kBlock);
    std::string block(kBlock, ' ');
    for (std::ifstream file(path_); file.read(block.data(), kBlock);) {
    }
  }
  ~CachedFile() { fs::remove(path_); }
  const fs::path& path() const { return path_; }

 private:
  const fs::path path_ =
      fs::path(ROOFLAB_BINARY_DIR) / "tests" / ("driver-memory-" + std::to_string(getpid()));
};

/// Runs a program that maps all of the device `node`, with that file in its place.
SandboxOutcome run_mapping(const std::string& node) {
  const CachedFile file;
  const fs::path program = fs::path(ROOFLAB_BINARY_DIR) / "tests" / "hostile_program";
  SandboxRequest request;
  request.argv = {bubblewrap_program(), "--bind", "/", "/"};
  request.argv.insert(request.argv.end(), {"--dev", "/dev", "--ro-bind", file.path(), node});
  request.argv.insert(request.argv.end(), {"--", program, "map", "-", node});
  request.enabled = false;  // it is a sandbox itself
  request.limits.memory_bytes = 128U << 20;
  request.limits.wall_s = 10;
  return run_sandboxed(request);
}

TEST(DriverMemoryTest, CountsForTheLimitOfAProgram) {
  if (active_layers().front() != "bubblewrap") GTEST_SKIP() << "nothing makes nodes here";
  EXPECT_EQ(run_mapping("/dev/nvidia-uvm").limit, LimitHit::memory);
  const SandboxOutcome of_gpu = run_mapping("/dev/nvidia0");
  EXPECT_EQ(of_gpu.limit, LimitHit::none);
  EXPECT_EQ(of_gpu.exit_code, 0) << of_gpu.output;
}

// Pages that a driver inserts are counted as those of files are: without that, nobody would look.
TEST(TreeUsageTest, HoldsWhatIsMappedOfFiles) {
  EXPECT_GT(usage_of({getpid()}).file_bytes, 100'000U);
}

}  // namespace
}  // namespace rooflab
