#include "grader/sandbox/driver_memory.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "grader/sandbox/proc_words.h"

namespace rooflab {
namespace {

/// "7f52c0000000-7f52c4000000": no key of the lines below a mapping begins with such a word.
bool is_range(std::string_view word) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::size_t dash = word.find('-');
  return dash != word.npos && dash > 0 && dash + 1 < word.size() &&
         word.substr(0, dash).find_first_not_of(kDigits) == word.npos &&
         word.substr(dash + 1).find_first_not_of(kDigits) == word.npos;
}

/// Whether a mapping of this name is the host's memory. A name is the rest of its line, whatever it
/// holds, but for a newline, which the kernel writes as \012.
bool is_of_driver(std::string_view name) {
  if (name.ends_with(kRemoved)) name.remove_suffix(kRemoved.size());
  return name == "/dev/nvidiactl" || name == "/dev/nvidia-uvm";
}

/// "range rights offset device inode   name" -> name
std::string_view name_in(std::string_view rest) {
  for (int word = 0; word < 4; ++word) next_word(rest);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

/// "Rss:      1234 kB" -> bytes
std::uint64_t bytes_in(std::string_view line) {
  next_word(line);
  const std::string_view digits = next_word(line);
  std::uint64_t kibibytes = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), kibibytes);
  return kibibytes * 1024;
}

}  // namespace

std::uint64_t driver_memory_in(std::istream& smaps) {
  std::uint64_t bytes = 0;
  bool of_driver = false;
  for (std::string line; std::getline(smaps, line);) {
    std::string_view rest = line;
    if (is_range(next_word(rest))) {
      of_driver = is_of_driver(name_in(rest));
    } else if (of_driver && line.starts_with("Rss:")) {
      bytes += bytes_in(line);
    }
  }
  return bytes;
}

std::uint64_t driver_memory_of(const std::vector<pid_t>& processes) {
  std::uint64_t bytes = 0;
  for (const pid_t process : processes) {
    std::ifstream smaps(std::filesystem::path("/proc") / std::to_string(process) / "smaps");
    bytes += driver_memory_in(smaps);
  }
  return bytes;
}

}  // namespace rooflab
