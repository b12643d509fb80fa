#include "grader/batch/batch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace rooflab {

BatchFolder::BatchFolder(const std::filesystem::path& path)
    : path_(std::filesystem::absolute(path).lexically_normal()) {
  if (!path_.has_filename()) path_ = path_.parent_path();  // "grades/"
  std::error_code error;
  // Names and grades of a class are nobody else's business.
  if (std::filesystem::create_directories(path_, error)) {
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, error);
  }
  const auto file = path_ / "batch.lock";
  constexpr int kMode = 0600;
  if (!error) {
    lock_ = Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode));
    if (!lock_.valid()) error = std::error_code(errno, std::generic_category());
  }
  if (error) {
    throw BatchError(
        fmt::format("cannot write to {}: {}; name a folder with --out that can be written to",
                    path_.string(), error.message()));
  }
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw BatchError(fmt::format(
        "another batch is at work in {}; wait for its end, or name another folder with --out",
        path_.string()));
  }
}

void BatchFolder::remove_jobs() const {
  std::error_code ignored;
  std::filesystem::remove_all(path_ / "work", ignored);
}

}  // namespace rooflab
