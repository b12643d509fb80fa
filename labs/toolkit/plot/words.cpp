#include "labs/toolkit/plot/words.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace rooflab::plot {
namespace {

// As long as the longest double without an exponent, with its sign and decimals.
using Digits = std::array<char, 400>;

std::string fixed(double value, int decimals) {
  Digits digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, decimals);
  return std::string(digits.data(), end.ptr);
}

/// 2 for 2.00, 2e+07 for 2.00e+07.
std::string without_trailing_zeros(const std::string& number) {
  if (number.find('.') == std::string::npos) return number;
  const std::size_t exponent = std::min(number.find('e'), number.size());
  std::string mantissa = number.substr(0, exponent);
  mantissa.erase(mantissa.find_last_not_of('0') + 1);
  if (mantissa.back() == '.') mantissa.pop_back();
  return mantissa + number.substr(exponent);
}

constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P", "E", "Z"};

/// A value as a number below 1000, where there is a prefix that makes it one.
struct Scaled {
  double number;
  std::string prefix;
};

Scaled scaled(double value) {
  std::size_t prefix = 0;
  // 999.5 would be written as 1000: the next prefix suits it.
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return {value, kPrefixes[prefix]};
}

}  // namespace

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string shortest(double value) {
  Digits digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return std::string(digits.data(), end.ptr);
}

std::string rounded(double value, int decimals) {
  const std::string text = without_trailing_zeros(fixed(value, decimals));
  return text == "-0" ? "0" : text;
}

std::string three_digits(double value) {
  if (value == 0) return "0";
  Digits digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::scientific, 2);
  std::string scientific(digits.data(), end.ptr);
  // Of the rounded number: 0.9996 is written as 1.00.
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  if (exponent < -4 || exponent > 5) return scientific;
  return fixed(value, std::max(0, 2 - exponent));
}

std::string with_prefix(double value, std::string_view unit) {
  const Scaled part = scaled(value);
  return three_digits(part.number) + " " + part.prefix + std::string(unit);
}

std::string brief(double value) { return without_trailing_zeros(three_digits(value)); }

std::string brief_with_prefix(double value) {
  const Scaled part = scaled(value);
  return brief(part.number) + (part.prefix.empty() ? "" : " " + part.prefix);
}

}  // namespace rooflab::plot
