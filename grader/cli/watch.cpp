#include "grader/cli/watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

/// Saves closer together than this are one.
constexpr int kSettleMilliseconds = 200;

/// Throws away what happened; true if something had.
bool drain(int descriptor, int timeout_ms) {
  pollfd ready{descriptor, POLLIN, 0};
  if (::poll(&ready, 1, timeout_ms) <= 0) return false;
  std::array<char, 16384> events;
  return ::read(descriptor, events.data(), events.size()) > 0;
}

}  // namespace

FolderWatch::FolderWatch(const std::filesystem::path& folder)
    : descriptor_(::inotify_init1(IN_CLOEXEC)) {
  const auto events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE;
  if (descriptor_ >= 0 && ::inotify_add_watch(descriptor_, folder.c_str(), events) >= 0) return;
  const int error = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  throw FileError(fmt::format("cannot watch {}: {}; grade without --watch", folder.string(),
                              std::strerror(error)));
}

FolderWatch::~FolderWatch() { ::close(descriptor_); }

void FolderWatch::wait_for_save() {
  while (!drain(descriptor_, -1)) {
  }
  while (drain(descriptor_, kSettleMilliseconds)) {
  }
}

}  // namespace rooflab
