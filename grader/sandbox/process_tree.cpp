#include "grader/sandbox/process_tree.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

namespace rooflab {
namespace {

namespace fs = std::filesystem;

fs::path proc(pid_t process) { return fs::path("/proc") / std::to_string(process); }

bool children_files_exist() {
  static const bool exist =
      std::ifstream(proc(getpid()) / "task" / std::to_string(getpid()) / "children").good();
  return exist;
}

void append_children(pid_t parent, std::vector<pid_t>& found) {
  std::error_code error;
  for (fs::directory_iterator task(proc(parent) / "task", error), end; !error && task != end;
       task.increment(error)) {
    std::ifstream children(task->path() / "children");
    for (pid_t child = 0; children >> child;) {
      found.push_back(child);
    }
  }
}

// Parent of a process from /proc/<pid>/stat: the second word after the last ')', since names hold
// anything.
pid_t parent_of(const fs::path& directory) {
  std::ifstream file(directory / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t close = line.rfind(')');
  if (close == std::string::npos || close + 4 >= line.size()) {
    return 0;
  }
  pid_t parent = 0;
  std::from_chars(line.data() + close + 4, line.data() + line.size(), parent);
  return parent;
}

// Every process of the machine by its parent.
std::multimap<pid_t, pid_t> all_by_parent() {
  std::multimap<pid_t, pid_t> result;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ec == std::errc{}) {
      result.emplace(parent_of(entry->path()), process);
    }
  }
  return result;
}

// "RssAnon:      1234 kB" -> 1234
std::uint64_t number_in(std::string_view line) {
  const std::size_t digit = line.find_first_of("0123456789");
  std::uint64_t value = 0;
  if (digit != std::string_view::npos) {
    std::from_chars(line.data() + digit, line.data() + line.size(), value);
  }
  return value;
}

/// Whether one of its descriptors is the end of this pipe that is written to.
bool can_write_to(pid_t process, const struct stat& pipe) {
  std::error_code error;
  for (fs::directory_iterator entry(proc(process) / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat link {};
    struct stat target {};
    if (lstat(entry->path().c_str(), &link) != 0 || stat(entry->path().c_str(), &target) != 0) {
      continue;
    }
    const bool is_writable = (link.st_mode & S_IWUSR) != 0;  // how it was opened
    if (is_writable && target.st_dev == pipe.st_dev && target.st_ino == pipe.st_ino) return true;
  }
  return false;
}

void signal_all(const std::vector<pid_t>& processes, int signal) {
  for (const pid_t process : processes) {
    kill(process, signal);
  }
}

}  // namespace

std::vector<pid_t> descendants(pid_t root) {
  std::vector<pid_t> found;
  if (children_files_exist()) {
    append_children(root, found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const pid_t parent = found[i];
      append_children(parent, found);
    }
    return found;
  }
  const auto by_parent = all_by_parent();
  std::vector<pid_t> parents{root};
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const auto [first, last] = by_parent.equal_range(parents[i]);
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      parents.push_back(child->second);
    }
  }
  return found;
}

TreeUsage usage_of(const std::vector<pid_t>& processes) {
  TreeUsage usage;
  for (const pid_t process : processes) {
    std::ifstream status(proc(process) / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("RssAnon:")) {
        usage.anonymous_bytes += number_in(line) * 1024;
      } else if (line.starts_with("RssShmem:")) {
        usage.shared_bytes += number_in(line) * 1024;
      } else if (line.starts_with("RssFile:")) {
        usage.file_bytes += number_in(line) * 1024;
      } else if (line.starts_with("Threads:")) {
        usage.threads += number_in(line);
        break;  // follows the memory lines
      }
    }
  }
  return usage;
}

void kill_descendants(pid_t root) {
  // Stopped processes cannot fork, so a stop first keeps a fork bomb from outrunning the signals.
  // Dead ones are listed until their parents reap them, hence the bound: what can still be seen
  // then is dying.
  std::vector<pid_t> before;
  for (int pass = 0; pass < 200; ++pass) {
    const std::vector<pid_t> found = descendants(root);
    if (found.empty()) {
      return;
    }
    signal_all(found, SIGSTOP);
    signal_all(found, SIGKILL);
    if (found == before) {
      usleep(2000);
    }
    before = found;
  }
}

void kill_writers(int pipe) {
  struct stat own {};
  if (fstat(pipe, &own) != 0) return;
  for (const auto& [parent, process] : all_by_parent()) {
    if (parent == getpid() || process == getpid() || !can_write_to(process, own)) continue;
    kill(process, SIGKILL);
  }
}

}  // namespace rooflab
