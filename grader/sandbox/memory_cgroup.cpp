#include "grader/sandbox/memory_cgroup.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace rooflab {
namespace {

namespace fs = std::filesystem;

struct OwnGroup {
  fs::path directory;
  bool unified = false;
};

// Whether `word` is one of the words between commas.
bool lists(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string each; std::getline(words, each, ',');) {
    if (each == word) {
      return true;
    }
  }
  return false;
}

// Mount point of the memory controller, from the lines of /proc/self/mountinfo:
// "… <root> <mount point> <options> … - cgroup cgroup rw,memory"
fs::path mount_point(bool unified) {
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) {
      continue;
    }
    std::istringstream tail(line.substr(dash + 3));
    std::string type, source, options;
    tail >> type >> source >> options;
    const bool version1 = type == "cgroup" && lists(options, "memory");
    if (unified ? type != "cgroup2" : !version1) {
      continue;
    }
    std::istringstream head(line.substr(0, dash));
    std::string id, parent, device, root, point;
    head >> id >> parent >> device >> root >> point;
    return point;
  }
  return {};
}

// "4:memory:/path" in version 1, "0::/path" in version 2.
std::optional<OwnGroup> own_group() {
  std::ifstream file("/proc/self/cgroup");
  std::optional<OwnGroup> found;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 2);
    if (lists(controllers, "memory")) {
      return OwnGroup{mount_point(false) / path, false};
    }
    if (controllers.empty()) {
      found = OwnGroup{mount_point(true) / path, true};
    }
  }
  return found;
}

bool write_number(const fs::path& file, std::uint64_t number) {
  std::ofstream stream(file);
  stream << number << std::flush;
  return stream.good();
}

std::string unique_name() {
  static std::atomic<unsigned> counter{0};
  return "rooflab-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
}

}  // namespace

std::optional<MemoryCgroup> MemoryCgroup::make(std::uint64_t bytes) {
  const auto own = own_group();
  if (!own || own->directory.is_relative()) {
    return std::nullopt;
  }
  const fs::path directory = own->directory / unique_name();
  std::error_code error;
  if (!fs::create_directory(directory, error) || error) {
    return std::nullopt;
  }
  const bool capped =
      write_number(directory / (own->unified ? "memory.max" : "memory.limit_in_bytes"), bytes);
  // Without a cap on swap as well, the memory cap would only push pages out; not every kernel has
  // one.
  const fs::path swap =
      directory / (own->unified ? "memory.swap.max" : "memory.memsw.limit_in_bytes");
  if (fs::exists(swap, error)) {
    write_number(swap, own->unified ? 0 : bytes);
  }
  Descriptor join(open((directory / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!capped || !join.valid()) {
    rmdir(directory.c_str());
    return std::nullopt;
  }
  return MemoryCgroup(directory, std::move(join), own->unified);
}

MemoryCgroup::MemoryCgroup(MemoryCgroup&& other) noexcept
    : directory_(std::exchange(other.directory_, {})),
      join_(std::move(other.join_)),
      unified_(other.unified_) {}

MemoryCgroup::~MemoryCgroup() {
  if (directory_.empty()) {
    return;
  }
  // Reaped processes leave their group a moment later.
  for (int attempt = 0; attempt < 50 && rmdir(directory_.c_str()) != 0; ++attempt) {
    usleep(2000);
  }
}

bool MemoryCgroup::exceeded() const {
  std::ifstream file(directory_ / (unified_ ? "memory.events" : "memory.oom_control"));
  std::string key;
  for (std::uint64_t count = 0; file >> key >> count;) {
    if (key == "oom_kill") {
      return count > 0;
    }
  }
  return false;
}

}  // namespace rooflab
