#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>

namespace rooflab {

/// The calls of the operating system by which we keep files, as values: a disk is full, a rename
/// fails, a signal interrupts where a test says so. Each does what the call of its name does: a
/// result below 0 is a failure, and errno says which.
struct FileCalls {
  std::function<int(const char* path, int flags, mode_t mode)> open =
      [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); };
  std::function<int(char* pattern, int flags)> mkostemp = ::mkostemp;
  std::function<ssize_t(int file, void* bytes, std::size_t size)> read = ::read;
  std::function<ssize_t(int file, const void* bytes, std::size_t size)> write = ::write;
  std::function<int(int file)> fsync = ::fsync;
  std::function<int(int file, mode_t mode)> fchmod = ::fchmod;
  std::function<int(int file)> close = ::close;
  std::function<int(const char* from, const char* to)> rename = ::rename;
  std::function<int(const char* path)> unlink = ::unlink;
  std::function<int(const char* path, mode_t mode)> mkdir = ::mkdir;
  /// mkdtemp, with a result as the others have it.
  std::function<int(char* pattern)> mkdtemp = [](char* pattern) {
    return ::mkdtemp(pattern) == nullptr ? -1 : 0;
  };
  std::function<int(int file, int operation)> flock = ::flock;
  std::function<int(const char* path, struct stat* status)> lstat = ::lstat;
  std::function<int(const char* path, struct statvfs* status)> statvfs = ::statvfs;
  std::function<int(const char* path, uid_t user, gid_t group)> lchown = ::lchown;
  std::function<int(const char* path, mode_t mode)> chmod = ::chmod;
};

/// In place of the system's calls for as long as it lives, in all threads; tests alone have one.
/// The innermost counts.
class InstalledFileCalls {
 public:
  explicit InstalledFileCalls(const FileCalls& calls) : before_(installed_.exchange(&calls)) {}
  explicit InstalledFileCalls(const FileCalls&&) = delete;
  ~InstalledFileCalls() { installed_ = before_; }
  InstalledFileCalls(const InstalledFileCalls&) = delete;
  InstalledFileCalls& operator=(const InstalledFileCalls&) = delete;

 private:
  friend const FileCalls& file_calls();
  static inline std::atomic<const FileCalls*> installed_ = nullptr;
  const FileCalls* before_;
};

/// The calls that count: the system's, unless a test has installed others.
inline const FileCalls& file_calls() {
  static const FileCalls& system = *new FileCalls;  // there until the process has ended
  const FileCalls* installed = InstalledFileCalls::installed_;
  return installed == nullptr ? system : *installed;
}

/// Makes a call, and makes it again for as long as signals interrupt it.
template <typename Call>
auto uninterrupted(const Call& call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

/// Writes all of it. False where that cannot be; errno says why.
inline bool write_whole(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        uninterrupted([&] { return file_calls().write(file, bytes.data(), bytes.size()); });
    if (count == 0) errno = ENOSPC;  // a device that takes nothing more, and never will
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Closes a file that was written. False where the system only now says that it could not keep
/// what was written. The file is closed in any case, by a signal's interruption too.
inline bool close_written(int file) { return file_calls().close(file) == 0 || errno == EINTR; }

}  // namespace rooflab
