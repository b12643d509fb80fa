#include "grader/spec/draws.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "grader/spec/keyed_hash.h"
#include "grader/spec/utf8.h"

namespace rooflab {
namespace {

constexpr std::size_t kLongestId = 100;  // bytes

/// Of ASCII, and those that UTF-8 writes as two bytes, C2 80 to C2 9F.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

/// Which of `count` values a text chooses. 64 bits of the hash for a few thousand values: no value
/// is more likely than another by more than one part in 10^15.
std::size_t chosen(const std::string& text, std::size_t count) {
  const Digest digest = sha256(text);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) word = word << 8 | digest[i];
  return static_cast<std::size_t>(word % count);
}

/// As prompts write numbers: whole ones from five digits on with commas.
std::string written(double number) {
  constexpr double kWithCommas = 10'000;
  constexpr double kLargestWhole = 1e15;
  if (number != std::floor(number) || std::abs(number) > kLargestWhole) {
    return fmt::format("{:.10g}", number);
  }
  std::string digits = fmt::format("{:.0f}", std::abs(number));
  if (std::abs(number) >= kWithCommas) {
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  }
  return (number < 0 ? "-" : "") + digits;
}

}  // namespace

std::optional<std::string> student_id(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  if (text.size() > kLongestId) return std::nullopt;
  std::string id;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || is_control(text.substr(0, length))) return std::nullopt;
    const char c = text.front();
    id += c >= 'A' && c <= 'Z' ? std::string(1, static_cast<char>(c - 'A' + 'a'))
                               : std::string(text.substr(0, length));
    text.remove_prefix(length);
  }
  return id;
}

NamedNumbers numbers_of(int part, const std::vector<Draw>& draws, const std::string& student) {
  NamedNumbers numbers;
  for (const Draw& draw : draws) {
    double& number = numbers[draw.name];
    number = draw.page;
    if (student.empty()) continue;
    // None but the last can hold a line break: no two of them are the same text.
    const std::string text =
        fmt::format("rooflab numbers 1\n{}\n{}\n{}\n{}", part, draw.question, draw.name, student);
    number = draw.values[chosen(text, draw.values.size())];
  }
  return numbers;
}

std::string with_numbers(std::string prompt, const NamedNumbers& numbers) {
  for (const auto& [name, number] : numbers) {
    const std::string place = "{" + name + "}";
    const std::string text = written(number);
    for (std::size_t at = prompt.find(place); at != std::string::npos;
         at = prompt.find(place, at + text.size())) {
      prompt.replace(at, place.size(), text);
    }
  }
  return prompt;
}

}  // namespace rooflab
