#include "labs/toolkit/profiler/json_text.h"

#include <cmath>
#include <cstdio>

namespace rooflab {
namespace {

/// Bytes of the well-formed UTF-8 sequence that begins the text, or 0 (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&byte](std::size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xBF; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned least = first == 0xE0 ? 0xA0 : 0x80;  // shorter forms of the same letter
    const unsigned most = first == 0xED ? 0x9F : 0xBF;   // surrogates
    return byte(1) >= least && byte(1) <= most && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned least = first == 0xF0 ? 0x90 : 0x80;
    const unsigned most = first == 0xF4 ? 0x8F : 0xBF;  // beyond the last letter
    return byte(1) >= least && byte(1) <= most && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

void JsonText::value(double number) {
  separate();
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.15g", std::isfinite(number) ? number : 0.0);
  for (char& letter : digits) {
    if (letter == ',') letter = '.';  // some locales
  }
  text_ += digits.data();
}

void JsonText::time(std::string_view name, std::int64_t nanoseconds) {
  key(name);
  separate();
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%lld.%03d",
                static_cast<long long>(nanoseconds / 1000), static_cast<int>(nanoseconds % 1000));
  text_ += digits.data();
}

void JsonText::quote(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0) {
      text_ += "\xEF\xBF\xBD";  // U+FFFD, the replacement character
    } else if (first == '"' || first == '\\') {
      text_ += '\\';
      text_ += text.front();
    } else if (first < 0x20 || first == 0x7F) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(first));
      text_ += escape.data();
    } else {
      text_ += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  text_ += '"';
}

}  // namespace rooflab
