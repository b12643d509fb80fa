#pragma once

#include <string>
#include <string_view>

namespace rooflab {

/// Untrusted bytes as valid UTF-8: malformed sequences become U+FFFD; NUL and other control
/// characters except newline and tab become their visible pictures (U+2400 …), so that no terminal
/// acts on them.
std::string sanitize(std::string_view bytes);

/// sanitize(), then &, <, >, " and ' as HTML entities.
std::string escape_html(std::string_view bytes);

/// 12.3 ms, 1.05 us: three significant digits with the unit that suits.
std::string format_time_us(double microseconds);
/// 2.11 TFLOP/s for (2.11e12, "FLOP/s").
std::string format_si(double value, std::string_view unit);
/// 12 MiB, 1.5 GiB.
std::string format_bytes(double bytes);
/// "22" or "22.5": at most one decimal.
std::string format_points(double points);
/// "10.8 %".
std::string format_percent(double fraction);

}  // namespace rooflab
