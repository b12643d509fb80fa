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
  return kUnknown;
}

}  // namespace rooflab::mutation
