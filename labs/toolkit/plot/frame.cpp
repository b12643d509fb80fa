#include "labs/toolkit/plot/frame.h"

namespace rooflab::plot {
namespace {

constexpr double kMargin = 16;
constexpr double kLegendTop = 40, kLegendRow = 20;
constexpr double kMarkerSpace = 20;  // of a legend's marker
constexpr double kEntrySpace = 22;   // between entries
constexpr double kLongestEntry = 220;
constexpr double kTickLabelsApart = 44, kTickRowsApart = 20;

struct PlacedEntry {
  LegendEntry entry;
  Place place;  ///< of its marker
  int row = 0;
};

/// Entries side by side, in as many rows as they need.
std::vector<PlacedEntry> place_entries(const std::vector<LegendEntry>& entries) {
  std::vector<PlacedEntry> placed;
  double x = kMargin;
  int row = 0;
  for (LegendEntry entry : entries) {
    entry.words = shortened(entry.words, kLongestEntry);
    const double width = kMarkerSpace + text_width(entry.words);
    if (x + width > kCanvasWidth - kMargin) {
      x = kMargin;
      ++row;
    }
    placed.push_back({entry, {x + kMarkerRadius, kLegendTop + kLegendRow * (row + 0.5)}, row});
    x += width + kEntrySpace;
  }
  return placed;
}

const char* grid_class(const LogAxis::Tick& tick) { return tick.labelled ? "power" : "grid"; }

}  // namespace

double header_height(const std::vector<LegendEntry>& entries) {
  const int rows = entries.empty() ? 0 : place_entries(entries).back().row + 1;
  return kLegendTop + kLegendRow * rows + 6;
}

void draw_header(Svg& svg, const std::string& title, const std::vector<LegendEntry>& entries) {
  // The title's letters are larger and bold: what is measured at the label size takes half as much
  // again.
  constexpr double kTitleScale = 1.5;
  svg.text("title", {kMargin, 27}, shortened(title, (kCanvasWidth - 2 * kMargin) / kTitleScale));
  for (const PlacedEntry& placed : place_entries(entries)) {
    svg.marker(placed.entry.css_class, placed.entry.marker, placed.place);
    svg.text("legend", {placed.place.x - kMarkerRadius + kMarkerSpace, placed.place.y + 4},
             placed.entry.words);
  }
}

void draw_x_axis(Svg& svg, const LogAxis& axis, const Box& plot, TickWords words,
                 const std::string& title) {
  const double bottom = plot.y + plot.height;
  for (const LogAxis::Tick& tick : axis.ticks(kTickLabelsApart)) {
    const double x = axis.at(tick.value);
    svg.line(grid_class(tick), {x, plot.y}, {x, bottom});
    if (tick.labelled) svg.text("soft", {x, bottom + 20}, words(tick.value), Anchor::middle);
  }
  svg.text("soft", {plot.center().x, bottom + 40}, shortened(title, plot.width), Anchor::middle);
}

void draw_y_axis(Svg& svg, const LogAxis& axis, const Box& plot, TickWords words,
                 const std::string& title) {
  for (const LogAxis::Tick& tick : axis.ticks(kTickRowsApart)) {
    const double y = axis.at(tick.value);
    svg.line(grid_class(tick), {plot.x, y}, {plot.x + plot.width, y});
    if (tick.labelled) svg.text("soft", {plot.x - 8, y + 4}, words(tick.value), Anchor::end);
  }
  svg.text("soft", {22, plot.center().y}, shortened(title, plot.height), Anchor::middle, 90);
}

}  // namespace rooflab::plot
