#include "grader/batch/outputs/count_bar.h"

#include <fmt/format.h>

#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr double kWidth = 160, kHeight = 14;

std::string rectangle(BarPart part, double x, double width) {
  const char* look = "";
  switch (part) {
    case BarPart::right:
      look = "class=\"right\"";
      break;
    case BarPart::almost:
      look = "fill=\"url(#bar-almost)\"";
      break;
    case BarPart::wrong:
      look = "fill=\"url(#bar-wrong)\"";
      break;
    case BarPart::none:
      return {};
  }
  return fmt::format(R"(<rect {} x="{:.1f}" y="1" width="{:.1f}" height="{:.0f}"/>)", look, x,
                     width, kHeight - 2);
}

std::string frame(double width) {
  return fmt::format(
      R"(<rect class="frame" x="0.5" y="0.5" width="{:.1f}" height="{:.1f}"/></svg>)", width - 1,
      kHeight - 1);
}

std::string opening(double width, const std::string& words) {
  return fmt::format(
      R"(<svg class="counts" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}"><title>{}</title>)",
      width, kHeight, words, words);
}

/// Diagonal lines for what is wrong, dots of a line for what is nearly right.
constexpr const char* kPatterns =
    R"(<defs><pattern id="bar-wrong" width="6" height="6" patternUnits="userSpaceOnUse">)"
    R"(<rect class="wrong-ground" width="6" height="6"/>)"
    R"(<path class="wrong-lines" d="M-1 1L1 -1M0 6L6 0M5 7L7 5" stroke-width="2"/></pattern>)"
    R"(<pattern id="bar-almost" width="4" height="4" patternUnits="userSpaceOnUse">)"
    R"(<rect class="almost-ground" width="4" height="4"/>)"
    R"(<path class="almost-lines" d="M1 0L1 4" stroke-width="2"/></pattern></defs>)";

}  // namespace

std::string count_bar(const std::string& words, const std::vector<BarStretch>& stretches) {
  double all = 0;
  for (const BarStretch& stretch : stretches) all += static_cast<double>(stretch.count);
  std::string bar = opening(kWidth, escape_html(one_line(words)));
  double x = 0;
  for (const BarStretch& stretch : stretches) {
    if (stretch.count == 0) continue;
    const double width = kWidth * static_cast<double>(stretch.count) / all;
    bar += rectangle(stretch.part, x, width);
    x += width;
  }
  return bar + frame(kWidth);
}

std::string bar_legend() {
  constexpr double kSwatch = 38;
  const auto item = [&](BarPart part, const char* words, const char* patterns = "") {
    return "<li>" + opening(kSwatch, words) + patterns + rectangle(part, 0, kSwatch) +
           frame(kSwatch) + words + "</li>";
  };
  return "<ul class=\"legend\">" + item(BarPart::right, "right, passed", kPatterns) +
         item(BarPart::almost, "right in another unit") + item(BarPart::wrong, "wrong, failed") +
         item(BarPart::none, "not answered, the rest") + "</ul>\n";
}

}  // namespace rooflab
