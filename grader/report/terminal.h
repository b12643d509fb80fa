#pragma once

#include <ostream>
#include <string>

#include "grader/spec/result.h"

namespace rooflab {

/// What to show and how.
struct TerminalStyle {
  bool colour = false;          ///< only on a terminal
  std::string html;             ///< path of the written report, shown in the last line; empty for none
};

/// The whole report of a grade: stories of failures, then one line a task and the totals.
void print_report(std::ostream& out, const GradeResult& result, const TerminalStyle& style);

/// One failure as a story.
void print_story(std::ostream& out, const Diagnostic& diagnostic, bool colour);

/// Untrusted text made safe for a terminal: control and escape characters shown as \xNN, invalid UTF-8
/// replaced.
std::string printable(const std::string& text);

/// 0.01234 s as "12.3 ms", 2.1e12 FLOP/s as "2.10 TFLOP/s".
std::string format_time_us(double microseconds);
std::string format_rate(double per_second, const std::string& unit);
std::string format_bytes(double bytes);
/// "22" or "22.5": points without a useless fraction.
std::string format_points(double points);

}  // namespace rooflab
