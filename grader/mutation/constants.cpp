#include "grader/mutation/constants.h"

#include <cctype>
#include <charconv>
#include <limits>

namespace rooflab::mutation {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double value_of_literal(const std::string& spelling) {
  std::string digits;
  for (const char c : spelling) {
    if (c != '\'') digits += c;
  }
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return read.ec == std::errc() ? value : kUnknown;
}

/// Of a `#define NAME 32` on a line of its own; directives are no tokens.
double value_of_macro(const std::string& name, const std::string& text) {
  const std::string begin = "#define " + name;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    std::size_t first = at + begin.size();
    const std::size_t blanks = first;
    while (first < text.size() && (text[first] == ' ' || text[first] == '\t')) ++first;
    std::size_t last = first;
    while (last < text.size() && std::isspace(static_cast<unsigned char>(text[last])) == 0) ++last;
    const std::size_t behind = text.find_first_not_of(" \t\r", last);
    const bool is_alone =
        behind == std::string::npos || text[behind] == '\n' || text.compare(behind, 2, "//") == 0;
    if (first > blanks && last > first && is_alone) {
      return value_of_literal(text.substr(first, last - first));
    }
  }
  return kUnknown;
}

}  // namespace

double value_of(const std::string& spelling, const Code& code) {
  if (spelling.empty()) return kUnknown;
  const char first = spelling.front();
  if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '.') {
    return value_of_literal(spelling);
  }
  for (std::size_t i = 0; i + 2 < code.size(); ++i) {
    const bool is_definition = code.is(i, spelling) && code.is(i + 1, "=") &&
                               code.at(i + 2).kind == CodeToken::Kind::number &&
                               code.is(i + 3, ";");
    if (is_definition) return value_of_literal(code.at(i + 2).text);
  }
  return value_of_macro(spelling, code.text());
}

}  // namespace rooflab::mutation
