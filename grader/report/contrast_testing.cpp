#include "grader/report/contrast_testing.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

using Palette = std::map<std::string, std::string>;  ///< name -> "#1c2126"

constexpr double kLeastContrast = 4.5;

/// A hexadecimal digit or two of a colour, from 0 to 1 and linear, as WCAG defines it.
double channel(const std::string& colour, std::size_t index) {
  const bool is_short = colour.size() == 4;
  const std::string digits =
      is_short ? std::string(2, colour[1 + index]) : colour.substr(1 + 2 * index, 2);
  const double value = std::stoi(digits, nullptr, 16) / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(const std::string& colour) {
  return 0.2126 * channel(colour, 0) + 0.7152 * channel(colour, 1) + 0.0722 * channel(colour, 2);
}

double contrast(const std::string& one, const std::string& other) {
  const double a = luminance(one), b = luminance(other);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

void read_palette(const std::string& block, Palette& palette) {
  static const Pattern kColour(R"(--([a-z]+):\s*(#[0-9a-f]{3}(?:[0-9a-f]{3})?))");
  for (const auto& found : kColour.all(block)) palette[found.groups[1]] = found.groups[2];
}

std::set<std::string> used(const std::string& css, const char* form) {
  std::set<std::string> names;
  for (const auto& found : Pattern(form).all(css)) names.insert(found.groups[1]);
  return names;
}

}  // namespace

std::vector<std::string> contrast_faults(const std::string& css) {
  static const Pattern kRoot(R"((prefers-color-scheme:dark\)\{)?:root\{([^}]*)\})");
  Palette light, dark;
  std::string rest;
  std::size_t behind = 0;
  for (const auto& found : kRoot.all(css)) {
    read_palette(found.groups[2], found.groups[1].empty() ? light : dark);
    rest += css.substr(behind, found.begin - behind);
    behind = found.end;
  }
  rest += css.substr(behind);
  std::vector<std::string> faults;
  static const Pattern kColours(R"(#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\()");
  for (const auto& found : kColours.all(rest)) {
    faults.push_back(fmt::format("{} stands outside of :root", found.groups[0]));
  }
  for (const std::string& text : used(rest, R"([{;]color:var\(--([a-z]+)\))")) {
    for (const std::string& ground : used(rest, R"(background:var\(--(paper|panel|new|gone)\))")) {
      for (const auto& [name, palette] : {std::pair("light", &light), std::pair("dark", &dark)}) {
        if (!palette->contains(text) || !palette->contains(ground)) {
          faults.push_back(fmt::format("{}: there is no {} or no {}", name, text, ground));
          continue;
        }
        const double ratio = contrast(palette->at(text), palette->at(ground));
        if (ratio < kLeastContrast) {
          faults.push_back(fmt::format("{}: {} on {} has {:.2f}", name, text, ground, ratio));
        }
      }
    }
  }
  return faults;
}

}  // namespace rooflab
