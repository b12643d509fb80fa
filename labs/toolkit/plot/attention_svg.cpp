#include <algorithm>

#include "labs/toolkit/plot/check_chart.h"
#include "labs/toolkit/plot/label_placer.h"
#include "labs/toolkit/plot/plot.h"
#include "labs/toolkit/plot/series.h"
#include "labs/toolkit/plot/words.h"

namespace rooflab::plot {
namespace {

constexpr double kPanelHeight = 210, kBetween = 28, kBelowPanels = 50;

/// The labels of both panels, each once: a label has one colour everywhere.
std::vector<std::string> labels_of(const AttentionChart& chart) {
  std::vector<std::string> labels;
  for (const auto* panel : {&chart.latency_ms, &chart.memory_bytes}) {
    for (const Series& series : *panel) {
      if (std::find(labels.begin(), labels.end(), series.label) == labels.end())
        labels.push_back(series.label);
    }
  }
  return labels;
}

std::vector<LegendEntry> legend_of(const AttentionChart& chart) {
  std::vector<LegendEntry> legend;
  for (const std::string& label : labels_of(chart))
    legend.push_back({color_class(legend.size()) + " filled", Marker::square, label});
  if (has_missing(chart.latency_ms) || has_missing(chart.memory_bytes))
    legend.push_back(out_of_memory_entry());
  return legend;
}

std::string latency_words(double value) { return three_digits(value) + " ms"; }
std::string memory_words(double value) { return with_prefix(value, "B"); }

/// One of the two halves of the chart.
struct Panel {
  const std::vector<Series>& series;
  std::string title;
  TickWords tick_words, value_words;
  Box plot;

  std::string words(double value) const {
    return value == kOutOfMemory ? "out of memory" : value_words(value);
  }
  /// Below the least value, so that its bar is seen, and with room above the largest for its words.
  LogAxis axis() const {
    const Range range = range_of(series);
    return axis_around(range.least / 2, range.most * 2, plot.y + plot.height, plot.y);
  }
};

std::vector<Panel> panels_of(const AttentionChart& chart) {
  constexpr double kLeft = 84, kWidth = 688;
  const double top = header_height(legend_of(chart));
  return {
      {chart.latency_ms, "latency, ms", brief, latency_words, {kLeft, top, kWidth, kPanelHeight}},
      {chart.memory_bytes,
       "memory, bytes",
       brief_with_prefix,
       memory_words,
       {kLeft, top + kPanelHeight + kBetween, kWidth, kPanelHeight}}};
}

std::string description_of(const AttentionChart& chart) {
  std::string words = "Latency and memory by sequence length, logarithmic.";
  for (const Panel& panel : panels_of(chart)) {
    for (const Series& series : panel.series) {
      words += joined({" ", series.label, ", ", panel.title, ":"});
      for (std::size_t i = 0; i < chart.lengths.size(); ++i)
        words += joined(
            {" ", std::to_string(chart.lengths[i]), " ", panel.words(series.values[i]), ";"});
      words.back() = '.';
    }
  }
  return words;
}

class AttentionDrawing {
 public:
  explicit AttentionDrawing(const AttentionChart& chart)
      : chart_(chart),
        labels_(labels_of(chart)),
        panels_(panels_of(chart)),
        svg_(panels_.back().plot.y + kPanelHeight + kBelowPanels, chart.title,
             description_of(chart)) {}

  std::string draw() && {
    draw_header(svg_, chart_.title, legend_of(chart_));
    for (const Panel& panel : panels_) draw_panel(panel);
    draw_lengths();
    return std::move(svg_).finish();
  }

 private:
  double group_width() const {
    return panels_.front().plot.width / static_cast<double>(chart_.lengths.size());
  }
  double group_center(std::size_t length) const {
    return panels_.front().plot.x + group_width() * (static_cast<double>(length) + 0.5);
  }

  /// One value of a panel: its words, and the box from the bottom up that is its bar.
  struct Bar {
    std::string color, tooltip;
    double value;
    Box box;
  };

  std::vector<Bar> bars_of(const Panel& panel) const {
    constexpr double kWidestBar = 44, kShare = 0.84;
    const LogAxis axis = panel.axis();
    const auto count = static_cast<double>(panel.series.size());
    const double width = std::min(kWidestBar, kShare * group_width() / count);
    const double bottom = panel.plot.y + panel.plot.height;
    std::vector<Bar> bars;
    for (std::size_t length = 0; length < chart_.lengths.size(); ++length) {
      double left = group_center(length) - width * count / 2;
      for (const Series& series : panel.series) {
        const double value = series.values[length];
        const double top = value == kOutOfMemory ? bottom : axis.at(value);
        bars.push_back({color_of(series),
                        joined({series.label, ", ", std::to_string(chart_.lengths[length]), ": ",
                                panel.words(value)}),
                        value,
                        {left + 1, top, width - 2, bottom - top}});
        left += width;
      }
    }
    return bars;
  }

  std::string color_of(const Series& series) const {
    const auto place = std::find(labels_.begin(), labels_.end(), series.label);
    return color_class(static_cast<std::size_t>(place - labels_.begin()));
  }

  void draw_panel(const Panel& panel) {
    draw_y_axis(svg_, panel.axis(), panel.plot, panel.tick_words, panel.title);
    svg_.box("frame", panel.plot);
    const std::vector<Bar> bars = bars_of(panel);
    LabelPlacer placer(panel.plot);
    for (const Bar& bar : bars) {
      if (bar.value == kOutOfMemory) {
        draw_missing(bar, placer);
      } else {
        svg_.box(bar.color + " filled", bar.box, bar.tooltip);
        placer.keep_free(bar.box);
      }
    }
    for (const Bar& bar : bars) {
      if (bar.value != kOutOfMemory) label_bar(bar, panel.tick_words(bar.value), placer);
    }
  }

  /// The value above its bar, where there is room.
  void label_bar(const Bar& bar, const std::string& words, LabelPlacer& placer) {
    const double width = text_width(words);
    const Box box{bar.box.center().x - width / 2, bar.box.y - kTextHeight - 1, width, kTextHeight};
    if (!placer.is_free(box)) return;
    placer.keep_free(box);
    svg_.label("on-plot", box, words);
  }

  /// A cross where the bar would stand, and the words above it where the column is wide enough.
  void draw_missing(const Bar& bar, LabelPlacer& placer) {
    const Place cross{bar.box.center().x, bar.box.y - 12};
    svg_.marker(bar.color + " line", Marker::cross, cross, bar.tooltip);
    placer.keep_free(Box{cross.x, cross.y, 0, 0}.grown(kMarkerRadius));
    if (bar.box.width < kTextHeight) return;
    constexpr std::string_view kWords = "out of memory";
    const double length = text_width(kWords);
    placer.keep_free(Box{cross.x - kTextHeight / 2, cross.y - 10 - length, kTextHeight, length});
    svg_.text("on-plot", {cross.x + kTextHeight / 2 - kTextDescent, cross.y - 10}, kWords,
              Anchor::start, 90);
  }

  void draw_lengths() {
    const double bottom = panels_.back().plot.y + kPanelHeight;
    double free_from = 0;
    for (std::size_t i = 0; i < chart_.lengths.size(); ++i) {
      const std::string words = std::to_string(chart_.lengths[i]);
      const double half = text_width(words) / 2, center = group_center(i);
      if (center - half < free_from || center + half > kCanvasWidth) continue;
      svg_.text("soft", {center, bottom + 20}, words, Anchor::middle);
      free_from = center + half + 6;
    }
    svg_.text("soft", {panels_.back().plot.center().x, bottom + 40}, "sequence length, tokens",
              Anchor::middle);
  }

  const AttentionChart& chart_;
  std::vector<std::string> labels_;
  std::vector<Panel> panels_;
  Svg svg_;
};

}  // namespace

std::string to_svg(const AttentionChart& chart) {
  check_chart(chart);
  return AttentionDrawing(chart).draw();
}

}  // namespace rooflab::plot
