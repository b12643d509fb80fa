#include "grader/sandbox/control_groups.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnified = "";  // version 2: one hierarchy for every controller

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

// Where the hierarchy of a controller is mounted, from the lines of /proc/self/mountinfo:
// "<id> <parent> <device> <root> <mount point> … - cgroup cgroup rw,memory"
fs::path mount_point(const std::string& controller) {
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) {
      continue;
    }
    std::istringstream tail(line.substr(dash + 3));
    std::string type, source, options;
    tail >> type >> source >> options;
    const bool wanted =
        controller == kUnified ? type == "cgroup2" : type == "cgroup" && lists(options, controller);
    if (wanted) {
      std::istringstream head(line.substr(0, dash));
      std::string id, parent, device, root, point;
      head >> id >> parent >> device >> root >> point;
      return point;
    }
  }
  return {};
}

// Our own group: "4:memory:/path" in version 1, "0::/path" in version 2.
std::optional<fs::path> own_group(const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller == kUnified ? controllers.empty() : lists(controllers, controller)) {
      const fs::path mount = mount_point(controller);
      return mount.empty() ? std::nullopt : std::optional(mount / line.substr(second + 2));
    }
  }
  return std::nullopt;
}

bool write_number(const fs::path& file, std::uint64_t number) {
  std::ofstream stream(file);
  stream << number << std::flush;
  return stream.good();
}

bool write_if_there(const fs::path& file, std::uint64_t number) {
  std::error_code error;
  return fs::exists(file, error) && write_number(file, number);
}

bool cap_memory(const fs::path& directory, bool unified, std::uint64_t bytes) {
  // Without a cap on swap as well the memory cap would only push pages out; not every kernel has
  // one.
  const bool capped =
      write_if_there(directory / (unified ? "memory.max" : "memory.limit_in_bytes"), bytes);
  write_if_there(directory / (unified ? "memory.swap.max" : "memory.memsw.limit_in_bytes"),
                 unified ? 0 : bytes);
  return capped;
}

std::string unique_name() {
  static std::atomic<unsigned> counter{0};
  return "rooflab-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
}

}  // namespace

bool ControlGroups::add(const fs::path& parent) {
  const fs::path directory = parent / unique_name();
  // A process that had our number and was killed has left its group behind.
  rmdir(directory.c_str());
  std::error_code error;
  if (!fs::create_directory(directory, error)) {
    return false;
  }
  Descriptor join(open((directory / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!join.valid()) {
    rmdir(directory.c_str());
    return false;
  }
  groups_.push_back({directory, std::move(join)});
  return true;
}

void ControlGroups::add_freezer() {
  const fs::path& directory = groups_.back().directory;
  std::string type;
  std::ifstream(directory / "cgroup.type") >> type;  // a threaded group takes no processes
  std::error_code error;
  if (type == "domain" && fs::exists(directory / "cgroup.freeze", error)) {
    freezer_ = directory / "cgroup.freeze";
  }
}

void ControlGroups::remove_last() {
  rmdir(groups_.back().directory.c_str());
  groups_.pop_back();
}

std::optional<ControlGroups> ControlGroups::make(std::uint64_t memory_bytes,
                                                 std::uint64_t processes) {
  ControlGroups made;
  const auto capped = [&made](const char* controller, std::uint64_t cap, auto set) {
    if (cap == 0) {
      return true;
    }
    const auto parent = own_group(controller);
    return parent && made.add(*parent) && set(made.groups_.back().directory);
  };
  const bool version1 = capped("memory", memory_bytes,
                               [&](const fs::path& directory) {
                                 return cap_memory(directory, false, memory_bytes);
                               }) &&
                        capped("pids", processes, [&](const fs::path& directory) {
                          return write_if_there(directory / "pids.max", processes);
                        });
  if (version1) {
    if (const auto parent = own_group(kUnified); parent && made.add(*parent)) {
      made.add_freezer();
      // A sandbox without a freezer is better than one whose program cannot join its group.
      if (!made.can_freeze()) made.remove_last();
    }
    return made;
  }
  ControlGroups unified;
  const auto parent = own_group(kUnified);
  if (!parent || !unified.add(*parent)) {
    return std::nullopt;
  }
  const fs::path& directory = unified.groups_.back().directory;
  if ((memory_bytes == 0 || cap_memory(directory, true, memory_bytes)) &&
      (processes == 0 || write_if_there(directory / "pids.max", processes))) {
    unified.add_freezer();
    return unified;
  }
  return std::nullopt;
}

ControlGroups::~ControlGroups() {
  for (const Group& group : groups_) {
    // Reaped processes leave their group a moment later.
    for (int attempt = 0; attempt < 50 && rmdir(group.directory.c_str()) != 0; ++attempt) {
      usleep(2000);
    }
  }
}

std::vector<int> ControlGroups::join_descriptors() const {
  std::vector<int> descriptors;
  for (const Group& group : groups_) {
    descriptors.push_back(group.join.get());
  }
  return descriptors;
}

// Whether a group has a file of "key number" lines in which the number at `key` is not zero.
bool ControlGroups::counted(const char* file, const char* key) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    std::ifstream stream(group.directory / file);
    std::string name;
    for (std::uint64_t count = 0; stream >> name >> count;) {
      if (name == key) {
        return count > 0;
      }
    }
    return false;
  });
}

bool ControlGroups::can_freeze() const { return !freezer_.empty(); }

bool ControlGroups::freeze(std::chrono::duration<double> patience) const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + patience;
  if (!write_number(freezer_, 1)) return false;
  while (!counted("cgroup.events", "frozen")) {
    if (Clock::now() > end) return false;
    usleep(100);
  }
  return true;
}

void ControlGroups::thaw() const { write_number(freezer_, 0); }

bool ControlGroups::memory_exceeded() const {
  return counted("memory.oom_control", "oom_kill") || counted("memory.events", "oom_kill");
}

bool ControlGroups::processes_exceeded() const { return counted("pids.events", "max"); }

}  // namespace rooflab
