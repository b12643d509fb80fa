#include "labs/toolkit/profiler/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace rooflab {
namespace {

constexpr std::size_t kWidestName = 56;

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// A name for a terminal: control characters could move its cursor.
std::string shown(const std::string& name) {
  std::string text = name;
  std::ranges::replace_if(
      text, [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F; },
      '?');
  if (text.size() <= kWidestName) return text;
  std::size_t end = kWidestName - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // whole letters
  return text.substr(0, end) + "...";
}

/// Letters, not bytes, of UTF-8.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char letter) { return (static_cast<unsigned char>(letter) & 0xC0) != 0x80; }));
}

}  // namespace

std::string TextTable::text() const {
  std::vector<std::vector<std::string>> lines = lines_;
  std::vector<std::size_t> widths(lines.front().size());
  for (auto& line : lines) {
    line.front() = shown(line.front());
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], width_of(line[i]));
  }
  std::size_t whole = 2 * (widths.size() - 1);
  for (const std::size_t width : widths) whole += width;
  const std::string rule = std::string(whole, '-') + "\n";
  std::string text = rule;
  for (std::size_t row = 0; row < lines.size(); ++row) {
    for (std::size_t i = 0; i < lines[row].size(); ++i) {
      const std::string space(widths[i] - width_of(lines[row][i]), ' ');
      if (i > 0) text += "  " + space;
      text += lines[row][i];
      if (i == 0) text += space;
    }
    text += "\n";
    if (row == 0) text += rule;
  }
  return text + rule;
}

std::string time_text(double microseconds) {
  constexpr double kMillisecond = 1e3, kSecond = 1e6;
  if (microseconds >= kSecond) return formatted("%.3fs", microseconds / kSecond);
  if (microseconds >= kMillisecond) return formatted("%.3fms", microseconds / kMillisecond);
  return formatted("%.3fus", microseconds);
}

std::string share_text(double part, double whole) {
  return whole > 0 && std::isfinite(part) ? formatted("%.2f %%", part / whole * 100) : "-";
}

std::string memory_text(std::int64_t bytes) {
  constexpr std::array kUnits{"Kb", "Mb", "Gb"};
  double amount = static_cast<double>(bytes);
  if (std::fabs(amount) < 1024) return std::to_string(bytes) + " b";
  std::size_t unit = 0;
  amount /= 1024;
  for (; std::fabs(amount) >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return formatted("%.2f %s", amount, kUnits.at(unit));
}

std::string amount_text(double amount) {
  constexpr std::array kUnits{"", " K", " M", " G", " T", " P"};
  if (!(amount > 0)) return "-";
  std::size_t unit = 0;
  for (; amount >= 999.5 && unit + 1 < kUnits.size(); ++unit) amount /= 1000;
  return formatted("%.3g%s", amount, kUnits.at(unit));
}

}  // namespace rooflab
