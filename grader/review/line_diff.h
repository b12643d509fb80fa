#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rooflab {

/// Where a line of a comparison is from.
enum class LineOrigin : std::uint8_t {
  both,
  starter,    ///< taken out of what was handed out
  submission  ///< written by the student
};

struct DiffLine {
  LineOrigin origin = LineOrigin::both;
  std::uint32_t line = 0;  ///< of the submission, from 1; 0 for one of the starter
  std::string_view text;   ///< without its end; points into what was compared
  bool operator==(const DiffLine&) const = default;
};

/// The lines of a text, without their ends, "\n" or "\r\n".
std::vector<std::string_view> lines_of(std::string_view text);

/// Both texts in one, line by line, with as few differences as there can be. Texts that have
/// hardly anything in common are not searched for it to the end: time and memory are bounded.
std::vector<DiffLine> diff_lines(std::string_view starter, std::string_view submission);

}  // namespace rooflab
