#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

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

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

/// 128 bits; write_outputs() refuses two students with one stem, should somebody ever make a key to
/// that end.
std::string hash_of(const std::string& key) {
  std::uint64_t low = 0x9e3779b97f4a7c15U, high = key.size();
  for (const char character : key) {
    low = mixed(low ^ static_cast<unsigned char>(character));
    high = mixed(high + low);
  }
  return fmt::format("{:016x}{:016x}", low, high);
}

}  // namespace

// A tilde is in no safe key, so what is made safe never takes the name of what was so already.
std::string file_stem(const std::string& student_key) {
  if (is_safe(student_key)) return student_key;
  constexpr std::size_t kKept = 32;
  std::string kept;
  for (const char character : student_key.substr(0, kKept)) {
    const char lower =
        character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
    kept += is_plain(lower) ? lower : '_';
  }
  // Neither hidden nor taken for an option.
  const bool begins_badly = kept.empty() || kept.front() == '.' || kept.front() == '-';
  return fmt::format("{}{}~{}", begins_badly ? "_" : "", kept, hash_of(student_key));
}

}  // namespace rooflab
