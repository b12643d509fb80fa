#include "labs/toolkit/plot/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

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
  std::string text = fixed(value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string three_digits(double value) {
  if (value == 0) return "0";
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (exponent < -4 || exponent > 5) {
    Digits digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                   std::chars_format::scientific, 2);
    return std::string(digits.data(), end.ptr);
  }
  return fixed(value, std::max(0, 2 - exponent));
}

std::string with_prefix(double value, std::string_view unit) {
  const Scaled part = scaled(value);
  return three_digits(part.number) + " " + part.prefix + std::string(unit);
}

std::string tick_number(double value) {
  Digits digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::general, 5);
  return std::string(digits.data(), end.ptr);
}

std::string tick_with_prefix(double value) {
  const Scaled part = scaled(value);
  return tick_number(part.number) + (part.prefix.empty() ? "" : " " + part.prefix);
}

}  // namespace rooflab::plot
