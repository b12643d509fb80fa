#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/codes/finding_kind.h"
#include "simgpu/codes/launch_status.h"

namespace simgpu {

/// What it means to be told a code.
enum class CodeRole : std::uint8_t {
  fault,    ///< names what is wrong
  symptom,  ///< names what a run came to: several mistakes lead there
  advice,   ///< finds no fault: tells what makes a right answer slow, or how it may be made better
};

/// A diagnosis code, "RL0301": docs/design/codes.md. Those that are written down in a program are
/// checked when it is compiled; what comes from elsewhere goes through `parse`.
class Code {
 public:
  /// The grader's own fault, until somebody says better.
  constexpr Code() = default;
  /// Of a literal. One that is in no range of codes does not compile.
  consteval Code(const char (&text)[7]) : number_(number_in({text, 6})) {  // NOLINT(*-explicit-*)
    if (!is_code(number_)) throw "no such code: see simgpu/codes/table.h";
  }
  /// The code of that spelling; nothing when there is none.
  static std::optional<Code> parse(std::string_view text);
  static std::optional<Code> of_number(std::uint16_t number);

  constexpr std::uint16_t number() const { return number_; }
  std::string text() const;  ///< "RL0301"

  /// A clause in lower case that says nothing of a program's names and sizes.
  const char* meaning() const;
  CodeRole role() const;
  /// Of what devices find; nothing of all other codes.
  std::optional<FindingKind> kind() const;
  /// How a launch ends that cannot go on after it; ok where launches go on.
  LaunchStatus status() const;
  const char* help() const;  ///< what to do about it, a sentence; empty where that depends
  const char* note() const;  ///< what to know when a real GPU seems to disagree; may be empty

  auto operator<=>(const Code&) const = default;

 private:
  explicit constexpr Code(std::uint16_t number) : number_(number) {}

  struct Range {
    std::uint16_t first, last;
  };
  /// Of a course's own parts, which may take any of these.
  static constexpr Range kCourses{700, 799};
  /// All others that there are; the table has a row for each.
  static constexpr std::array kRanges{
      Range{101, 101}, Range{201, 211}, Range{301, 321}, Range{325, 325}, Range{401, 499},
      Range{501, 544}, Range{550, 556}, Range{590, 599}, Range{601, 618}, Range{901, 902}};
  friend struct CodeTable;

  static constexpr std::uint16_t kNone = 0;
  /// 301 of "RL0301"; kNone of what is not spelled so.
  static constexpr std::uint16_t number_in(std::string_view text) {
    if (text.size() != 6 || text[0] != 'R' || text[1] != 'L') return kNone;
    std::uint16_t number = 0;
    for (const char digit : text.substr(2)) {
      if (digit < '0' || digit > '9') return kNone;
      number = static_cast<std::uint16_t>(10 * number + (digit - '0'));
    }
    return number;
  }
  static constexpr bool is_code(std::uint16_t number) {
    const auto is_in = [&](const Range& range) {
      return range.first <= number && number <= range.last;
    };
    for (const Range& range : kRanges) {
      if (is_in(range)) return true;
    }
    return is_in(kCourses);
  }

  std::uint16_t number_ = 901;
};

/// All codes but those of courses, in order.
std::vector<Code> all_codes();

/// For messages of tests.
void PrintTo(const Code& code, std::ostream* out);

}  // namespace simgpu
