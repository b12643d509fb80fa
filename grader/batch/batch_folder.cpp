#include "grader/batch/batch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include "grader/posix/file_calls.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr const char* kLockFile = "batch.lock";

[[noreturn]] void fail_to_write(const std::filesystem::path& folder, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  throw BatchError(
      fmt::format("cannot write to {}: {}; {}name a folder with --out that can be written to",
                  folder.string(), std::strerror(error), is_full ? "free some space, or " : ""));
}

}  // namespace

BatchFolder::BatchFolder(const std::filesystem::path& path)
    : path_(std::filesystem::absolute(path).lexically_normal()) {
  if (!path_.has_filename()) path_ = path_.parent_path();  // "grades/"
  constexpr mode_t kFolderMode = 0700, kFileMode = 0600;   // grades are nobody else's business
  if (const auto error = make_folders(path_.parent_path())) fail_to_write(path_, error.value());
  const auto mkdir = [&] { return file_calls().mkdir(path_.c_str(), kFolderMode); };
  if (uninterrupted(mkdir) != 0 && errno != EEXIST) fail_to_write(path_, errno);
  const auto file = path_ / kLockFile;
  lock_ = Descriptor(uninterrupted([&] {
    constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    return file_calls().open(file.c_str(), kFlags, kFileMode);
  }));
  if (!lock_.valid()) fail_to_write(path_, errno);
  const auto lock = [&] { return file_calls().flock(lock_.get(), LOCK_EX | LOCK_NB); };
  // Whoever only looks whether a batch is at work holds the lock for a moment.
  constexpr int kTries = 5;
  constexpr std::chrono::milliseconds kMoment(20);
  for (int attempt = 1; attempt <= kTries; ++attempt) {
    if (uninterrupted(lock) == 0) return;
    if (errno != EWOULDBLOCK || attempt == kTries) break;
    std::this_thread::sleep_for(kMoment);
  }
  if (errno == EWOULDBLOCK) {
    throw BatchError(fmt::format(
        "another batch is at work in {}; wait for its end, or name another folder with --out",
        path_.string()));
  }
  throw BatchError(
      fmt::format("cannot lock {}: {}; name a folder with --out on a file system that has locks",
                  file.string(), std::strerror(errno)));
}

bool is_at_work(const std::filesystem::path& folder) {
  const Descriptor lock(uninterrupted([&] {
    return file_calls().open((folder / kLockFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
  }));
  if (!lock.valid()) return false;
  const auto share = [&] { return file_calls().flock(lock.get(), LOCK_SH | LOCK_NB); };
  return uninterrupted(share) != 0 && errno == EWOULDBLOCK;
}

void BatchFolder::remove_jobs() const {
  std::error_code ignored;
  std::filesystem::remove_all(path_ / "work", ignored);
}

}  // namespace rooflab
