#include <charconv>
#include <cmath>
#include <optional>

#include "labs/toolkit/plot/check_chart.h"
#include "labs/toolkit/plot/frame.h"
#include "labs/toolkit/plot/label_placer.h"
#include "labs/toolkit/plot/plot.h"
#include "labs/toolkit/plot/series.h"
#include "labs/toolkit/plot/words.h"

namespace rooflab::plot {
namespace {

constexpr double kPlotHeight = 380, kBelowPlot = 50, kCrossesApart = 14;

/// Height of the band above the axis in which the crosses of runs without a value stand.
double missing_band(const std::vector<Series>& all) {
  return has_missing(all) ? kCrossesApart * static_cast<double>(all.size()) : 0;
}

LogAxis value_axis(const std::vector<Series>& all, const Box& plot) {
  constexpr double kRoom = 1.3;  // for a label beyond the least and the largest value
  const Range range = range_of(all);
  return axis_around(range.least / kRoom, range.most * kRoom, plot.y + plot.height,
                     plot.y + missing_band(all));
}

/// The sizes as numbers, or nothing when they are not all numbers above 0 that rise.
std::optional<std::vector<double>> numbers_of(const std::vector<std::string>& sizes) {
  std::vector<double> numbers;
  for (const std::string& size : sizes) {
    double number = 0;
    const auto read = std::from_chars(size.data(), size.data() + size.size(), number);
    const bool whole = read.ec == std::errc() && read.ptr == size.data() + size.size();
    const bool rises = number > (numbers.empty() ? 0 : numbers.back());
    if (!whole || !std::isfinite(number) || !rises) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

/// Where each size stands.
std::vector<double> columns_of(const std::vector<std::string>& sizes, const Box& plot) {
  constexpr double kInset = 36;
  const double from = plot.x + kInset, to = plot.x + plot.width - kInset;
  if (sizes.size() == 1) return {plot.center().x};
  std::vector<double> columns;
  if (const auto numbers = numbers_of(sizes)) {
    const LogAxis axis(numbers->front(), numbers->back(), from, to);
    for (const double number : *numbers) columns.push_back(axis.at(number));
  } else {
    const double step = (to - from) / static_cast<double>(sizes.size() - 1);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      columns.push_back(from + step * static_cast<double>(i));
  }
  return columns;
}

std::vector<LegendEntry> legend_of(const LatencyChart& chart) {
  std::vector<LegendEntry> legend;
  for (const Series& series : chart.latency_ms)
    legend.push_back(series_entry(legend.size(), series.label));
  if (has_missing(chart.latency_ms)) legend.push_back(out_of_memory_entry());
  return legend;
}

std::string value_words(double value) {
  return value == kOutOfMemory ? "out of memory" : three_digits(value) + " ms";
}

std::string description_of(const LatencyChart& chart) {
  std::string words = "Latency over " + chart.x_label + ", both logarithmic.";
  for (const Series& series : chart.latency_ms) {
    words += joined({" ", series.label, ":"});
    for (std::size_t i = 0; i < chart.x.size(); ++i)
      words += joined({" ", chart.x[i], " ", value_words(series.values[i]), ";"});
    words.back() = '.';
  }
  return words;
}

class LatencyDrawing {
 public:
  explicit LatencyDrawing(const LatencyChart& chart)
      : chart_(chart),
        legend_(legend_of(chart)),
        plot_{84, header_height(legend_), 688, kPlotHeight},
        columns_(columns_of(chart.x, plot_)),
        axis_(value_axis(chart.latency_ms, plot_)),
        placer_(plot_.grown(-2)),
        svg_(plot_.y + kPlotHeight + kBelowPlot, chart.title, description_of(chart)) {}

  std::string draw() && {
    draw_header(svg_, chart_.title, legend_);
    draw_y_axis(svg_, axis_, plot_, brief, "latency, ms");
    draw_sizes();
    svg_.box("frame", plot_);
    for (std::size_t i = 0; i < chart_.latency_ms.size(); ++i) draw_lines(i);
    for (std::size_t i = 0; i < chart_.latency_ms.size(); ++i) draw_markers(i);
    for (const Series& series : chart_.latency_ms) label_values(series);
    return std::move(svg_).finish();
  }

 private:
  Place place_of(const Series& series, std::size_t size) const {
    return {columns_[size], axis_.at(series.values[size])};
  }

  void draw_sizes() {
    constexpr double kSpace = 10;
    const double bottom = plot_.y + plot_.height;
    double free_from = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      svg_.line("power", {columns_[i], plot_.y}, {columns_[i], bottom});
      const std::string words = shortened(chart_.x[i], 120);
      const double half = text_width(words) / 2;
      // A label that would cover the one before it is left out; the line stays.
      if (columns_[i] - half < free_from || columns_[i] + half > kCanvasWidth) continue;
      svg_.text("soft", {columns_[i], bottom + 20}, words, Anchor::middle);
      free_from = columns_[i] + half + kSpace;
    }
    svg_.text("soft", {plot_.center().x, bottom + 40}, shortened(chart_.x_label, plot_.width),
              Anchor::middle);
  }

  /// A line through neighbouring values; it breaks where one is missing.
  void draw_lines(std::size_t index) {
    const Series& series = chart_.latency_ms[index];
    std::vector<Place> stretch;
    const auto end_stretch = [&] {
      if (stretch.size() > 1) svg_.polyline(color_class(index) + " line", stretch);
      for (std::size_t i = 1; i < stretch.size(); ++i)
        placer_.keep_free(Outline::line(stretch[i - 1], stretch[i]));
      stretch.clear();
    };
    for (std::size_t i = 0; i < series.values.size(); ++i) {
      if (series.values[i] == kOutOfMemory) {
        end_stretch();
      } else {
        stretch.push_back(place_of(series, i));
      }
    }
    end_stretch();
  }

  void draw_markers(std::size_t index) {
    const Series& series = chart_.latency_ms[index];
    for (std::size_t i = 0; i < series.values.size(); ++i) {
      const bool missing = series.values[i] == kOutOfMemory;
      const LegendEntry entry = missing ? out_of_memory_entry() : series_entry(index, "");
      // Missing values stand at the top, above each other, in the colour of their series.
      const Place place =
          missing ? Place{columns_[i], plot_.y + kCrossesApart * (static_cast<double>(index) + 0.5)}
                  : place_of(series, i);
      svg_.marker(missing ? color_class(index) + " line" : entry.css_class, entry.marker, place,
                  series.label + ", " + chart_.x[i] + ": " + value_words(series.values[i]));
      placer_.keep_marker_free(place, kMarkerRadius);
    }
  }

  /// The values themselves, where there is room beside their markers.
  void label_values(const Series& series) {
    for (std::size_t i = 0; i < series.values.size(); ++i) {
      if (series.values[i] == kOutOfMemory) continue;
      const std::string words = three_digits(series.values[i]);
      const auto placed =
          placer_.place(place_of(series, i), kMarkerRadius, text_width(words), kTextHeight, 0);
      if (placed) svg_.label("on-plot", placed->box, words);
    }
  }

  const LatencyChart& chart_;
  std::vector<LegendEntry> legend_;
  Box plot_;
  std::vector<double> columns_;
  LogAxis axis_;
  LabelPlacer placer_;
  Svg svg_;
};

}  // namespace

std::string to_svg(const LatencyChart& chart) {
  check_chart(chart);
  return LatencyDrawing(chart).draw();
}

}  // namespace rooflab::plot
