#include "grader/sandbox/hidden_files.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "grader/sandbox/proc_words.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

struct File {
  std::uint64_t bytes = 0;
  bool in_memory = false;
};
using Files = std::map<std::pair<dev_t, ino_t>, File>;

void note(Files& files, dev_t device, ino_t inode, File file) {
  File& known = files[{device, inode}];
  known.bytes = std::max(known.bytes, file.bytes);
  known.in_memory = known.in_memory || file.in_memory;
}

void note_open_files(const fs::path& process, Files& files) {
  std::error_code error;
  for (fs::directory_iterator entry(process / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat status {};
    // Its type first: asking a file system of somebody's device for its kind could take long.
    if (::stat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_nlink > 0) {
      continue;
    }
    struct statfs system {};
    const bool in_memory =
        ::statfs(entry->path().c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
    note(files, status.st_dev, status.st_ino,
         {static_cast<std::uint64_t>(status.st_blocks) * 512, in_memory});
  }
}

std::uint64_t number(std::string_view digits, int base) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return value;
}

/// "first-last perms offset major:minor inode   name (deleted)", numbers but the inode hexadecimal
void note_mapping(std::string_view line, Files& files) {
  if (!line.ends_with(kRemoved)) return;
  const std::string_view range = next_word(line);
  const std::string_view rights = next_word(line);
  const std::uint64_t offset = number(next_word(line), 16);
  const std::string_view device = next_word(line);
  const ino_t inode = number(next_word(line), 10);
  const std::size_t dash = range.find('-'), colon = device.find(':');
  if (rights.size() < 4 || dash == range.npos || colon == device.npos || inode == 0) return;
  const std::uint64_t bytes =
      number(range.substr(dash + 1), 16) - number(range.substr(0, dash), 16);
  // Memory shared with nobody by name is a removed file /dev/zero.
  const std::string_view name = line.substr(std::min(line.find('/'), line.size()));
  const bool in_memory = name.starts_with("/memfd:") || name.starts_with("/dev/zero") ||
                         name.starts_with("/dev/shm/") || name.starts_with("/SYSV");
  note(files,
       makedev(static_cast<unsigned>(number(device.substr(0, colon), 16)),
               static_cast<unsigned>(number(device.substr(colon + 1), 16))),
       inode, {offset + bytes, in_memory});
}

void note_mapped_files(const fs::path& process, Files& files) {
  std::ifstream maps(process / "maps");
  for (std::string line; std::getline(maps, line);) note_mapping(line, files);
}

}  // namespace

HiddenFiles hidden_files_of(const std::vector<pid_t>& processes) {
  Files files;
  for (const pid_t process : processes) {
    const fs::path folder = fs::path("/proc") / std::to_string(process);
    note_open_files(folder, files);
    note_mapped_files(folder, files);
  }
  HiddenFiles hidden;
  for (const auto& [place, file] : files) {
    (file.in_memory ? hidden.memory_bytes : hidden.disk_bytes) += file.bytes;
  }
  return hidden;
}

}  // namespace rooflab
