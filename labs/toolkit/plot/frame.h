#pragma once

#include <string>
#include <vector>

#include "labs/toolkit/plot/log_axis.h"
#include "labs/toolkit/plot/svg.h"

namespace rooflab::plot {

/// An entry of a legend.
struct LegendEntry {
  std::string css_class;
  Marker marker = Marker::circle;
  std::string words;
};

/// Where the plot below title and legend can start.
double header_height(const std::vector<LegendEntry>& entries);
/// Title and, below it, the legend.
void draw_header(Svg& svg, const std::string& title, const std::vector<LegendEntry>& entries);

/// Tick labels of an axis: words for a value.
using TickWords = std::string (*)(double);

/// Lines across the plot at the ticks, their labels, and what the axis shows.
void draw_x_axis(Svg& svg, const LogAxis& axis, const Box& plot, TickWords words,
                 const std::string& title);
void draw_y_axis(Svg& svg, const LogAxis& axis, const Box& plot, TickWords words,
                 const std::string& title);

}  // namespace rooflab::plot
