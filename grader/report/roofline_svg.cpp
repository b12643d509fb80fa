#include "grader/report/roofline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr double kWidth = 760, kHeight = 460;
constexpr double kLeft = 84, kRight = 24, kTop = 24, kBottom = 52;
constexpr double kLabelHeight = 15, kCharacterWidth = 6.6;

/// A logarithmic axis from 10^low to 10^high over [from, to] pixels.
class LogAxis {
 public:
  LogAxis(int low, int high, double from, double to)
      : low_(low), high_(high), from_(from), to_(to) {}
  double at(double value) const {
    const double exponent =
        value > 0 ? std::clamp(std::log10(value), double(low_), double(high_)) : low_;
    return from_ + (exponent - low_) / (high_ - low_) * (to_ - from_);
  }
  /// Pixels of one power of ten.
  double decade() const { return std::abs(to_ - from_) / (high_ - low_); }
  int low() const { return low_; }
  int high() const { return high_; }

 private:
  int low_, high_;
  double from_, to_;
};

struct Axes {
  LogAxis x, y;
};

/// x spans two decades left of the lowest ridge and one and a half right of the highest; y follows
/// the roof, and reaches down to the lowest point or target.
Axes axes_of(const RooflinePlot& plot) {
  double lowest = INFINITY, highest = 0;
  for (const Roof& roof : plot.roofs) {
    lowest = std::min(lowest, roof.peak);
    highest = std::max(highest, roof.peak);
  }
  const int x_low = static_cast<int>(std::floor(std::log10(lowest / plot.bandwidth) - 2));
  const int x_high = static_cast<int>(std::ceil(std::log10(highest / plot.bandwidth) + 1));
  double slowest = plot.bandwidth * std::pow(10.0, x_low);
  for (const RooflinePoint& point : plot.points) {
    if (point.performance > 0) slowest = std::min(slowest, point.performance);
    if (point.target > 0) slowest = std::min(slowest, point.target);
  }
  // A point far below everything would press the rest together: it stands at the edge.
  constexpr int kMostDecades = 8;
  const int y_high = static_cast<int>(std::ceil(std::log10(highest)));
  const int y_low =
      std::max(static_cast<int>(std::floor(std::log10(slowest))), y_high - kMostDecades);
  return {LogAxis(x_low, x_high, kLeft, kWidth - kRight),
          LogAxis(y_low, y_high, kHeight - kBottom, kTop)};
}

/// "10 T" for 13.
std::string power_label(int exponent) {
  static constexpr std::array<const char*, 6> kPrefixes{"", " k", " M", " G", " T", " P"};
  const int step = std::clamp(exponent / 3, 0, static_cast<int>(kPrefixes.size()) - 1);
  return fmt::format("{:g}{}", std::pow(10.0, exponent - 3 * step), kPrefixes[step]);
}

std::string draw_grid(const Axes& axes) {
  std::string svg;
  for (int e = axes.x.low(); e <= axes.x.high(); ++e) {
    const double x = axes.x.at(std::pow(10.0, e));
    svg += fmt::format(R"(<line class="grid" x1="{0:.1f}" y1="{1}" x2="{0:.1f}" y2="{2}"/>)", x,
                       kTop, kHeight - kBottom);
    svg += fmt::format(R"(<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>)",
                       x, kHeight - kBottom + 18, std::pow(10.0, e));
  }
  for (int e = axes.y.low(); e <= axes.y.high(); ++e) {
    const double y = axes.y.at(std::pow(10.0, e));
    svg += fmt::format(R"(<line class="grid" x1="{1}" y1="{0:.1f}" x2="{2}" y2="{0:.1f}"/>)", y,
                       kLeft, kWidth - kRight);
    svg += fmt::format(R"(<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>)",
                       kLeft - 6, y + 4, power_label(e));
  }
  svg += fmt::format(
      R"(<text class="axis" x="{}" y="{}" text-anchor="middle">arithmetic intensity, FLOP per byte</text>)",
      (kLeft + kWidth - kRight) / 2, kHeight - 12);
  svg += fmt::format(
      R"svg(<text class="axis" transform="translate(20 {}) rotate(-90)" text-anchor="middle">performance, FLOP/s</text>)svg",
      (kTop + kHeight - kBottom) / 2);
  return svg;
}

std::string roof_words(const Roof& roof, double bandwidth) {
  return fmt::format("{}, ridge {:.3g} FLOP/B", roof.label, roof.peak / bandwidth);
}

/// The bandwidth, written along its roof: above the stretch left of the first ridge.
std::string draw_memory_label(const RooflinePlot& plot, const Axes& axes) {
  double lowest = INFINITY;
  for (const Roof& roof : plot.roofs) lowest = std::min(lowest, roof.peak);
  // Two thirds of the way, on the logarithmic axis, from the left edge to the first ridge.
  const double left = axes.x.low(), right = std::log10(lowest / plot.bandwidth);
  const double intensity = std::pow(10.0, left + (right - left) * 2 / 3);
  const double x = axes.x.at(intensity), y = axes.y.at(intensity * plot.bandwidth);
  const double degrees = -std::atan2(axes.y.decade(), axes.x.decade()) * 180 / std::numbers::pi;
  return fmt::format(
      R"svg(<text class="rooflabel" transform="translate({:.1f} {:.1f}) rotate({:.1f})" y="-7" text-anchor="middle">DRAM {}</text>)svg",
      x, y, degrees, escape_html(format_si(plot.bandwidth, "B/s")));
}

std::string draw_roofs(const RooflinePlot& plot, const Axes& axes) {
  double highest = 0;
  for (const Roof& roof : plot.roofs) highest = std::max(highest, roof.peak);
  const double x_min = std::pow(10.0, axes.x.low()), x_max = std::pow(10.0, axes.x.high());
  std::string svg =
      fmt::format(R"(<line class="roof memory" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)",
                  axes.x.at(x_min), axes.y.at(x_min * plot.bandwidth),
                  axes.x.at(highest / plot.bandwidth), axes.y.at(highest));
  svg += draw_memory_label(plot, axes);
  for (const Roof& roof : plot.roofs) {
    const double ridge = roof.peak / plot.bandwidth;
    svg +=
        fmt::format(R"(<line class="roof" x1="{0:.1f}" y1="{2:.1f}" x2="{1:.1f}" y2="{2:.1f}"/>)",
                    axes.x.at(ridge), axes.x.at(x_max), axes.y.at(roof.peak));
    svg += fmt::format(
        R"(<circle class="ridge" cx="{:.1f}" cy="{:.1f}" r="3"><title>ridge point {:.3g} FLOP/B</title></circle>)",
        axes.x.at(ridge), axes.y.at(roof.peak), ridge);
    svg += fmt::format(R"(<text class="rooflabel" x="{}" y="{:.1f}" text-anchor="end">{}</text>)",
                       kWidth - kRight - 4, axes.y.at(roof.peak) - 6,
                       escape_html(roof_words(roof, plot.bandwidth)));
  }
  return svg;
}

struct Box {
  double x, y, width, height;
  bool overlaps(const Box& other) const {
    return x < other.x + other.width && other.x < x + width && y < other.y + other.height &&
           other.y < y + height;
  }
};

/// The first of a few places around the point where the label covers no other label and stays
/// inside.
Box place_label(double x, double y, double width, const std::vector<Box>& taken) {
  Box first{};
  for (int step = 0; step < 12; ++step) {
    const double shift = kLabelHeight * ((step + 1) / 2) * (step % 2 == 1 ? 1 : -1);
    for (const bool right : {true, false}) {
      const Box box{right ? x + 9 : x - 9 - width, y - kLabelHeight / 2 + shift, width,
                    kLabelHeight};
      if (step == 0 && right) first = box;
      const bool inside = box.x >= kLeft && box.x + box.width <= kWidth - kRight && box.y >= kTop &&
                          box.y + box.height <= kHeight - kBottom;
      const auto covered = [&](const Box& other) { return box.overlaps(other); };
      if (inside && std::none_of(taken.begin(), taken.end(), covered)) return box;
    }
  }
  return first;
}

/// Where the labels of the horizontal roofs stand, and the roofs themselves.
std::vector<Box> roof_label_boxes(const RooflinePlot& plot, const Axes& axes) {
  constexpr double kBold = 1.1;  // wider than the labels of points
  std::vector<Box> boxes;
  for (const Roof& roof : plot.roofs) {
    const auto characters = static_cast<double>(roof_words(roof, plot.bandwidth).size());
    const double width = kBold * kCharacterWidth * characters, y = axes.y.at(roof.peak);
    boxes.push_back({kWidth - kRight - 4 - width, y - kLabelHeight - 3, width, kLabelHeight});
    const double ridge = axes.x.at(roof.peak / plot.bandwidth);
    boxes.push_back({ridge, y - 1, kWidth - kRight - ridge, 2});
  }
  return boxes;
}

/// From each point a dashed line to the performance that full marks ask for. Drawn below the roofs,
/// whose labels stay readable.
std::string draw_targets(const RooflinePlot& plot, const Axes& axes) {
  std::string svg;
  for (const RooflinePoint& point : plot.points) {
    const double x = axes.x.at(point.intensity), y = axes.y.at(point.performance);
    if (point.target > 0) {
      const double target = axes.y.at(point.target);
      svg +=
          fmt::format(R"(<line class="target" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)",
                      x, y, x, target);
      svg += fmt::format(
          R"(<line class="target" x1="{0:.1f}" y1="{2:.1f}" x2="{1:.1f}" y2="{2:.1f}"/>)", x - 7,
          x + 7, target);
    }
  }
  return svg;
}

std::string draw_points(const RooflinePlot& plot, const Axes& axes) {
  std::string svg;
  std::vector<Box> taken = roof_label_boxes(plot, axes);
  for (const RooflinePoint& point : plot.points) {
    const double x = axes.x.at(point.intensity), y = axes.y.at(point.performance);
    taken.push_back({x - 5, y - 5, 10, 10});
  }
  for (const RooflinePoint& point : plot.points) {
    const double x = axes.x.at(point.intensity), y = axes.y.at(point.performance);
    svg += fmt::format(
        R"(<circle class="point {}" cx="{:.1f}" cy="{:.1f}" r="5"><title>{}: {:.3g} FLOP/B, {}</title></circle>)",
        point.target == 0 ? "shown"
        : point.reached   ? "good"
                          : "short",
        x, y, escape_html(point.label), point.intensity,
        escape_html(format_si(point.performance, "FLOP/s")));
    const Box box =
        place_label(x, y, kCharacterWidth * static_cast<double>(point.label.size()), taken);
    taken.push_back(box);
    svg += fmt::format(R"(<text class="pointlabel" x="{:.1f}" y="{:.1f}">{}</text>)", box.x,
                       box.y + kLabelHeight - 4, escape_html(point.label));
  }
  return svg;
}

}  // namespace

std::string draw_roofline(const RooflinePlot& plot) {
  if (plot.roofs.empty() || !(plot.bandwidth > 0)) return {};
  const Axes axes = axes_of(plot);
  return fmt::format(R"(<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">)",
                     kWidth, kHeight, escape_html(plot.title)) +
         draw_grid(axes) + draw_targets(plot, axes) + draw_roofs(plot, axes) +
         draw_points(plot, axes) + "</svg>\n";
}

}  // namespace rooflab
