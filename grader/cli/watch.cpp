#include "grader/cli/watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

/// Saves closer together than this are one. An editor that writes a file in two goes needs a few
/// milliseconds in between; whoever saves several files at once, not many more.
constexpr int kSettleMilliseconds = 50;

}  // namespace

FolderWatch::FolderWatch(const std::filesystem::path& folder, std::vector<std::string> files)
    : files_(std::move(files)), descriptor_(::inotify_init1(IN_CLOEXEC)) {
  const auto events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE;
  if (descriptor_ >= 0 && ::inotify_add_watch(descriptor_, folder.c_str(), events) >= 0) return;
  const int error = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  throw FileError(fmt::format("cannot watch {}: {}; grade without --watch", folder.string(),
                              std::strerror(error)));
}

FolderWatch::~FolderWatch() { ::close(descriptor_); }

/// Reads what happened; true if it was to a file that matters.
bool FolderWatch::drain(int timeout_ms) {
  pollfd ready{descriptor_, POLLIN, 0};
  if (::poll(&ready, 1, timeout_ms) <= 0) return false;
  alignas(inotify_event) std::array<char, 16384> events;
  const ssize_t size = ::read(descriptor_, events.data(), events.size());
  bool matters = false;
  for (ssize_t at = 0; at < size;) {
    const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    const std::string name = event->len > 0 ? event->name : "";
    const bool lost = (event->mask & IN_Q_OVERFLOW) != 0;  // whatever it was, it is over
    matters = matters || lost || std::ranges::find(files_, name) != files_.end();
  }
  return matters;
}

void FolderWatch::wait_for_save() {
  while (!drain(-1)) {
  }
  while (drain(kSettleMilliseconds)) {
  }
}

}  // namespace rooflab
