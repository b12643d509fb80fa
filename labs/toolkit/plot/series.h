#pragma once

#include <string>
#include <vector>

#include "labs/toolkit/plot/frame.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab::plot {

/// Of all values that are there; 1 … 1 when none is.
struct Range {
  double least = 1, most = 1;
};
Range range_of(const std::vector<Series>& all);

bool has_missing(const std::vector<Series>& all);

/// "c0" … "c7": the class that sets the colour of a series, counted from 0.
std::string color_class(std::size_t index);
/// Colour and marker of a series: eight that differ in both.
LegendEntry series_entry(std::size_t index, const std::string& label);
/// What stands for a run that did not fit into the memory.
LegendEntry out_of_memory_entry();

}  // namespace rooflab::plot
