#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace rooflab::plot {

/// One text of several.
std::string joined(std::initializer_list<std::string_view> parts);

/// The fewest digits that read back as the same number: 0.1, 1.555e+12.
std::string shortest(double value);
/// With this many decimals at most, without trailing zeros: 12.5, 3.
std::string rounded(double value, int decimals);
/// Three significant digits and a decimal prefix: "19.5 TFLOP/s" for (19.5e12, "FLOP/s").
std::string with_prefix(double value, std::string_view unit);
/// Three significant digits: 0.0833, 12.5, 1370.
std::string three_digits(double value);
/// The same without trailing zeros, for ticks: 0.01, 5, 1000; with a prefix "10 G".
std::string brief(double value);
std::string brief_with_prefix(double value);

}  // namespace rooflab::plot
