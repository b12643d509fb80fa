#include "grader/sandbox/disk_usage.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 100;  ///< folders in each other: to walk through more takes long

}  // namespace

DiskUsage usage_beneath(const fs::path& directory, std::uint64_t most_files) {
  DiskUsage usage;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    struct stat status {};
    if (lstat(entry->path().c_str(), &status) == 0) {
      usage.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
    if (entry.depth() > kDeepest) {
      usage.files = most_files;
    }
    if (++usage.files > most_files) {
      break;
    }
  }
  // Folders that are too deep to be walked or that may not be listed hide what is in them, and
  // nothing that is graded makes such. Other errors come of files that go while we look.
  if (error == std::errc::permission_denied || error == std::errc::too_many_files_open ||
      error == std::errc::filename_too_long) {
    usage.files = most_files + 1;
  }
  return usage;
}

void ScratchMounts::open(pid_t process, std::uint64_t bytes) {
  if (!mounts_.empty()) {
    return;
  }
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));  // a block of tmpfs
  std::vector<Descriptor> found;
  const std::string root = "/proc/" + std::to_string(process) + "/root";
  for (const char* directory : {"/tmp", "/dev/shm"}) {
    Descriptor mount(::open((root + directory).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct statfs status {};
    if (!mount.valid() || fstatfs(mount.get(), &status) != 0 || status.f_type != TMPFS_MAGIC ||
        status.f_blocks != (bytes + page - 1) / page) {
      return;  // still the host's: the sandbox is being built
    }
    found.push_back(std::move(mount));
  }
  mounts_ = std::move(found);
}

bool ScratchMounts::full(std::uint64_t most_files) const {
  return std::any_of(mounts_.begin(), mounts_.end(), [most_files](const Descriptor& mount) {
    struct statfs status {};
    return fstatfs(mount.get(), &status) == 0 &&
           (status.f_bavail == 0 ||
            (most_files > 0 && status.f_files - status.f_ffree > most_files));
  });
}

}  // namespace rooflab
