#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "grader/batch/fingerprint.h"
#include "grader/batch/outputs/write_outputs.h"

namespace rooflab {
namespace {

constexpr std::size_t kLongestStem = 80;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/// Names of devices on Windows, with any extension.
bool is_reserved(const std::string& key) {
  const std::string name = key.substr(0, key.find('.'));
  if (name.size() == 4 && (name.starts_with("com") || name.starts_with("lpt"))) return true;
  static constexpr std::array<std::string_view, 4> kDevices{"con", "prn", "aux", "nul"};
  return std::find(kDevices.begin(), kDevices.end(), name) != kDevices.end();
}

/// Lower case alone: some file systems know no other.
bool is_safe(const std::string& key) {
  return !key.empty() && key.size() <= kLongestStem &&
         std::all_of(key.begin(), key.end(), is_plain) && key.front() != '.' &&
         key.front() != '-' && key.back() != '.' && !is_reserved(key);
}

}  // namespace

// A tilde is in no safe key, so what is made safe never takes the name of what was so already.
std::string file_stem(const std::string& student_key) {
  if (is_safe(student_key)) return student_key;
  constexpr std::size_t kKept = 32, kHashDigits = 32;
  std::string kept;
  for (const char character : student_key.substr(0, kKept)) {
    const char lower =
        character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
    kept += is_plain(lower) ? lower : '_';
  }
  // Neither hidden nor taken for an option.
  const bool begins_badly = kept.empty() || kept.front() == '.' || kept.front() == '-';
  return fmt::format("{}{}~{}", begins_badly ? "_" : "", kept,
                     sha256_hex(student_key).substr(0, kHashDigits));
}

}  // namespace rooflab
