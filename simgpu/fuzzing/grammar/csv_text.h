#pragma once

#include <span>
#include <string>
#include <string_view>

#include "simgpu/fuzzing/grammar/choices.h"

namespace simgpu::fuzzing {

/// Tables as spreadsheets save them (RFC 4180), or nearly.
/// @param headings that the reader knows
inline std::string csv_text(Choices& choices, std::span<const std::string_view> headings) {
  constexpr std::size_t kLongest = 1U << 16;
  const std::string delimiter(choices.of({",", ";", "\t"}));
  const std::string end(choices.of({"\n", "\r\n", "\r"}));
  std::string text(choices.of({"", "", "\xEF\xBB\xBF", "sep=;\n", "\xFF\xFE", "\n\n"}));
  const std::size_t columns = choices.below(8) + 1;
  const auto field = [&](bool is_heading) {
    std::string value = is_heading && !headings.empty() && !choices.rarely(8)
                            ? std::string(choices.of(headings))
                            : awkward_text(choices, 1U << 12);
    if (!choices.coin()) return value;
    if (choices.rarely(16)) return "\"" + value;  // with quotes of its own, or never closed
    std::string quoted = "\"";
    for (const char c : value) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
  };
  for (bool is_heading = true; is_heading || (!choices.is_empty() && text.size() < kLongest);
       is_heading = false) {
    const std::size_t here = choices.rarely(8) ? choices.count(1U << 10) : columns;
    for (std::size_t i = 0; i < here; ++i) text += (i > 0 ? delimiter : "") + field(is_heading);
    text += end;
  }
  return text;
}

}  // namespace simgpu::fuzzing
