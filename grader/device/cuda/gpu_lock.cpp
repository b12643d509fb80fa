#include "grader/device/cuda/gpu_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "grader/device/device.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

// flock wants no right to write, and who cannot write cannot fill the disk with it.
constexpr mode_t kEverybodyReads = 0444;
constexpr int kOpenAttempts = 100;
constexpr useconds_t kPauseUs = 10'000;

fs::path file_of(const fs::path& folder, std::string pci_address) {
  std::replace_if(
      pci_address.begin(), pci_address.end(),
      [](unsigned char letter) {
        return std::isalnum(letter) == 0 && letter != ':' && letter != '.';
      },
      '-');
  return folder / fmt::format("rooflab-gpu-{}.lock", pci_address);
}

[[noreturn]] void fail(const fs::path& file, const std::string& why) {
  throw DeviceError(
      fmt::format("cannot keep the GPU from others: {}: {}; remove that file, or ask "
                  "who owns it to",
                  file.string(), why));
}

/// Opens the file, and makes it where it is missing, in a folder where anybody may have put
/// anything: no link is followed, no pipe waited for.
Descriptor open_file(const fs::path& file) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  for (int attempt = 0; attempt < kOpenAttempts; ++attempt) {
    Descriptor descriptor(open(file.c_str(), kFlags));
    if (descriptor.valid()) return descriptor;
    if (errno == ENOENT) {
      // Not O_CREAT on a file that is there: in such a folder the kernel may refuse it to all but
      // the file's owner (fs.protected_regular).
      descriptor = Descriptor(open(file.c_str(), kFlags | O_CREAT | O_EXCL, kEverybodyReads));
      if (descriptor.valid()) {
        fchmod(descriptor.get(), kEverybodyReads);  // whatever the umask is
        return descriptor;
      }
      if (errno == EEXIST) continue;
    } else if (errno == EACCES) {
      usleep(kPauseUs);  // made a moment ago by somebody whose umask still holds
      continue;
    }
    break;
  }
  fail(file, errno == ELOOP ? "it is a link" : std::strerror(errno));
}

bool same_file(int descriptor, const fs::path& file) {
  struct stat ours {};
  struct stat there {};
  return fstat(descriptor, &ours) == 0 && lstat(file.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

void require_plain_file(int descriptor, const fs::path& file) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    fail(file, "it is no plain file");
}

}  // namespace

GpuLock::GpuLock(const std::string& pci_address, const fs::path& folder,
                 const std::function<void(const std::string&)>& waiting) {
  const fs::path file = file_of(folder.empty() ? common_folder() : folder, pci_address);
  bool told = false;
  // Whoever tidies up the folder may remove the file while we wait for it: then there is a new one,
  // which others lock.
  do {
    file_ = open_file(file);
    require_plain_file(file_.get(), file);
    if (flock(file_.get(), LOCK_EX | LOCK_NB) == 0) continue;
    if (waiting && !told) {
      told = true;
      waiting(fmt::format("waiting for GPU {}, which another grading uses", pci_address));
    }
    while (flock(file_.get(), LOCK_EX) != 0) {
      if (errno != EINTR) fail(file, std::strerror(errno));
    }
  } while (!same_file(file_.get(), file));
}

fs::path GpuLock::common_folder() {
  constexpr mode_t kAnybodyWrites = S_IWOTH | S_ISVTX;
  struct stat status {};
  const char* preferred = "/run/lock";
  const bool fits = stat(preferred, &status) == 0 && S_ISDIR(status.st_mode) &&
                    (status.st_mode & kAnybodyWrites) == kAnybodyWrites;
  return fits ? preferred : "/tmp";
}

}  // namespace rooflab
