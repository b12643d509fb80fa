#include "grader/device/sanitizer/record.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>

#include "grader/device/sanitizer/findings.h"

namespace rooflab::sanitizer {
namespace {

constexpr std::string_view kPrefix = "=========";
constexpr std::size_t kLongestLine = 8192;
constexpr std::size_t kMostDetails = 64;
constexpr std::size_t kIndent = 3;  // blanks of a detail, or more; a head has one

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// "kernel(int *)+0x50", "kernel():0x160", "0x50": the function's part.
std::string function_in(std::string_view text) {
  for (const std::string_view mark : {"+0x", ":0x"}) {
    if (const std::size_t at = text.rfind(mark); at != std::string_view::npos) {
      text = text.substr(0, at);
      break;
    }
  }
  if (text.starts_with("0x")) return {};
  // "[clone kernel(int *)] function()": what the function was copied for.
  if (const std::size_t end = text.find("] ");
      text.starts_with("[clone ") && end != std::string_view::npos) {
    text = text.substr(end + 2);
  }
  return std::string(trimmed(text).substr(0, kLongestName));
}

/// "file.cu:34", or, as earlier versions have it, "file.cu:34:kernel(int *)".
bool take_file(std::string_view text, Place& place) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    const char* const begin = text.data() + colon + 1;
    const char* const end = text.data() + text.size();
    std::uint32_t line = 0;
    const auto [stop, error] = std::from_chars(begin, end, line);
    if (error != std::errc{} || (stop != end && *stop != ':' && *stop != ' ')) continue;
    if (colon == 0 || colon > kLongestName || line == 0) return false;
    place.file = std::string(text.substr(0, colon));
    place.line = line;
    if (stop != end && *stop == ':' && place.function.empty()) {
      place.function =
          function_in(std::string_view(stop + 1, static_cast<std::size_t>(end - stop - 1)));
    }
    return true;
  }
  return false;
}

}  // namespace

std::vector<Record> records_in(std::string_view text, std::size_t most) {
  text = text.substr(0, kMostBytes);
  std::vector<Record> records;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trimmed(text.substr(0, std::min(end, kLongestLine)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(kPrefix)) continue;
    line.remove_prefix(kPrefix.size());
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(blanks);
    if (line.empty()) continue;
    if (blanks < kIndent) {
      if (records.size() == most) break;
      records.push_back({.head = line, .details = {}});
    } else if (!records.empty() && records.back().details.size() < kMostDetails) {
      records.back().details.push_back(line);
    }
  }
  return records;
}

std::optional<std::string_view> detail(const Record& record, std::string_view start) {
  for (const std::string_view line : record.details) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return std::nullopt;
}

bool Scanner::word(std::string_view word) {
  if (!rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

bool Scanner::past(std::string_view word) {
  const std::size_t at = rest_.find(word);
  if (at == std::string_view::npos) return false;
  rest_.remove_prefix(at + word.size());
  return true;
}

std::optional<std::uint64_t> Scanner::number() {
  std::uint64_t value = 0;
  std::size_t taken = 0;
  const auto is_digit = [&](std::size_t i) {
    return i < rest_.size() && rest_[i] >= '0' && rest_[i] <= '9';
  };
  for (; is_digit(taken) || (taken > 0 && rest_.substr(taken, 1) == "," && is_digit(taken + 1));
       ++taken) {
    if (rest_[taken] == ',') continue;
    const auto digit = static_cast<std::uint64_t>(rest_[taken] - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return std::nullopt;
    value = 10 * value + digit;
  }
  if (taken == 0) return std::nullopt;
  rest_.remove_prefix(taken);
  return value;
}

std::optional<std::uint64_t> Scanner::address() {
  constexpr std::string_view kStart = "0x";
  if (!rest_.starts_with(kStart)) return std::nullopt;
  std::uint64_t value = 0;
  const char* const begin = rest_.data() + kStart.size();
  const auto [stop, error] = std::from_chars(begin, rest_.data() + rest_.size(), value, 16);
  if (error != std::errc{}) return std::nullopt;
  rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
  return value;
}

std::optional<simgpu::Dim3> Scanner::coordinates() {
  Scanner scanner = *this;
  simgpu::Dim3 place{0, 0, 0};
  std::uint32_t* const axes[] = {&place.x, &place.y, &place.z};
  std::string_view before = "(";
  for (std::uint32_t* axis : axes) {
    if (!scanner.word(before)) return std::nullopt;
    while (scanner.word(" ")) {
    }
    // No thousands here: "(1,024,0)" would be four numbers or three.
    std::uint32_t value = 0;
    const std::string_view text = scanner.rest_;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    scanner.rest_.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    *axis = value;
    before = ",";
  }
  if (!scanner.word(")")) return std::nullopt;
  *this = scanner;
  return place;
}

Place place_in(std::string_view text) {
  Place place;
  constexpr std::string_view kIn = " in ";
  const std::size_t in = text.rfind(kIn);
  place.function = function_in(text.substr(0, std::min(in, text.size())));
  if (in == std::string_view::npos || !take_file(text.substr(in + kIn.size()), place)) {
    place.file.clear();
    place.line = 0;
  }
  return place;
}

}  // namespace rooflab::sanitizer
